(* The operators of theory.md 1 on rows of rationals.  A table gives a row at some prefixes and one row at all others;
   `model n t` is the kernel over n+1 tokens that it stands for.  Each lemma says that what is computed on rows is what
   composition.v defines. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith Qabs.
From factorcomp Require Import setting composition skills joint segments rationals.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.

Definition row := seq Q.
Definition rows := seq nat -> row.                           (* tokens are numbers here *)
(* `tables l r`: the rows of l at its prefixes, r at every other prefix *)
Definition tables (l : seq (seq nat * row)) (r : row) : rows :=
  fun h => foldr (fun e rest => if e.1 == h then e.2 else rest) r l.

Definition entry (r : row) y : Q := nth 0%Q r y.
Definition null (x : Q) := Qeq_bool x 0.
Definition qsum := foldr (fun x a => Qred (x + a)) 0%Q.

(* one step, with `cancel` (true) or `drop` (false) at null tokens *)
Section OneStep.
Variable cancel : bool.
Definition qdrop (b : row) (ps : seq row) y :=
  Qred (entry b y * foldr (fun p a => Qred (Qred (entry p y / entry b y) * a)) 1%Q ps)%Q.
Definition qweight b ps y :=
  if cancel && null (entry b y)
  then if (count (fun p => ~~ null (entry p y)) ps <= 1)%N then qsum [seq entry p y | p <- ps] else 0%Q
  else qdrop b ps y.
Definition qweights n b ps : row := mkseq (qweight b ps) n.+1.
Definition qtotal n (r : row) := qsum (mkseq (entry r) n.+1).
Definition qnorm n b ps : row := let w := qweights n b ps in let z := qtotal n w in [seq Qred (x / z)%Q | x <- w].
End OneStep.

(* along sequences *)
Fixpoint qlaw (f : rows) h s := if s is y :: s' then Qred (entry (f h) y * qlaw f (rcons h y) s')%Q else 1%Q.
Fixpoint words n T : seq (seq nat) :=
  if T is T'.+1 then flatten [seq [seq y :: s | s <- words n T'] | y <- iota 0 n.+1] else [:: [::]].
Definition prefixes n T := flatten [seq words n l | l <- iota 0 T].
Definition qmass n T (E : pred (seq nat)) (F : seq nat -> Q) := qsum [seq (if E s then F s else 0%Q) | s <- words n T].

Section Operators.
Variables (cancel : bool) (n : nat) (fb : rows) (fs : seq rows).
Definition wrows : rows := fun h => qweights cancel n (fb h) [seq f h | f <- fs].
Definition qcomp : rows := fun h => qnorm cancel n (fb h) [seq f h | f <- fs].
Definition qZk h := qtotal n (wrows h).
Definition qZG T := qmass n T predT (qlaw wrows [::]).
Definition qPG T s := (qlaw wrows [::] s / qZG T)%Q.
End Operators.

(* ---- what the rows stand for ---- *)
Section Model.
Variables (R : realFieldType) (n : nat).
Local Notation V := (ordinal_finType n.+1).
Definition token (m : nat) : 'I_n.+1 := Ordinal (ltn_pmod m (ltn0Sn n)).
Definition tokens (s : seq nat) : seq 'I_n.+1 := map token s.
Definition vals (s : seq 'I_n.+1) : seq nat := map val s.
Definition dist_of (r : row) : dist R V := [ffun y => QR (entry r (val y))].
Definition model (f : rows) : kernel R V := fun h => dist_of (f (vals h)).
Definition experts (fs : seq rows) : 'I_(size fs) -> kernel R V := fun i => model (nth (fun=> [::]) fs i).

Lemma tokensK s : all (fun m => (m < n.+1)%N) s -> vals (tokens s) = s.
Proof. by elim: s => //= m s IH /andP[mn /IH->]; rewrite modn_small. Qed.
Lemma vals_rcons h y : vals (rcons h y) = rcons (vals h) (val y).
Proof. by rewrite /vals map_rcons. Qed.
Lemma size_vals h : size (vals h) = size h. Proof. exact: size_map. Qed.

(* sums and quantifiers over tokens, words, prefixes *)
Lemma qsumE (l : seq Q) : QR (qsum l) = \sum_(x <- l) QR x :> R.
Proof. by elim: l => [|x l IH]; rewrite ?big_nil ?QR0 //= big_cons QRred QRD IH. Qed.

Lemma sum_tokens (F : nat -> Q) : \sum_(y : 'I_n.+1) QR (F (val y)) = QR (qsum (mkseq F n.+1)) :> R.
Proof. by rewrite qsumE big_map -(big_mkord xpredT (fun m => QR (F m))) /index_iota subn0. Qed.

Lemma mem_words T s : (s \in words n T) = (size s == T) && all (fun m => (m < n.+1)%N) s.
Proof.
elim: T s => [|T IH] s; first by rewrite inE; case: s.
apply/flatten_mapP/andP => [[y + /mapP[t + ->]]|].
  by rewrite mem_iota add0n IH => /= yn /andP[/eqP-> ->]; rewrite eqxx yn.
case: s => [[]//|y t] [st /andP[yn ut]]; exists y; first by rewrite mem_iota.
by apply/mapP; exists t => //; rewrite IH -eqSS; apply/andP.
Qed.

Lemma vals_words T (t : T.-tuple 'I_n.+1) : vals t \in words n T.
Proof. by rewrite mem_words size_vals size_tuple eqxx andTb; apply/allP => m /mapP[y _ ->]; apply: ltn_ord. Qed.

Lemma sum_all_words T (F : seq nat -> Q) :
  \sum_(t : T.-tuple 'I_n.+1) QR (F (vals t)) = QR (qsum (map F (words n T))) :> R.
Proof.
rewrite qsumE big_map; elim: T F => [|T IH] F.
  by rewrite (big_pred1 [tuple]) ?big_seq1 // => t /=; apply/esym/eqP; rewrite (tuple0 t).
rewrite (big_tuple_cons _ (fun t => QR (F (vals t)))) big_flatten big_map.
rewrite -[iota 0 n.+1]/(iota 0 (n.+1 - 0)) -/(index_iota 0 n.+1) big_mkord; apply: eq_bigr => y _.
by rewrite (IH (fun s => F (val y :: s))) big_map.
Qed.

Lemma sum_words T (F : seq nat -> Q) (E : pred (seq nat)) :
  \sum_(t : T.-tuple 'I_n.+1 | E (vals t)) QR (F (vals t)) = QR (qmass n T E F) :> R.
Proof.
rewrite big_mkcond -sum_all_words; apply: eq_bigr => t _.
by case: ifP; rewrite ?QR0.
Qed.

(* models *)
Lemma modelE f h y : model f h y = QR (entry (f (vals h)) (val y)). Proof. exact: ffunE. Qed.

Definition qdist (r : row) := all (Qle_bool 0) r && Qeq_bool (qtotal n r) 1.
Lemma dist_ofP r : qdist r -> is_dist (dist_of r).
Proof.
case/andP => /(all_nthP 0%Q) r0 r1; split=> [y|].
  rewrite ffunE QR_ge0 /entry; have [yr|ry] := ltnP (val y) (size r); first exact: r0.
  by rewrite nth_default.
under eq_bigr do rewrite ffunE.
by rewrite (sum_tokens (entry r)) (QR_eqb _ r1) QR1.
Qed.

Lemma tables_model l r : all qdist (r :: map snd l) -> is_model (model (tables l r)).
Proof.
move=> a h; apply: dist_ofP; rewrite /tables; elim: l a => [|e l IH] /=; first by rewrite andbT.
by case/and3P => dr de dl; case: ifP => // _; apply: IH; rewrite /= dr.
Qed.

Definition qsame (r r' : row) := all (fun y => Qeq_bool (entry r y) (entry r' y)) (iota 0 n.+1).
Lemma dist_of_eq r r' : (dist_of r == dist_of r') = qsame r r'.
Proof.
apply/eqP/allP => [/ffunP e y|e]; last first.
  by apply/ffunP => y; rewrite !ffunE; apply/QR_eqb/e; rewrite mem_iota /=.
by rewrite mem_iota => yn; have := e (Ordinal yn); rewrite !ffunE => /eqP; rewrite QR_eqE.
Qed.
Lemma model_eq f g h : (model f h == model g h) = qsame (f (vals h)) (g (vals h)).
Proof. exact: dist_of_eq. Qed.

Lemma lawE f h s : law (model f) h s = QR (qlaw f (vals h) (vals s)).
Proof.
elim: s h => [|y s IH] h /=; first by rewrite QR1.
by rewrite QRred QRM IH modelE vals_rcons.
Qed.
Lemma reachE f h : reach (model f) h = ~~ null (qlaw f [::] (vals h)).
Proof. by rewrite /reach lawE QR_eq0. Qed.

(* composition: the weights by convention *)
Definition weight_of (V I : finType) (cancel : bool) := if cancel then @wcancel R V I else @wdrop R V I.

Lemma big_experts (A : Type) (idx : A) (op : Monoid.com_law idx) (fs : seq rows) (F : rows -> A) :
  \big[op/idx]_(i : 'I_(size fs)) F (nth (fun=> [::]) fs i) = \big[op/idx]_(f <- fs) F f.
Proof. by rewrite (big_nth (fun=> [::])) big_mkord. Qed.

(* one token; V may also be a set of sequences *)
Lemma weightE cancel (V' : finType) (fs : seq rows) (b : dist R V') (p : 'I_(size fs) -> dist R V') y rb m (F : rows -> row) :
  b y = QR (entry rb m) -> (forall i, p i y = QR (entry (F (nth (fun=> [::]) fs i)) m)) ->
  @weight_of V' (ordinal_finType (size fs)) cancel b p y = QR (qweight cancel rb (map F fs) m).
Proof.
move=> eb ep; rewrite /qweight.
have drop_eq : wdrop b p y = QR (qdrop rb (map F fs) m).
  rewrite /wdrop /qdrop QRred QRM eb; congr (_ * _); under eq_bigr do rewrite ep.
  rewrite (big_experts _ _ (fun f => QR (entry (F f) m) / QR (entry rb m))).
  by elim: fs {p ep} => [|f l IH]; rewrite ?big_nil /= ?QR1 // big_cons IH QRred QRM QRred QRM QRV.
case: cancel; last exact: drop_eq.
rewrite /= /wcancel eb QR_eq0 -/(null _); case: ifP => // _.
have -> : #|[set i | p i y != 0]| = count (fun r => ~~ null (entry r m)) (map F fs).
  rewrite -sum1_card big_mkcond count_map -sum1_count [RHS]big_mkcond.
  rewrite -(big_experts _ _ (fun f => if ~~ null (entry (F f) m) then 1%N else 0%N)).
  by apply: eq_bigr => i _; rewrite inE ep QR_eq0.
case: ifP => _; last by rewrite QR0.
rewrite qsumE !big_map -(big_experts _ _ (fun f => QR (entry (F f) m))).
by apply: eq_bigr => i _; rewrite ep.
Qed.

Lemma cancel_weight (V' : finType) (fs : seq rows) (b : dist R V') (p : 'I_(size fs) -> dist R V') y rb m (F : rows -> row) :
  b y = QR (entry rb m) -> (forall i, p i y = QR (entry (F (nth (fun=> [::]) fs i)) m)) ->
  @wcancel R V' (ordinal_finType (size fs)) b p y = QR (qweight true rb (map F fs) m).
Proof. exact: (weightE true). Qed.

Section Composition.
Variables (cancel : bool) (fb : rows) (fs : seq rows).
Local Notation I := (ordinal_finType (size fs)).
Local Notation w := (@weight_of V I cancel).
Local Notation b := (model fb).
Local Notation p := (experts (fs := fs)).

Lemma wkE h y : wk w b p h y = QR (entry (wrows cancel n fb fs (vals h)) (val y)).
Proof.
rewrite /wrows /qweights /entry nth_mkseq; last exact: ltn_ord.
by apply: weightE => *; apply: modelE.
Qed.

Lemma ZkE h : Zk w b p h = QR (qZk cancel n fb fs (vals h)).
Proof.
rewrite /Zk /Z; under eq_bigr do rewrite -/(wk w b p h _) wkE.
by rewrite (sum_tokens (entry (wrows cancel n fb fs (vals h)))).
Qed.

Lemma comp_rows h : comp w b p h = model (qcomp cancel n fb fs) h.
Proof.
apply/ffunP => y; rewrite !ffunE -/(wk w b p h y) -/(Zk w b p h) wkE ZkE /qcomp /qnorm.
rewrite /entry (nth_map 0%Q); last by rewrite size_mkseq; apply: ltn_ord.
by rewrite QRred QRM QRV.
Qed.
Lemma law_compE h s : law (comp w b p) h s = QR (qlaw (qcomp cancel n fb fs) (vals h) (vals s)).
Proof. by rewrite -lawE; elim: s h => //= y s IH h; rewrite IH comp_rows. Qed.
Lemma reach_compE h : reach (comp w b p) h = ~~ null (qlaw (qcomp cancel n fb fs) [::] (vals h)).
Proof. by rewrite /reach law_compE QR_eq0. Qed.
Lemma WE h s : W w b p h s = QR (qlaw (wrows cancel n fb fs) (vals h) (vals s)).
Proof.
elim: s h => [|y s IH] h /=; first by rewrite QR1.
by rewrite QRred QRM IH wkE vals_rcons.
Qed.
Lemma ZGE T : ZG w b p T = QR (qZG cancel n fb fs T).
Proof. by rewrite /ZG; under eq_bigr do rewrite WE; rewrite (sum_words T (qlaw _ [::]) predT). Qed.
Lemma PGE T s : PG w b p T s = QR (qPG cancel n fb fs T (vals s)).
Proof. by rewrite /PG WE ZGE QRM QRV. Qed.
Lemma devE i h : dev b p i h = ~~ qsame (nth (fun=> [::]) fs i (vals h)) (fb (vals h)).
Proof. by rewrite /dev dist_of_eq. Qed.
End Composition.
End Model.
Arguments token {n} m.
Arguments tokens {n} s.
Arguments dist_of : clear implicits.
Arguments dist_of R n%N r.
Arguments model : clear implicits.
Arguments model R n%N f h.
Arguments experts : clear implicits.
Arguments experts R n%N fs i h.
Arguments wkE {R n} cancel {fb fs} h y.
Arguments ZkE {R n} cancel {fb fs} h.
Arguments comp_rows {R n} cancel {fb fs} h.
Arguments law_compE {R n} cancel {fb fs} h s.
Arguments reach_compE {R n} cancel {fb fs} h.
Arguments WE {R n} cancel {fb fs} h s.
Arguments ZGE {R n} cancel {fb fs} T.
Arguments PGE {R n} cancel {fb fs} T s.

(* the masses of all words, in lexicographic order *)
Section Masses.
Variables (R : realFieldType) (n : nat).
Definition masses T (F : seq 'I_n.+1 -> R) := [seq F (tokens s) | s <- words n T].
Lemma massesE T F (f : seq nat -> Q) : (forall s, F s = QR (f (vals s))) -> masses T F = map QR (map f (words n T)).
Proof.
move=> e; rewrite -map_comp; apply/eq_in_map => s.
by rewrite mem_words => /andP[_ /tokensK sK]; rewrite e sK.
Qed.
Lemma masses_eq T F (f : seq nat -> Q) (l : seq Q) :
  (forall s, F s = QR (f (vals s))) -> all2 Qeq_bool (map f (words n T)) l -> masses T F = map QR l.
Proof. by move=> /massesE->; elim: map l => [|x l IH] [|x' l'] //= /andP[/QR_eqb-> /IH->]. Qed.
End Masses.
Arguments masses {R n} T F.


(* the same equations, named by convention *)
Section ByConvention.
Variables (R : realFieldType) (n : nat) (fb : rows) (fs : seq rows).
Local Notation V := (ordinal_finType n.+1).
Local Notation I := (ordinal_finType (size fs)).
Local Notation b := (model R n fb).
Local Notation p := (experts R n fs).
Local Notation cw := (@wcancel R V I).
Local Notation dw := (@wdrop R V I).
Lemma cancel_Z h : Zk cw b p h = QR (qZk true n fb fs (vals h)). Proof. exact: (ZkE true). Qed.
Lemma cancel_comp h : comp cw b p h = model R n (qcomp true n fb fs) h. Proof. exact: (comp_rows true). Qed.
Lemma cancel_law h s : law (comp cw b p) h s = QR (qlaw (qcomp true n fb fs) (vals h) (vals s)). Proof. exact: (law_compE true). Qed.
Lemma cancel_reach h : reach (comp cw b p) h = ~~ null (qlaw (qcomp true n fb fs) [::] (vals h)). Proof. exact: (reach_compE true). Qed.
Lemma cancel_W h s : W cw b p h s = QR (qlaw (wrows true n fb fs) (vals h) (vals s)). Proof. exact: (WE true). Qed.
Lemma cancel_ZG T : ZG cw b p T = QR (qZG true n fb fs T). Proof. exact: (ZGE true). Qed.
Lemma cancel_PG T s : PG cw b p T s = QR (qPG true n fb fs T (vals s)). Proof. exact: (PGE true). Qed.
Lemma drop_Z h : Zk dw b p h = QR (qZk false n fb fs (vals h)). Proof. exact: (ZkE false). Qed.
Lemma drop_comp h : comp dw b p h = model R n (qcomp false n fb fs) h. Proof. exact: (comp_rows false). Qed.
Lemma drop_law h s : law (comp dw b p) h s = QR (qlaw (qcomp false n fb fs) (vals h) (vals s)). Proof. exact: (law_compE false). Qed.
Lemma drop_reach h : reach (comp dw b p) h = ~~ null (qlaw (qcomp false n fb fs) [::] (vals h)). Proof. exact: (reach_compE false). Qed.
Lemma drop_W h s : W dw b p h s = QR (qlaw (wrows false n fb fs) (vals h) (vals s)). Proof. exact: (WE false). Qed.
Lemma drop_ZG T : ZG dw b p T = QR (qZG false n fb fs T). Proof. exact: (ZGE false). Qed.
Lemma drop_PG T s : PG dw b p T s = QR (qPG false n fb fs T (vals s)). Proof. exact: (PGE false). Qed.
End ByConvention.


(* ---- quantifiers over experts and over prefixes ---- *)
Lemma count_cards A (x0 : A) (l : seq A) (a : pred A) : count a l = #|[set i : 'I_(size l) | a (nth x0 l i)]|.
Proof.
rewrite -sum1_card -sum1_count big_mkcond [RHS]big_mkcond (big_nth x0) big_mkord.
by apply: eq_bigr => i _; rewrite inE.
Qed.
Lemma count_le1P A (x0 : A) (l : seq A) (a : pred A) :
  reflect (forall i j : 'I_(size l), a (nth x0 l i) -> a (nth x0 l j) -> i = j) (count a l <= 1)%N.
Proof.
rewrite (count_cards x0); apply: (iffP card_le1_eqP) => H i j.
  by move=> ai aj; apply: H; rewrite inE.
by rewrite !inE => ai aj; apply: H.
Qed.

Section Quantifiers.
Variables (R : realFieldType) (n T : nat).
Local Notation V := (ordinal_finType n.+1).
Implicit Types h : seq V.

Lemma vals_prefixes h : (size h < T)%N -> vals h \in prefixes n T.
Proof.
move=> hT; apply/flatten_mapP; exists (size h); first by rewrite mem_iota.
exact: (vals_words (in_tuple h)).
Qed.
Lemma prefixes_vals s : s \in prefixes n T -> exists2 h : seq V, (size h < T)%N & vals h = s.
Proof.
case/flatten_mapP => l; rewrite mem_iota mem_words => lT /andP[/eqP sl sn].
by exists (tokens s); rewrite ?tokensK // size_map sl.
Qed.

Lemma jf_rows (fb : rows) (fs : seq rows) (S : pred (seq V)) (s : pred (seq nat)) :
  (forall h, S h = s (vals h)) ->
  all (fun u => s u ==> (count (fun f => ~~ qsame n (f u) (fb u)) fs <= 1)%N) (prefixes n T) ->
  jf_pt (model R n fb) (experts R n fs) [pred h | (size h < T)%N & S h].
Proof.
move=> eS /allP a h /andP[hT]; rewrite eS => sh i j.
have /implyP/(_ sh)/(count_le1P (fun=> [::])) := a _ (vals_prefixes hT).
by rewrite !devE; apply.
Qed.

(* skills: activity of a set of prefixes (Definition 3.3) *)
Definition qalive (d : pred (seq nat)) s := has (fun u => (take (size s) u == s) && d u) (prefixes n T).
Definition qstarted (d : pred (seq nat)) s := has (fun m => d (take m s)) (iota 0 (size s).+1).
Definition qact d s := qalive d s && qstarted d s.
Variables (D : pred (seq V)) (d : pred (seq nat)).
Hypothesis Dd : forall h, D h = d (vals h).
Lemma aliveE h : alive T D h = qalive d (vals h).
Proof.
apply/aliveP/hasP => [[t tT Dt]|[s /prefixes_vals[u uT <-]]].
  exists (vals (h ++ t)); first exact: vals_prefixes.
  by rewrite -Dd Dt andbT size_vals /vals map_cat take_size_cat ?size_map.
rewrite size_vals /vals -map_take => /andP[/eqP/(inj_map val_inj) e du].
by exists (drop (size h) u); rewrite -[X in X ++ _]e cat_take_drop // Dd.
Qed.
Lemma startedE h : started D h = qstarted d (vals h).
Proof. by rewrite /started /qstarted size_vals; apply: eq_has => m; rewrite Dd /vals map_take. Qed.
Lemma actE h : act T D h = qact d (vals h).
Proof. by rewrite /act aliveE startedE. Qed.
End Quantifiers.
Arguments aliveE {n T D} d Dd h.
Arguments actE {n T D} d Dd h.

Section Joint.
Variables (n T : nat) (ds : seq (pred (seq nat))).
Local Notation V := (ordinal_finType n.+1).
Definition sets : 'I_(size ds) -> pred (seq V) := fun i h => nth (fun=> false) ds i (vals h).
Definition qjf_point := all (fun s => count (fun d : pred _ => d s) ds <= 1)%N (prefixes n T).
Definition qjf_int := all (fun s => count (fun d => qact n T d s) ds <= 1)%N (prefixes n T).
Lemma jf_pointE : jf_point T sets <-> qjf_point.
Proof.
split=> [jf|/allP a h hT i j di dj].
  apply/allP => s /prefixes_vals[h hT <-]; apply/(count_le1P (fun=> false)) => i j; exact: jf.
by have /(count_le1P (fun=> false)) := a _ (vals_prefixes hT); apply.
Qed.
Lemma jf_intE : jf_int T sets <-> qjf_int.
Proof.
have E i h : act T (sets i) h = qact n T (nth (fun=> false) ds i) (vals h) by apply: actE.
split=> [/(theorem_4_2_active _ _ ord0) jf|/allP a].
  by apply/allP => s /prefixes_vals[h hT <-]; apply/(count_le1P (fun=> false)) => i j; rewrite -!E; apply: jf.
apply/(theorem_4_2_active _ _ ord0) => h i j ai aj; move: (ai) (aj); rewrite !E.
by have /(count_le1P (fun=> false)) := a _ (vals_prefixes (act_size ai)); apply.
Qed.
End Joint.
Arguments sets n%N ds i h : clear implicits.

(* canonical times on a path *)
Section Times.
Variables (n T : nat) (D : pred (seq 'I_n.+1)) (d : pred (seq nat)).
Hypothesis Dd : forall h, D h = d (vals h).
Definition qs1 s := find (fun l => d (take l s)) (iota 0 T).
Definition qs2 s := maxn (qs1 s) (find (fun l => ~~ qalive n T d (take l s)) (iota 0 T)).
Lemma s1E (y : T.-tuple 'I_n.+1) : s1 D y = qs1 (vals y).
Proof. by apply: eq_find => l; rewrite Dd /pre /vals map_take. Qed.
Lemma s2E (y : T.-tuple 'I_n.+1) : s2 D y = qs2 (vals y).
Proof.
rewrite /s2 s1E; congr maxn; apply: eq_find => l /=.
by rewrite (aliveE d) // /pre /vals map_take.
Qed.
End Times.
Arguments s2E {n T D} d Dd y.

(* probabilities of events on paths *)
Section Events.
Variables (R : realFieldType) (n T : nat) (E : pred (seq nat)).
Local Notation V := (ordinal_finType n.+1).
Local Notation mass f := (QR (qmass n T E (qlaw f [::]))).
Lemma PrE p f : (forall s, law p [::] s = QR (qlaw f [::] (vals s))) -> @Pr R V T p (fun y => E (vals y)) = mass f.
Proof. by move=> e; rewrite /Pr -sum_words; apply: eq_bigr => y _. Qed.
Lemma model_Pr f : @Pr R V T (model R n f) (fun y => E (vals y)) = mass f.
Proof. by apply: PrE => s; apply: lawE. Qed.
Lemma cancel_Pr fb fs : @Pr R V T (comp (@wcancel R V _) (model R n fb) (experts R n fs)) (fun y => E (vals y)) = mass (qcomp true n fb fs).
Proof. by apply: PrE => s; apply: cancel_law. Qed.
(* ... under the global composition *)
Definition PrG k (w : dist R V -> ('I_k -> dist R V) -> 'I_n.+1 -> R) b p (E' : pred (seq nat)) :=
  \sum_(y : T.-tuple 'I_n.+1 | E' (vals y)) @PG R V _ w b p T y.
Lemma cancel_PrG fb fs : PrG (@wcancel R V _) (model R n fb) (experts R n fs) E =
  QR (qmass n T E (qlaw (wrows true n fb fs) [::]) / qZG true n fb fs T)%Q.
Proof.
rewrite QRM QRV -sum_words mulr_suml; apply: eq_bigr => y _.
by rewrite /PG cancel_W cancel_ZG.
Qed.
End Events.

Ltac rows_of l := match l with nil => constr:(@nil Q) | cons (QR ?x) ?t => let u := rows_of t in constr:(@cons Q x u) end.
Ltac on_rows :=
  lazymatch goal with
  | |- context [@wcancel] => rewrite ?(cancel_law, cancel_reach, cancel_Z, cancel_W, cancel_PG, cancel_ZG, cancel_comp)
  | |- context [@wdrop] => rewrite ?(drop_law, drop_reach, drop_Z, drop_W, drop_PG, drop_ZG, drop_comp)
  | |- _ => idtac
  end; rewrite ?(lawE, reachE, model_eq, QR_eqE, QR_leE, QR_eq0, devE).
(* a claim about models of rows, by computing on the rows *)
Ltac by_rows :=
  lazymatch goal with
  | |- @masses ?R _ _ _ = ?l => let l' := rows_of l in change l with (map (@QR R) l');
      apply: masses_eq; [let s := fresh "s" in move=> s; on_rows; reflexivity|vm_compute; reflexivity]
  | |- Pr (comp _ _ _) _ = _ => rewrite cancel_Pr; apply: QR_eqb; vm_compute; reflexivity
  | |- PrG _ _ _ _ _ = _ => rewrite cancel_PrG; apply: QR_eqb; vm_compute; reflexivity
  | |- Pr _ _ = _ => rewrite model_Pr; apply: QR_eqb; vm_compute; reflexivity
  | |- _ = dist_of _ _ _ => on_rows; apply/eqP; rewrite /model dist_of_eq; vm_compute; reflexivity
  | |- _ => on_rows; rewrite /model ?dist_of_eq; first [apply: QR_eqb|idtac]; vm_compute; reflexivity
  end.
(* the same at every prefix of length < T, at every path of length T *)
Ltac at_prefixes h hT := on_rows; move: (vals h) (vals_prefixes hT); apply/allP; vm_compute; reflexivity.
Ltac at_paths y := on_rows; move: (vals y) (vals_words y); apply/allP; vm_compute; reflexivity.
(* each model of a (short) list of tables is one *)
Ltac are_models := first [by apply: tables_model|rewrite /experts; case=> [[|[|[|[|?]]]] ?] //=; by apply: tables_model].
