(* theory.md Theorem 2.4: uniform projectivity of global composition forces mutual independence of the blocks under P_b. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition interaction marginals laws masks.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Converse.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I).
Local Notation Om := {ffun X -> V}.
Variable Pb : Om -> R.
Hypotheses (Pb0 : forall y, 0 < Pb y) (Pb1 : \sum_y Pb y = 1).
Local Notation inb := (inb blk).

Definition tilt (f : Om -> R) z := Pb z * f z / \sum_u Pb u * f u.
Definition tilts (f : I -> Om -> R) := (forall i y, 0 < f i y) /\ (forall i, local_to (inb (Some i)) (f i)).
Definition uniformly_projective := forall f, tilts f ->
  (forall i y, marg (gcomp Pb (fun i => tilt (f i))) (inb (Some i)) y = marg (tilt (f i)) (inb (Some i)) y) /\
  (forall y, marg (gcomp Pb (fun i => tilt (f i))) (inb None) y = marg Pb (inb None) y).

Hypothesis proj : uniformly_projective.

Lemma mean_gt0 (f : Om -> R) (y0 : Om) : (forall y, 0 < f y) -> 0 < \sum_u Pb u * f u.
Proof.
move=> f0; rewrite (bigD1 y0) //= ltr_paddr ?mulr_gt0 // sumr_ge0 // => u _.
by rewrite ltW ?mulr_gt0.
Qed.

Lemma gcomp_tilt f (y0 : Om) : tilts f -> gcomp Pb (fun i => tilt (f i)) =1
  (fun z => Pb z * \prod_i f i z / \sum_u Pb u * \prod_i f i u).
Proof.
move=> [f0 _] z; pose E := \prod_i \sum_u Pb u * f i u.
have En : E != 0 by apply/prodf_neq0 => i _; rewrite gt_eqF // mean_gt0.
have gWE u : gW Pb (fun i => tilt (f i)) u = (Pb u * \prod_i f i u) / E.
  rewrite /gW -mulrA; congr (_ * _); rewrite -prodfV -big_split /=; apply: eq_bigr => i _.
  by rewrite /tilt -[Pb u * f i u * _]mulrA [X in X / _]mulrC mulfK ?gt_eqF.
rewrite /gcomp /gZ gWE (eq_bigr _ (fun u _ => gWE u)) -mulr_suml.
by rewrite invfM invrK mulrACA mulVf // mulr1.
Qed.

(* (star) *)
Lemma star f j y : tilts f -> (forall i, j = Some i -> forall z, f i z = 1) ->
  \sum_(z | agree (inb j) z y) Pb z * \prod_i f i z = marg Pb (inb j) y * \sum_z Pb z * \prod_i f i z.
Proof.
move=> tf fj; have [pi pN] := proj tf.
have e : marg (gcomp Pb (fun i => tilt (f i))) (inb j) y = marg Pb (inb j) y.
  case: j fj => [i|_]; last exact: pN.
  move=> fj; rewrite pi; apply: eq_bigr => z _; rewrite /tilt.
  have f1 := fj i erefl; rewrite f1 mulr1 (eq_bigr Pb) => [|u _]; last by rewrite f1 mulr1.
  by rewrite Pb1 divr1.
have Nn : \sum_z Pb z * \prod_i f i z != 0.
  rewrite gt_eqF // (@mean_gt0 (fun z => \prod_i f i z) y) // => z.
  by apply: prodr_gt0 => i _; case: tf.
rewrite -e /marg mulr_suml; apply: eq_bigr => z _.
by rewrite (gcomp_tilt y tf) divfK.
Qed.

Section Fix.
Variable y : Om.
Definition ind (k : option I) (z : Om) : R := (agree (inb k) z y)%:R.
Definition mA (A : {set option I}) := \sum_z Pb z * \prod_(k in A) ind k z.

Lemma mA0 : mA set0 = 1.
Proof. by rewrite /mA -[RHS]Pb1; apply: eq_bigr => z _; rewrite big_set0 mulr1. Qed.

Lemma indep_aux n (A : {set option I}) : (#|A| <= n)%N -> mA A = \prod_(k in A) marg Pb (inb k) y.
Proof.
elim: n A => [|n IH] A cA.
  have /eqP -> : A == set0 by rewrite -cards_eq0 -leqn0.
  by rewrite mA0 big_set0.
have [->|[j0 j0A]] := set_0Vmem A.
  by rewrite mA0 big_set0.
pose j := if None \in A then None else j0.
have jA : j \in A by rewrite /j; case: ifP.
pose A' := A :\ j.
have NA' : None \notin A' by rewrite !inE /j; case: (None \in A); rewrite ?andbF.
have cA' : (#|A'| <= n)%N by move: cA; rewrite (cardsD1 j A) jA add1n ltnS.
pose x k z := if k \in A' then ind k z else 0.
pose f i z := x (Some i) z + 1.
have tf : tilts f.
  split=> [i z|i z u a].
    by rewrite /f /x /ind ltr_paddl ?ltr01 //; case: ifP => // _; rewrite ler0n.
  rewrite /f /x /ind; case: ifP => // _; congr (_%:R + 1).
  by rewrite (agree_sym _ z) (agree_sym _ u) (agree_eq a).
have fj i : j = Some i -> forall z, f i z = 1 by move=> e z; rewrite /f /x !inE -e eqxx add0r.
have pf z : \prod_i f i z = \sum_(B : {set option I}) \prod_(k in B) x k z.
  rewrite -prod_addr1 big_option /x (negPf NA') add0r mul1r; exact: eq_bigr.
have := star y tf fj.
under eq_bigr do rewrite pf mulr_sumr; rewrite exchange_big /=.
under [in X in _ = X]eq_bigr do rewrite pf mulr_sumr.
rewrite [in X in _ = X]exchange_big mulr_sumr (bigD1 A') //= [X in _ = X](bigD1 A') //=.
pose mj := marg Pb (inb j) y.
have split (B : {set option I}) : \sum_(z | agree (inb j) z y) Pb z * \prod_(k in B) x k z =
    if B \subset A' then mA (j |: B) else 0.
  case: ifP => [BA|/negbT/subsetPn[k kB kA]]; last first.
    by rewrite big1 // => z _; rewrite (bigD1 k) //= /x (negPf kA) mul0r mulr0.
  have jB : j \notin B by apply/negP => /(subsetP BA); rewrite !inE eqxx.
  rewrite /mA big_mkcond; apply: eq_bigr => z _; rewrite big_setU1 //= {1}/ind.
  rewrite (eq_bigr (fun k => ind k z)) => [|k kB]; last by rewrite /x (subsetP BA).
  by case: agree; rewrite ?mul1r // mul0r mulr0.
have plain (B : {set option I}) : \sum_z Pb z * \prod_(k in B) x k z = if B \subset A' then mA B else 0.
  case: ifP => [BA|/negbT/subsetPn[k kB kA]]; last first.
    by rewrite big1 // => z _; rewrite (bigD1 k) //= /x (negPf kA) mul0r mulr0.
  rewrite /mA; apply: eq_bigr => z _; congr (_ * _).
  by apply: eq_bigr => k kB; rewrite /x (subsetP BA).
rewrite [X in _ + X = _](eq_bigr (fun B : {set option I} => mj * \sum_z Pb z * \prod_(k in B) x k z)) => [/addIr|B BA].
  rewrite split plain fintype.subxx setD1K // => ->.
  by rewrite IH // [RHS](big_setD1 j) //= mulrC.
rewrite split plain; case: ifP => BA'; last by rewrite mulr0.
have ltB : (#|B| < #|A'|)%N by apply: proper_card; rewrite properEneq BA.
have jB : j \notin B by apply/negP => /(subsetP BA'); rewrite !inE eqxx.
rewrite !IH ?big_setU1 //=; first by rewrite (leq_trans (ltnW ltB)).
by rewrite cardsU1 jB add1n (leq_trans ltB).
Qed.
End Fix.

(* "Fix P_b of full support and masks.  If global composition is projective on all M_i and on M_b for all tilts
   P_i ∝ P_b f_i(y_{M_i}), f_i > 0, then P_b = ⊗ P_b^{M_j}" *)
Theorem theorem_2_4 : FCa blk Pb.
Proof.
move=> y; have := indep_aux y (leqnn #|[set: option I]|).
rewrite (eq_bigl xpredT) => [<-|k]; last by rewrite inE.
rewrite /mA (bigD1 y) //= big1 ?mulr1 => [|k _]; last first.
  by rewrite /ind (_ : agree _ _ _) //; apply/agreeP.
rewrite big1 ?addr0 // => z zy.
have [t nt] : exists t, z t != y t.
  by apply/existsP; apply: contraNT zy; rewrite negb_exists => /forallP a; apply/eqP/ffunP => t; apply/eqP; rewrite -[_ == _]negbK a.
rewrite (bigD1 (blk t)) ?inE //= /ind (_ : agree _ _ _ = false) ?mul0r ?mulr0 //.
by apply/negP => /agreeP/(_ t); rewrite /marginals.inb eqxx => /(_ isT) e; rewrite e eqxx in nt.
Qed.
End Converse.
