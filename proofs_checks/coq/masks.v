(* theory.md 2: Definition 2.1 (factorized conditionals) and Theorem 2.2 (projectivity).
   X = set of positions, blk t = Some i for t in M_i, None for t in M_b. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section FC.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I).
Local Notation Om := {ffun X -> V}.
Local Notation inb := (inb blk).
Local Notation off := (off blk).
Local Notation mass := (mass blk).

(* Definition 2.1 (FC): (a) P_b = ⊗_j P_b^{M_j}; (b) P_i = P_i^{M_i} ⊗ P_b^{M_i^c}; (c) P_i^{M_i} << P_b^{M_i} *)
Variables (Pb : Om -> R) (Pe : I -> Om -> R).
Definition FCa := forall y, Pb y = \prod_j marg Pb (inb j) y.
Definition FCb := forall i y, Pe i y = marg (Pe i) (inb (Some i)) y * marg Pb (off (Some i)) y.
Definition FCc := forall i y, marg Pb (inb (Some i)) y = 0 -> marg (Pe i) (inb (Some i)) y = 0.

Definition FC := [/\ FCa, FCb & FCc].

Definition tgt j := if j is Some i then marg (Pe i) (inb (Some i)) else marg Pb (inb None).

(* "P_b^{M_b} ⊗ ⊗_i P_i^{M_i}" *)
Definition target y := \prod_j tgt j y.

Hypotheses (a : FCa) (bb : FCb) (c : FCc) (Pb1 : \sum_y Pb y = 1) (Pe1 : forall i, \sum_y Pe i y = 1).

Lemma marg_off i y : marg Pb (off (Some i)) y = \prod_(j | j != Some i) marg Pb (inb j) y.
Proof.
have Gl j : local_to (inb j) (marg Pb (inb j)) by exact: marg_local.
have := marg_prod_off (Some i) y Gl; rewrite mass_marg Pb1 mulr1 => <-.
by apply: eq_bigr => z _; apply: a.
Qed.

Lemma tgt_local j : local_to (inb j) (tgt j).
Proof. by case: j => [i|]; apply: marg_local. Qed.
Lemma tgt_mass y j : mass y tgt j = 1.
Proof.
case: j => [i|]; first by rewrite -[RHS](Pe1 i) -(mass_marg blk y (Pe i) (Some i)).
by rewrite -[RHS]Pb1 -(mass_marg blk y Pb None).
Qed.

(* Theorem 2.2 (global): W is the product of the blocks' own marginals, Z_G = 1, projective *)
Theorem fc_product y : gW Pb Pe y = target y.
Proof.
rewrite /target; have PeE i : Pe i y * marg Pb (inb (Some i)) y = marg (Pe i) (inb (Some i)) y * Pb y.
  by rewrite bb marg_off -mulrA; congr (_ * _); rewrite [RHS]a [RHS](bigD1 (Some i)) //= mulrC.
have [b0|bn0] := eqVneq (Pb y) 0.
  rewrite /gW b0 mul0r; apply/esym/eqP/prodf_eq0.
  have /eqP := b0; rewrite a => /prodf_eq0 [j _ /eqP m0]; exists j => //; apply/eqP.
  by case: j m0 => [i|] // /c.
have mn0 i : marg Pb (inb (Some i)) y != 0.
  by move: bn0; rewrite a => /prodf_neq0/(_ (Some i)) => ->.
rewrite /gW [X in X * _]a !big_option -mulrA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
by rewrite mulrA [_ * Pe i y]mulrC PeE mulfK.
Qed.

Theorem fc_Z1 : gZ Pb Pe = 1.
Proof.
have [y0|noy] := pickP (@predT Om); last first.
  by move: Pb1 (oner_neq0 R) => <-; rewrite big1 ?eqxx // => y; have := noy y.
rewrite /gZ; under eq_bigr do rewrite fc_product /target.
rewrite (eq_bigl (fun z => agree (fun t => ~~ predT (blk t)) z y0)) => [|z]; last first.
  by apply/esym/agreeP.
rewrite (fubini y0 predT tgt_local) big1 // => j _; exact: tgt_mass.
Qed.

Theorem fc_law y : gcomp Pb Pe y = target y.
Proof. by rewrite /gcomp fc_Z1 divr1 fc_product. Qed.

Lemma target_marg j y : marg target (inb j) y = tgt j y.
Proof. by rewrite marg_prod ?big1 ?mulr1 // => [k _|k]; [apply: tgt_mass|apply: tgt_local]. Qed.

Lemma fc_AC i y : Pb y = 0 -> Pe i y = 0.
Proof.
move/eqP; rewrite a => /prodf_eq0[j _ /eqP m0]; rewrite bb.
have [ji|ji] := eqVneq j (Some i); first by rewrite c ?mul0r // -ji.
by rewrite marg_off (bigD1 j) //= m0 mul0r mulr0.
Qed.
End FC.

Lemma weight_algebra (R : realFieldType) (I : finType) (B : option I -> R) (A : I -> R) (P0 : R) (Pe : I -> R) :
  P0 = \prod_j B j -> (forall i, Pe i = A i * \prod_(j | j != Some i) B j) ->
  (forall i, B (Some i) = 0 -> A i = 0) -> P0 * \prod_i (Pe i / P0) = B None * \prod_i A i.
Proof.
move=> e0 ei ac; have [z|nz] := eqVneq P0 0.
  rewrite z mul0r; apply/esym/eqP; move/eqP: z; rewrite e0 big_option mulf_eq0 => /orP[/eqP->|].
    by rewrite mul0r.
  move/prodf_eq0 => [i _ /eqP/ac Ai]; rewrite mulf_eq0; apply/orP; right.
  by apply/prodf_eq0; exists i => //; apply/eqP.
rewrite [X in X * _]e0 big_option -mulrA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
rewrite mulrA ei mulrCA (_ : B (Some i) * _ = P0) ?mulfK //.
by rewrite e0 [RHS](bigD1 (Some i)).
Qed.

(* a tilt of one block keeps FC: "P_i ∝ P_b f_i(y_{M_i})" *)
Section Tilts.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I).
Local Notation Om := {ffun X -> V}.
Variables (P : Om -> R) (f : I -> Om -> R) (N : I -> R).
Local Notation Q := (fun i z => P z * f i z / N i).
Hypotheses (a : FCa blk P) (fl : forall i, local_to (inb blk (Some i)) (f i)).
Hypotheses (P1 : \sum_y P y = 1) (Q1 : forall i, \sum_y Q i y = 1).

Lemma tilt_FC : FC blk P Q.
Proof.
split=> // [i y|i y m0].
  pose G j := marg P (inb blk j).
  pose G' j z := if j == Some i then G j z * f i z / N i else G j z.
  have Gl j : local_to (inb blk j) (G j) by exact: marg_local.
  apply: (product_replaced (G := G) (G' := G')) => //.
  - move=> j z u e; rewrite /G' (Gl j z u e); case: eqP => // ji; rewrite (fl (i := i) (y := z) (z := u)) //.
    by rewrite -ji.
  - move=> z; rewrite {1}a (bigD1 (Some i)) //= [RHS](bigD1 (Some i)) //= {1}/G' eqxx.
    rewrite -!mulrA; congr (_ * _); rewrite [LHS]mulrC -!mulrA; congr (_ * (_ * _)).
    by apply: eq_bigr => j /negPf ji; rewrite /G' ji.
  by move=> j /negPf ji z; rewrite /G' ji.
have -> : marg (Q i) (inb blk (Some i)) y = marg P (inb blk (Some i)) y * (f i y / N i); last by rewrite m0 mul0r.
by rewrite /marg mulr_suml; apply: eq_bigr => z e; rewrite (fl e) mulrA.
Qed.
End Tilts.

Section Local.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : 'I_T -> option I).
Variables (b : kernel R V) (p : I -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation Pb := (Law (T := T) b).
Local Notation Pe := (fun i => Law (T := T) (p i)).
Hypotheses (a : FCa blk Pb) (bb : FCb blk Pb Pe) (c : FCc blk Pb Pe).
Local Notation w := (@wdrop R V I).
Local Notation beta := (fun j => marg Pb (inb blk j)).
Local Notation tg := (tgt blk Pb Pe).

Local Notation target := (target blk Pb Pe).

(* global weight of every truncation = prefix marginal of the target *)
Lemma W_target l y : W w b p [::] (take l (word y)) = marg target (upto l) y.
Proof.
have bl j : local_to (inb blk j) (beta j) by apply: marg_local.
have tl j : local_to (inb blk j) (tg j) by apply: tgt_local.
have eb : law b [::] (take l (word y)) = \prod_j tr blk (upto l) beta j y.
  rewrite -Law_trunc // -(marg_trunc (upto l) bl); by apply: eq_bigr => z _; apply: a.
have ep i : law (p i) [::] (take l (word y)) =
    tr blk (upto l) tg (Some i) y * \prod_(j | j != Some i) tr blk (upto l) beta j y.
  rewrite -Law_trunc //.
  pose G j := if j == Some i then tg (Some i) else beta j.
  have Gl j : local_to (inb blk j) (G j) by rewrite /G; case: eqP => [->|_].
  rewrite (_ : marg _ _ _ = marg (fun z => \prod_j G j z) (upto l) y).
    rewrite (marg_trunc (upto l) Gl) (bigD1 (Some i)) //=; congr (_ * _).
      by rewrite /tr /G eqxx.
    by apply: eq_bigr => j /negPf ji; rewrite /tr /G ji.
  apply: eq_bigr => z _; rewrite bb (marg_off a (Law_sum1 T mb)) [RHS](bigD1 (Some i)) //= /G eqxx.
  by congr (_ * _); apply: eq_bigr => j /negPf->.
have c' i : tr blk (upto l) beta (Some i) y = 0 -> tr blk (upto l) tg (Some i) y = 0.
  move/eqP; rewrite psumr_eq0 => [/allP z0|u _]; last first.
    by apply: sumr_ge0 => z _; apply: law_ge0.
  rewrite /tr big1 // => u au; apply: c; apply/eqP.
  by have /implyP := z0 u (mem_index_enum u); apply.
have eN : tr blk (upto l) tg None y = tr blk (upto l) beta None y by [].
rewrite W_gW (marg_trunc (upto l) tl) big_option eN.
exact: (weight_algebra (B := fun j => tr blk (upto l) beta j y)).
Qed.

(* hence Z = 1 wherever the weight is non-zero *)
Lemma fc_Z1_local l (y : {ffun 'I_T -> V}) (lt : (l < T)%N) : W w b p [::] (take l (word y)) != 0 -> Zk w b p (take l (word y)) = 1.
Proof.
move=> nz; apply: (mulfI nz); rewrite mulr1.
have upd v : exists z : {ffun 'I_T -> V}, take l.+1 (word z) = rcons (take l (word y)) v.
  exists [ffun t : 'I_T => if t == Ordinal lt then v else y t].
  rewrite (take_nth v) ?size_tuple //; congr rcons; last first.
    by rewrite -[l]/(val (Ordinal lt)) -tnth_nth tnth_mktuple ffunE eqxx.
  apply/eqP; rewrite -agree_take; apply/agreeP => t tl; rewrite ffunE.
  by case: eqP => // e; move: tl; rewrite e /upto /= ltnn.
rewrite /Zk /Z mulr_sumr.
transitivity (\sum_v W w b p [::] (rcons (take l (word y)) v)).
  by apply: eq_bigr => v _; rewrite W_rcons.
rewrite (W_target l y) /marg.
rewrite (partition_big (fun z : {ffun 'I_T -> V} => z (Ordinal lt)) xpredT) //=.
apply: eq_bigr => v _; have [z ez] := upd v; rewrite -ez W_target; apply: eq_bigl => u.
rewrite !agree_take ez (take_nth v) ?size_tuple // eqseq_rcons; congr (_ && (_ == _)).
by rewrite -[l]/(val (Ordinal lt)) -tnth_nth tnth_mktuple.
Qed.

Lemma fc_W y : W w b p [::] (word y) = target y.
Proof.
rewrite -word_take W_target /marg (big_pred1 y) // => z; rewrite /= -agree_all.
by apply: eq_forallb => t; rewrite /upto ltn_ord. Qed.

End Local.

Section Theorem_2_2.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : 'I_T -> option I).
Variables (b : kernel R V) (p : I -> kernel R V) (c : convention).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation w := (@weight R V I c).
Local Notation Pb := (Law (T := T) b).
Local Notation Pe := (fun i => Law (T := T) (p i)).
Local Notation PL := (Law (T := T) (comp w b p)).

(* "Under FC, P_L = P_G = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}, Z = 1 on R^, Z_G = 1.  In particular marginals on every M_i and M_b
   are those of p_i, p_b, and the blocks are independent under p^."  `strict` meets no error: fifth clause. *)
Theorem theorem_2_2 : FC blk Pb Pe ->
  [/\ (forall y, PL y = target blk Pb Pe y) /\ (forall y : {ffun 'I_T -> V}, PG w b p T (word y) = target blk Pb Pe y),
      (forall h, Rhat w T b p h -> Zk w b p h = 1) /\ ZG w b p T = 1,
      (forall i y, marg PL (inb blk (Some i)) y = marg (Pe i) (inb blk (Some i)) y) /\
        (forall y, marg PL (inb blk None) y = marg Pb (inb blk None) y),
      FCa blk PL
    & forall h, Rhat w T b p h -> AC (b h) (fun i => p i h)].
Proof.
case=> a bb cc; have acl := fc_AC a bb cc (Law_sum1 T mb).
have ac h (hT : (size h < T)%N) (nz : W (@wdrop R V I) b p [::] h != 0) : AC (b h) (fun i => p i h).
  by apply: (reach_AC mb mp acl hT); case: (W_reach nz).
have Zd h (hT : (size h < T)%N) (nz : W (@wdrop R V I) b p [::] h != 0) : Zk (@wdrop R V I) b p h = 1.
  have [v _] := model_inhabited mb; have [y ey] := word_of v (ltnW hT).
  by rewrite -ey (fc_Z1_local mb mp a bb cc) // ey.
have WR h (hT : (size h <= T)%N) (rh : reach (comp w b p) h) : W (@wdrop R V I) b p [::] h != 0.
  have [rb rp] := reach_all mb mp acl hT rh; rewrite W_gW mulf_neq0 //.
  by apply/prodf_neq0 => i _; rewrite mulf_neq0 ?invr_eq0 //; apply: rp.
have acR h : Rhat w T b p h -> AC (b h) (fun i => p i h).
  by case/andP=> hT rh; apply: ac => //; apply: WR => //; apply: ltnW.
have Z1 h : Rhat w T b p h -> Zk w b p h = 1.
  move=> rR; have /andP[hT rh] := rR; rewrite Zk_conv; last exact: acR.
  by apply: Zd => //; apply: WR => //; apply: ltnW.
have lW h (hT : (size h <= T)%N) : law (comp w b p) [::] h = W (@wdrop R V I) b p [::] h.
  by rewrite (law_W Z1) // (W_conv ac).
have eL y : PL y = target blk Pb Pe y by rewrite /Law lW ?size_tuple // (fc_W mb mp a bb cc).
have eW (y : {ffun 'I_T -> V}) : W w b p [::] (word y) = target blk Pb Pe y.
  by rewrite (W_conv ac) ?size_tuple // (fc_W mb mp a bb cc).
have ZG1 : ZG w b p T = 1.
  rewrite /ZG (sum_word T (W w b p [::]) xpredT).
  rewrite -(fc_Z1 a bb cc (Law_sum1 T mb) (fun i => Law_sum1 T (mp i))); apply: eq_bigr => y _.
  by rewrite eW; apply/esym/fc_product => //; apply: Law_sum1.
have eM j y : marg PL (inb blk j) y = tgt blk Pb Pe j y.
  rewrite -(target_marg blk (Law_sum1 T mb) (fun i => Law_sum1 T (mp i))).
  by apply: eq_bigr => z _; apply: eL.
split=> //; first by split=> // y; rewrite /PG eW ZG1 divr1.
  by split=> [i y|y]; rewrite eM.
by move=> y; rewrite eL; apply: eq_bigr => j _; rewrite eM.
Qed.
End Theorem_2_2.
