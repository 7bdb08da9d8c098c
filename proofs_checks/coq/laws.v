(* theory.md 0.1, 1.2: laws on V^T as functions of words, their push-forwards, their global composition. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Global.
Variables (R : realFieldType) (I : finType).

(* 1.2 on an arbitrary finite outcome set (no time order) *)
Definition gW (O : finType) (b : O -> R) (p : I -> O -> R) y := b y * \prod_i (p i y / b y).
Definition gZ (O : finType) (b : O -> R) (p : I -> O -> R) := \sum_y gW b p y.
Definition gcomp (O : finType) b (p : I -> O -> R) y := gW b p y / gZ b p.

(* push-forward of a mass function along any map *)
Definition push (O O' : finType) (D : O -> O') (P : O -> R) : O' -> R := fun z => \sum_(y | D y == z) P y.

End Global.

Section Bridge.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation Om := {ffun 'I_T -> V}.
Local Notation kernel := (kernel R V).

Definition word (y : Om) : T.-tuple V := mktuple y.
Definition upto l : pred 'I_T := fun t => (t < l)%N.
Definition Law (p : kernel) (y : Om) := law p [::] (word y).

Lemma wordE y : word y = map y (enum 'I_T) :> seq V. Proof. by []. Qed.
Lemma agree_take l z y : agree (upto l) z y = (take l (word z) == take l (word y)).
Proof.
apply/agreeP/eqP => [e|e t tl].
  have te (u : Om) : take l (word u) = map u (take l (enum 'I_T)) by rewrite wordE map_take.
  rewrite !te; apply/eq_in_map => t ti; apply: e.
  have : val t \in map val (take l (enum 'I_T)) by apply: map_f.
  rewrite map_take val_enum_ord take_iota mem_iota add0n leq_min /=.
  by case/andP.
rewrite -(tnth_mktuple z) -(tnth_mktuple y) !(tnth_nth (y t)).
by rewrite -(nth_take _ tl) -[RHS](nth_take _ tl) e.
Qed.

Lemma sum_word (F : seq V -> R) (E : pred (seq V)) :
  \sum_(t : T.-tuple V | E t) F t = \sum_(y : Om | E (word y)) F (word y).
Proof.
rewrite (reindex word) //; exists (fun t => [ffun i => tnth t i]) => [y _|t _].
  by apply/ffunP => i; rewrite ffunE tnth_mktuple.
by apply: eq_from_tnth => i; rewrite tnth_mktuple ffunE.
Qed.

(* truncation = prefix marginal *)
Lemma Law_trunc (p : kernel) l (y : Om) : is_model p ->
  marg (Law p) (upto l) y = law p [::] (take l (word y)).
Proof.
move=> mp; rewrite /marg /Law (eq_bigl _ _ (fun z => agree_take l z y)).
have := cylinder (h := [::]) (s := take l (word y)) (n := T) (is_model_from (h := [::]) (n := T) mp).
rewrite size_take size_tuple => H; rewrite -H; last by case: ltnP => // /ltnW.
rewrite (sum_word (law p [::]) (fun t => take (if (l < T)%N then l else T) t == take l (word y))).
apply: eq_bigl => z; case: ltnP => // Tl.
by rewrite ![take l _]take_oversize ?take_oversize ?size_tuple.
Qed.

Lemma Law_sum1 (p : kernel) : is_model p -> \sum_y Law p y = 1.
Proof. by move=> mp; rewrite /Law -(sum_word (law p [::]) xpredT) law_sum1. Qed.
End Bridge.


Lemma W_gW (R : realFieldType) (V I : finType) (b : kernel R V) (p : I -> kernel R V) h s :
  W (@wdrop R V I) b p h s = law b h s * \prod_i (law (p i) h s / law b h s).
Proof.
elim: s h => [|y s IH] h /=.
  by rewrite mul1r big1 // => i _; rewrite divr1.
rewrite IH /wk /wdrop mulrACA -big_split /=; congr (_ * _).
by apply: eq_bigr => i _; rewrite invfM mulrACA.
Qed.

Section Words.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation Om := {ffun 'I_T -> V}.

Lemma model_inhabited (p : kernel R V) : is_model p -> exists v : V, true.
Proof. by move=> /(_ [::]) [_ p1]; have [v _|no] := pickP (@predT V); [exists v|move/esym/eqP: p1; rewrite big_pred0 ?oner_eq0]. Qed.

(* every prefix starts a word *)
Lemma word_of (v : V) h : (size h <= T)%N -> exists y : Om, take (size h) (word y) = h.
Proof.
move=> hT; exists [ffun t : 'I_T => nth v h t].
have sz : size (take (size h) (word [ffun t : 'I_T => nth v h t])) = size h.
  by rewrite size_take size_tuple; case: ltnP => // Th; apply/eqP; rewrite eqn_leq hT Th.
apply: (@eq_from_nth _ v) => // l; rewrite sz => ls.
by rewrite nth_take // -[l]/(val (Ordinal (leq_trans ls hT))) -tnth_nth tnth_mktuple ffunE.
Qed.

Lemma word_take (y : Om) : take T (word y) = word y.
Proof. by rewrite take_oversize ?size_tuple. Qed.

Lemma word_next (y : Om) l (lT : (l < T)%N) : take l.+1 (word y) = rcons (take l (word y)) (y (Ordinal lT)).
Proof.
by rewrite (take_nth (y (Ordinal lT))) ?size_tuple // -[l]/(val (Ordinal lT)) -tnth_nth tnth_mktuple.
Qed.

Lemma size_word_take (y : Om) l : (l <= T)%N -> size (take l (word y)) = l.
Proof. by move=> lT; rewrite size_take size_tuple; case: ltnP => // Tl; apply/eqP; rewrite eqn_leq lT Tl. Qed.

(* absolute continuity of laws is that of prefixes *)
Lemma prefix_AC (b q : kernel R V) : is_model b -> is_model q -> (forall y : Om, Law b y = 0 -> Law q y = 0) ->
  forall h, (size h <= T)%N -> law b [::] h = 0 -> law q [::] h = 0.
Proof.
move=> mb mq ac h hT; have [v _] := model_inhabited mb; have [y <-] := word_of v hT.
rewrite -!Law_trunc // => /eqP; rewrite psumr_eq0 => [/allP z0|u _]; last exact: law_ge0.
apply: big1 => u au; apply: ac; apply/eqP.
by have /implyP := z0 u (mem_index_enum u); apply.
Qed.
End Words.

(* where the experts are absolutely continuous, the conventions agree *)
Section Conventions.
Variables (R : realFieldType) (V I : finType) (b : kernel R V) (p : I -> kernel R V) (T : nat).
Local Notation drop := (@wdrop R V I).
Implicit Types (c : convention).

Lemma wk_conv c h : AC (b h) (fun i => p i h) -> wk (@weight R V I c) b p h =1 wk drop b p h.
Proof. by move=> ac y; apply: weight_AC. Qed.

Lemma Zk_conv c h : AC (b h) (fun i => p i h) -> Zk (@weight R V I c) b p h = Zk drop b p h.
Proof. by move=> ac; apply: eq_bigr => y _; apply: wk_conv. Qed.

Lemma comp_conv c h : AC (b h) (fun i => p i h) -> comp (@weight R V I c) b p h = comp drop b p h.
Proof. by move=> ac; apply/ffunP => y; rewrite !compE Zk_conv // wk_conv. Qed.

(* Z = 1 on R^: the law is the path product of weights *)
Lemma law_W w h : (forall g, Rhat w T b p g -> Zk w b p g = 1) ->
  (size h <= T)%N -> law (comp w b p) [::] h = W w b p [::] h.
Proof.
move=> Z1; elim/last_ind: h => [//|h v IH]; rewrite size_rcons => hT.
rewrite law_rcons W_rcons IH ?(ltnW hT) //=.
have [->|nz] := eqVneq (W w b p [::] h) 0; first by rewrite !mul0r.
by rewrite compE Z1 ?divr1 // /Rhat hT /reach IH // ltnW.
Qed.

Hypothesis ac : forall h, (size h < T)%N -> W drop b p [::] h != 0 -> AC (b h) (fun i => p i h).

Lemma W_conv c h : (size h <= T)%N -> W (@weight R V I c) b p [::] h = W drop b p [::] h.
Proof.
elim/last_ind: h => [//|h y IH]; rewrite size_rcons => hT.
rewrite !W_rcons IH ?(ltnW hT) //=.
by have [->|n0] := eqVneq (W drop b p [::] h) 0; rewrite ?mul0r // wk_conv //; apply: ac.
Qed.
End Conventions.

(* the law-level global composition is 1.2's, under `drop` *)
Lemma PG_gcomp (R : realFieldType) (V I : finType) (b : kernel R V) (p : I -> kernel R V) T (y : {ffun 'I_T -> V}) :
  PG (@wdrop R V I) b p T (word y) = gcomp (Law b) (fun i => Law (p i)) y.
Proof.
rewrite /PG W_gW /gcomp; congr (_ / _); rewrite /ZG (sum_word T (W (@wdrop R V I) b p [::]) xpredT) /gZ.
by apply: eq_bigr => z _; rewrite W_gW.
Qed.

(* experts absolutely continuous as laws: R^ lies in every reach, and the conventions agree there *)
Section Continuous.
Variables (R : realFieldType) (V I : finType) (b : kernel R V) (p : I -> kernel R V) (T : nat).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Hypothesis ac : forall i (y : {ffun 'I_T -> V}), Law b y = 0 -> Law (p i) y = 0.
Local Notation drop := (@wdrop R V I).

Lemma reach_AC h : (size h < T)%N -> (forall i, reach (p i) h) -> AC (b h) (fun i => p i h).
Proof.
move=> hT rp i y b0; apply: (mulfI (rp i)); rewrite mulr0 -law_rcons.
by apply: (prefix_AC mb (mp i) (ac i)); rewrite ?size_rcons // law_rcons b0 mulr0.
Qed.

Lemma reach_all c h : (size h <= T)%N -> reach (comp (@weight R V I c) b p) h ->
  reach b h /\ forall i, reach (p i) h.
Proof.
elim/last_ind: h => [|h y IH].
  by move=> _ _; rewrite /reach oner_neq0; split=> // i; rewrite /reach oner_neq0.
rewrite size_rcons => hT; rewrite /reach !law_rcons mulf_eq0 negb_or => /andP[/(IH (ltnW hT))[rb rp]] /=.
rewrite comp_conv //; last exact: reach_AC.
rewrite ffunE mulf_eq0 negb_or /wdrop mulf_eq0 negb_or => /andP[/andP[bn /prodf_neq0 pn] _].
split=> [|i]; first by rewrite mulf_neq0.
rewrite law_rcons mulf_neq0 //; first exact: rp.
by have := pn i isT; rewrite mulf_eq0 negb_or => /andP[].
Qed.

Lemma W_reach h : W drop b p [::] h != 0 -> reach b h /\ forall i, reach (p i) h.
Proof.
rewrite W_gW mulf_eq0 negb_or => /andP[bn /prodf_neq0 pn]; split=> // i.
by have := pn i isT; rewrite mulf_eq0 negb_or => /andP[].
Qed.
End Continuous.
