(* theory.md 2: Definition 2.1 (factorized conditionals) and Theorem 2.2, global part.
   X = set of positions, blk t = Some i for t in M_i, None for t in M_b. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition features.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section FC.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I).
Local Notation Om := {ffun X -> V}.
Implicit Types (M : pred X) (y z u : Om) (P : Om -> R) (j : option I).

Definition agree M y z := [forall t, M t ==> (y t == z t)].
Definition marg P M y := \sum_(z | agree M z y) P z.          (* Q^M, as a function of y_M *)
Definition inb j : pred X := fun t => blk t == j.
Definition off j : pred X := fun t => blk t != j.
Definition local_to M (f : Om -> R) := forall y z, agree M y z -> f y = f z.

Lemma agreeP M y z : reflect (forall t, M t -> y t = z t) (agree M y z).
Proof. by apply: (iffP forallP) => H t; [move=> Mt; apply/eqP; have /implyP := H t; apply
  | apply/implyP => Mt; apply/eqP/H]. Qed.

Lemma agree_eq M y z : agree M y z -> agree M ^~ y =1 agree M ^~ z.
Proof.
move/agreeP => e u; apply/agreeP/agreeP => a t Mt; first by rewrite a // e.
by rewrite a // -e.
Qed.

Lemma agree_sym M y z : agree M y z = agree M z y.
Proof. by apply: eq_forallb => t; rewrite eq_sym. Qed.

Lemma marg_local P M : local_to M (marg P M).
Proof. by move=> y z /agree_eq e; apply: eq_bigl => u; apply: e. Qed.

(* block Fubini *)
Section Fubini.
Variables (y : Om) (A : pred (option I)) (G : option I -> Om -> R).
Hypothesis Gl : forall j, local_to (inb j) (G j).
Definition mass j := \sum_(u | agree (off j) u y) G j u.

Let split_ z : {ffun option I -> Om} :=
  [ffun j => if A j then [ffun t => if blk t == j then z t else y t] else y].
Let glue (f : {ffun option I -> Om}) : Om := [ffun t => f (blk t) t].

Lemma fubini : \sum_(z | agree (fun t => ~~ A (blk t)) z y) \prod_(j | A j) G j z = \prod_(j | A j) mass j.
Proof.
rewrite /mass (big_distr_big_dep y) /=.
rewrite (reindex_onto split_ glue) /= => [|f /pfamilyP[fs fA]]; last first.
  apply/ffunP => j; rewrite ffunE; case: ifP => Aj; last first.
    by apply/esym/eqP; apply: contraFT Aj => fj; apply: (subsetP fs) => /=; rewrite inE.
  apply/ffunP => t; rewrite !ffunE; case: eqP => [->//|/eqP bt].
  by have /agreeP/(_ t bt) := fA j Aj.
apply: eq_big => [z|z /agreeP az]; last first.
  apply: eq_bigr => j Aj; apply: Gl; apply/agreeP => t /eqP bt.
  by rewrite ffunE Aj ffunE bt eqxx.
apply/agreeP/andP => [az|[_ /eqP <-] t nA]; last by rewrite !ffunE (negPf nA).
split; last first.
  apply/eqP/ffunP => t; rewrite !ffunE; case: ifP => [_|/negbT/az->//].
  by rewrite ffunE eqxx.
apply/pfamilyP; split=> [|j Aj].
  by apply/subsetP => j; rewrite inE ffunE; case: ifP => //; rewrite eqxx.
have {}Aj : A j := Aj.
by rewrite ffunE Aj; apply/agreeP => t /negPf bt; rewrite ffunE bt.
Qed.
End Fubini.

Lemma mass_marg y P j : mass y (fun j => marg P (inb j)) j = \sum_z P z.
Proof.
rewrite /mass /marg (exchange_big_dep xpredT) //=; apply: eq_bigr => z _.
rewrite (big_pred1 [ffun t => if blk t == j then z t else y t]) // => u /=.
apply/andP/eqP => [[/agreeP uy /agreeP zu]|->].
  apply/ffunP => t; rewrite ffunE; case: ifP => [bt|/negbT bt]; first by rewrite zu.
  by rewrite uy.
by split; apply/agreeP => t; rewrite /off /inb ffunE; [move/negPf->|move->].
Qed.

(* marginals of a product of block-local factors *)
Lemma marg_prod (G : option I -> Om -> R) j0 y : (forall j, local_to (inb j) (G j)) ->
  marg (fun z => \prod_j G j z) (inb j0) y = G j0 y * \prod_(j | j != j0) mass y G j.
Proof.
move=> Gl; rewrite -(fubini y (predC1 j0) Gl) mulr_sumr.
apply: eq_big => [z|z a]; first by apply: eq_forallb => t; rewrite /inb /= negbK.
by rewrite (bigD1 j0) //= (Gl j0 z y a).
Qed.

Lemma marg_prod_off (G : option I -> Om -> R) j0 y : (forall j, local_to (inb j) (G j)) ->
  marg (fun z => \prod_j G j z) (off j0) y = \prod_(j | j != j0) G j y * mass y G j0.
Proof.
move=> Gl; rewrite /mass mulr_sumr; apply: eq_bigr => z a; rewrite (bigD1 j0) //= mulrC.
congr (_ * _); apply: eq_bigr => j jj0; apply: Gl; apply/agreeP => t /eqP bt.
by have /agreeP := a; apply; rewrite /off bt.
Qed.

(* Definition 2.1 *)
Variables (Pb : Om -> R) (Pe : I -> Om -> R).
Definition FCa := forall y, Pb y = \prod_j marg Pb (inb j) y.
Definition FCb := forall i y, Pe i y = marg (Pe i) (inb (Some i)) y * marg Pb (off (Some i)) y.
Definition FCc := forall i y, marg Pb (inb (Some i)) y = 0 -> marg (Pe i) (inb (Some i)) y = 0.

Definition tgt j := if j is Some i then marg (Pe i) (inb (Some i)) else marg Pb (inb None).

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
case: j => [i|]; first by rewrite -[RHS](Pe1 i) -(mass_marg y (Pe i) (Some i)).
by rewrite -[RHS]Pb1 -(mass_marg y Pb None).
Qed.

Lemma big_option (F : option I -> R) : \prod_j F j = F None * \prod_i F (Some i).
Proof.
rewrite (bigD1 None) //=; congr (_ * _).
rewrite (reindex_omap Some id) /=; last by case.
by apply: eq_bigl => i; rewrite eqxx.
Qed.

(* Theorem 2.2 (global): W is the product of the blocks' own marginals, Z_G = 1, projective *)
Theorem fc_product y : gW Pb Pe y = \prod_j tgt j y.
Proof.
have PeE i : Pe i y * marg Pb (inb (Some i)) y = marg (Pe i) (inb (Some i)) y * Pb y.
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
rewrite /gZ; under eq_bigr do rewrite fc_product.
rewrite (eq_bigl (fun z => agree (fun t => ~~ predT (blk t)) z y0)) => [|z]; last first.
  by apply/esym/agreeP.
rewrite (fubini y0 predT tgt_local) big1 // => j _; exact: tgt_mass.
Qed.

Theorem fc_law y : gcomp Pb Pe y = \prod_j tgt j y.
Proof. by rewrite /gcomp fc_Z1 divr1 fc_product. Qed.

Theorem fc_projective j y : marg (gcomp Pb Pe) (inb j) y = tgt j y.
Proof.
rewrite /marg; under eq_bigr do rewrite fc_law.
by rewrite -/(marg _ _ _) marg_prod ?big1 ?mulr1 // => [k _|k]; [apply: tgt_mass|apply: tgt_local].
Qed.
End FC.
