(* theory.md 6: Theorem 6.1 (global composition in feature space) and Theorem 6.4 (when the token sampler is right).
   Feature space is a product {ffun X -> V'} over any finite set of positions; the law of the features of P is push D P.
   Global composition of laws is gcomp: the path product of 1.2 under `drop`, and under `cancel` where the experts are
   absolutely continuous (W_gW, W_conv). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition exactness marginals laws masks.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Push.
Variables (R : realFieldType) (I O O' : finType) (D : O -> O').
Hypothesis Di : injective D.
Implicit Types (P : O -> R).

Lemma push_at P y : push D P (D y) = P y.
Proof. by rewrite /push (big_pred1 y) // => z; apply: inj_eq. Qed.

Lemma push_off P z : z \notin codom D -> push D P z = 0.
Proof. by move=> nz; apply: big_pred0 => y; apply: contraNF nz => /eqP <-; apply: codom_f. Qed.

Lemma push_ext P Q z : P =1 Q -> push D P z = push D Q z.
Proof. by move=> e; apply: eq_bigr => y _. Qed.

Lemma push_sum P : \sum_z push D P z = \sum_y P y.
Proof. by rewrite [RHS](partition_big D xpredT). Qed.

Lemma gW_push (b : O -> R) (p : I -> O -> R) z : gW (push D b) (fun i => push D (p i)) z = push D (gW b p) z.
Proof.
have [/codomP[y ->]|nz] := boolP (z \in codom D); last by rewrite /gW !push_off // mul0r.
by rewrite /gW !push_at; congr (_ * _); apply: eq_bigr => i _; rewrite push_at.
Qed.

(* "C_G[D#P_b, D#P_i] = D#C_G[P_b, P_i], same Z_G", for an injection into any finite set *)
Theorem theorem_6_1_injective (b : O -> R) (p : I -> O -> R) :
  gZ (push D b) (fun i => push D (p i)) = gZ b p /\
  gcomp (push D b) (fun i => push D (p i)) =1 push D (gcomp b p).
Proof.
have eZ : gZ (push D b) (fun i => push D (p i)) = gZ b p.
  by rewrite /gZ -(push_sum (gW b p)); apply: eq_bigr => z _; apply: gW_push.
split=> // z; rewrite /gcomp eZ gW_push /push mulr_suml; exact: eq_bigr.
Qed.
End Push.

(* "C_G[D#P_b, D#P_i] = D#C_G[P_b, P_i], same Z_G" *)
Theorem theorem_6_1 (R : realFieldType) (I O O' : finType) (D : O -> O') (b : O -> R) (p : I -> O -> R) : bijective D ->
  gZ (push D b) (fun i => push D (p i)) = gZ b p /\
  gcomp (push D b) (fun i => push D (p i)) =1 push D (gcomp b p).
Proof. by move=> /bij_inj Di; apply: theorem_6_1_injective. Qed.

Section FeatureFC.
Variables (R : realFieldType) (I O X V' : finType) (blk : X -> option I) (D : O -> {ffun X -> V'}).
Variables (b : O -> R) (p : I -> O -> R).
Hypotheses (Di : injective D) (b1 : \sum_y b y = 1) (p1 : forall i, \sum_y p i y = 1).
Local Notation Db := (push D b).
Local Notation Dp := (fun i => push D (p i)).
Hypothesis fc : FC blk Db Dp.

Let Db1 : \sum_z Db z = 1. Proof. by rewrite push_sum. Qed.
Let Dp1 i : \sum_z Dp i z = 1. Proof. by rewrite push_sum. Qed.

(* "FC for the pushforwards gives D#P_G = ⊗, projective on features" *)
Theorem theorem_6_1_FC :
  [/\ gZ b p = 1, forall z, push D (gcomp b p) z = target blk Db Dp z
    & (forall i z, marg (push D (gcomp b p)) (inb blk (Some i)) z = marg (Dp i) (inb blk (Some i)) z) /\
      (forall z, marg (push D (gcomp b p)) (inb blk None) z = marg Db (inb blk None) z)].
Proof.
have [a bb c] := fc; have [eZ eG] := theorem_6_1_injective Di b p.
have e z : push D (gcomp b p) z = target blk Db Dp z by rewrite -eG (fc_law a bb c Db1 Dp1).
have m j z : marg (push D (gcomp b p)) (inb blk j) z = tgt blk Db Dp j z.
  by rewrite -(target_marg blk Db1 Dp1); apply: eq_bigr => u _.
split=> //; first by rewrite -eZ (fc_Z1 a bb c Db1 Dp1).
by split=> [i z|z]; rewrite m.
Qed.

(* "If D is onto a strict subset of a product space, FC + AC already forces the target into the image" *)
Theorem theorem_6_1_image z : target blk Db Dp z != 0 -> z \in codom D.
Proof.
have [_ e _] := theorem_6_1_FC; rewrite -e; apply: contraR => nz.
by rewrite push_off.
Qed.
End FeatureFC.

Section Tokens.
Variables (R : realFieldType) (V I X V' : finType) (T : nat) (blk : X -> option I).
Local Notation Om := {ffun 'I_T -> V}.
Variables (D : Om -> {ffun X -> V'}) (b : kernel R V) (p : I -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)) (Di : injective D).
Variable c : convention.
Local Notation w := (@weight R V I c).
Local Notation Pb := (Law (T := T) b).
Local Notation Pe := (fun i => Law (T := T) (p i)).
Local Notation Db := (push D Pb).
Local Notation Dp := (fun i => push D (Pe i)).

(* P_b(y begins with h, z_{M_i} = u_{M_i}), z = D y *)
Definition joint_mass h i (u : {ffun X -> V'}) :=
  \sum_(y : Om | (take (size h) (word y) == h) && agree (inb blk (Some i)) (D y) u) Pb y.
(* "y_t ⫫ z_{M_i} | h under P_b": P(h) P(ha, u) = P(ha) P(h, u) *)
Definition uninformative h i :=
  [forall a, [forall u, law b [::] h * joint_mass (rcons h a) i u == law b [::] (rcons h a) * joint_mass h i u]].

Hypothesis fc : FC blk Db Dp.

Lemma feature_AC i (y : Om) : Pb y = 0 -> Pe i y = 0.
Proof.
have [a bb cc] := fc; rewrite -(push_at Di) -[Pe i y](push_at Di) => b0.
by apply: (fc_AC a bb cc _ i b0); rewrite push_sum Law_sum1.
Qed.

(* P_i = P_b f_i(z_{M_i}) *)
Definition ratio i (z : {ffun X -> V'}) := marg (Dp i) (inb blk (Some i)) z / marg Db (inb blk (Some i)) z.
Lemma expert_ratio i (y : Om) : Pe i y = ratio i (D y) * Pb y.
Proof.
have [a bb cc] := fc; rewrite -(push_at Di) -[Pb y](push_at Di) bb /ratio.
have Db1 : \sum_z Db z = 1 by rewrite push_sum Law_sum1.
have -> : Db (D y) = marg Db (inb blk (Some i)) (D y) * marg Db (off blk (Some i)) (D y).
  by rewrite (marg_off a Db1) [LHS]a [LHS](bigD1 (Some i)).
have [m0|mn] := eqVneq (marg Db (inb blk (Some i)) (D y)) 0; first by rewrite (cc i _ m0) m0 !mul0r.
by rewrite mulrA divfK.
Qed.

Let key i (y : Om) : {ffun X -> option V'} := [ffun t => if blk t == Some i then Some (D y t) else None].
Lemma keyP i y y' : (key i y == key i y') = agree (inb blk (Some i)) (D y) (D y').
Proof.
apply/eqP/agreeP => [/ffunP e t bt|e]; first by have := e t; rewrite !ffunE; move: bt; rewrite /inb => -> -[].
by apply/ffunP => t; rewrite !ffunE; case E: (blk t == Some i) => //; rewrite e.
Qed.

Lemma law_prefix (q : kernel R V) h : is_model q -> (size h <= T)%N ->
  law q [::] h = \sum_(y : Om | take (size h) (word y) == h) Law q y.
Proof.
move=> mq hT; have [v _] := model_inhabited mq; have [y ey] := word_of v hT.
rewrite -{1}ey -Law_trunc //; apply: eq_bigl => z; by rewrite agree_take ey.
Qed.

Lemma uninformative_law i h a : (size h < T)%N -> uninformative h i ->
  law b [::] h * law (p i) [::] (rcons h a) = law b [::] (rcons h a) * law (p i) [::] h.
Proof.
move=> hT /forallP/(_ a)/forallP un.
have part g : (size g <= T)%N -> law (p i) [::] g = \sum_(k : {ffun X -> option V'})
    \sum_(y : Om | (take (size g) (word y) == g) && (key i y == k)) ratio i (D y) * Pb y.
  move=> gT; rewrite (law_prefix (mp i) gT) (partition_big (key i) xpredT) //=.
  by apply: eq_bigr => k _; apply: eq_bigr => y _; apply: expert_ratio.
rewrite !part ?size_rcons ?(ltnW hT) // !mulr_sumr; apply: eq_bigr => k _.
have [y0 /eqP y0k|nok] := pickP (fun y => key i y == k); last first.
  by rewrite !big1 ?mulr0 // => y /andP[_]; rewrite nok.
have one g : \sum_(y : Om | (take (size g) (word y) == g) && (key i y == k)) ratio i (D y) * Pb y =
    ratio i (D y0) * joint_mass g i (D y0).
  rewrite /joint_mass mulr_sumr -y0k; apply: eq_big => [y|y /andP[_]]; first by rewrite keyP.
  by rewrite keyP => e; rewrite /ratio !(marg_local _ e).
rewrite -(size_rcons h a) !one mulrCA [RHS]mulrCA; congr (_ * _); exact/eqP.
Qed.

Lemma uninformative_same i h : (size h < T)%N -> reach b h -> reach (p i) h -> uninformative h i -> p i h = b h.
Proof.
move=> hT rb ri un; apply/ffunP => a; have := uninformative_law a hT un.
by rewrite !law_rcons /= mulrA [X in _ = X]mulrAC => /(mulfI (mulf_neq0 rb ri)).
Qed.

(* "Assume FC in features.  If at each h in R^ the next token is P_b-informative about at most one expert block, then JF-pt
   holds in tokens, P_L = P_G, and D#P_L is the target." *)
Theorem theorem_6_4 :
  (forall h, Rhat w T b p h -> forall i j, ~~ uninformative h i -> ~~ uninformative h j -> i = j) ->
  [/\ jf_pt b p (Rhat w T b p),
      forall h, Rhat w T b p h -> Zk w b p h = 1,
      forall y : Om, PG w b p T (word y) = Law (comp w b p) y
    & forall z, push D (Law (comp w b p)) z = target blk Db Dp z].
Proof.
move=> few; have reached := reach_all mb mp feature_AC.
have jf : jf_pt b p (Rhat w T b p).
  move=> h rR i j di dj; have /andP[hT rh] := rR; have [rb rp] := reached _ _ (ltnW hT) rh.
  by apply: (few h) => //; [apply: contraNN di|apply: contraNN dj] => un; apply/eqP/uninformative_same.
have acR h : Rhat w T b p h -> AC (b h) (fun i => p i h).
  by case/andP=> hT rh; apply: (reach_AC mb mp feature_AC) => //; case: (reached _ _ (ltnW hT) rh).
have Z1R h : Rhat w T b p h -> Zk w b p h = 1.
  move=> rR; apply: Z_one => //; [by case: (c) => //=; apply: acR|exact: jf].
have acW h : (size h < T)%N -> W (@wdrop R V I) b p [::] h != 0 -> AC (b h) (fun i => p i h).
  by move=> hT nz; apply: (reach_AC mb mp feature_AC) => //; case: (W_reach nz).
have eW (y : Om) : W w b p [::] (word y) = gW Pb Pe y by rewrite (W_conv acW) ?size_tuple // W_gW.
have eL (y : Om) : Law (comp w b p) y = gW Pb Pe y by rewrite -eW /Law (law_W Z1R) ?size_tuple.
have [eZ eT _] := theorem_6_1_FC Di (Law_sum1 T mb) (fun i => Law_sum1 T (mp i)) fc.
split=> // [y|z].
  rewrite eL /PG eW; have -> : ZG w b p T = 1; last by rewrite divr1.
  by rewrite /ZG (sum_word T (W w b p [::]) xpredT) -eZ; apply: eq_bigr => y' _; apply: eW.
by rewrite -eT; apply: push_ext => y; rewrite eL /gcomp eZ divr1.
Qed.
End Tokens.
