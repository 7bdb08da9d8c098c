(* theory.md 2, notation: the marginal Q^M of a mass function on V^X, and products of functions of disjoint blocks.
   X is the finite set of positions; blk t = Some i for t in M_i and None for t in M_b. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Marginals.
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

Lemma agree_all y z : agree xpredT z y = (z == y).
Proof. by apply/agreeP/eqP => [e|->//]; apply/ffunP => t; apply: e. Qed.

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


(* a mass function that is a product of functions of the blocks is the product of its marginals *)
Section Product.
Variables (P : Om -> R) (G : option I -> Om -> R).
Hypotheses (Gl : forall j, local_to (inb j) (G j)) (PG : forall y, P y = \prod_j G j y) (P1 : \sum_y P y = 1).

Lemma prod_mass y : \prod_j mass y G j = 1.
Proof.
apply: etrans (esym (fubini y predT Gl)) _; apply: (etrans _ P1).
apply: eq_big => [z|z _]; last by rewrite PG.
by apply/agreeP => t; rewrite /=.
Qed.

Lemma mass_inv y j : \prod_(k | k != j) mass y G k = (mass y G j)^-1.
Proof.
have := prod_mass y; rewrite (bigD1 j) //= => m1.
have mn : mass y G j != 0 by apply: contra_eq_neq m1 => ->; rewrite mul0r eq_sym oner_eq0.
by apply: (mulfI mn); rewrite m1 divff.
Qed.

Lemma product_marginals y : P y = \prod_j marg P (inb j) y.
Proof.
rewrite PG [RHS](eq_bigr (fun j => G j y / mass y G j)) => [|j _]; last first.
  by rewrite -mass_inv -marg_prod //; apply: eq_bigr => z _; apply: PG.
by rewrite big_split /= prodfV prod_mass invr1 mulr1.
Qed.
End Product.

(* two such mass functions that differ in one block only *)
Lemma product_replaced (P Q : Om -> R) (G G' : option I -> Om -> R) k :
  (forall j, local_to (inb j) (G j)) -> (forall j, local_to (inb j) (G' j)) ->
  (forall y, P y = \prod_j G j y) -> (forall y, Q y = \prod_j G' j y) -> \sum_y P y = 1 -> \sum_y Q y = 1 ->
  (forall j, j != k -> G' j =1 G j) -> forall y, Q y = marg Q (inb k) y * marg P (off k) y.
Proof.
move=> Gl Gl' PE QE P1 Q1 ek y.
have -> : marg Q (inb k) y = G' k y / mass y G' k.
  by rewrite -(mass_inv Gl' QE Q1) -marg_prod //; apply: eq_bigr => z _; apply: QE.
have -> : marg P (off k) y = \prod_(j | j != k) G j y * mass y G k.
  by rewrite -marg_prod_off //; apply: eq_bigr => z _; apply: PE.
have -> : mass y G k = mass y G' k.
  apply: invr_inj; rewrite -(mass_inv Gl' QE Q1) -(mass_inv Gl PE P1); apply: eq_bigr => j jk.
  by apply: eq_bigr => z _; rewrite ek.
rewrite mulrACA [X in _ * X]mulrC divff ?mulr1; last first.
  have := prod_mass Gl' QE Q1 y.
  by rewrite (bigD1 k) //= => m1; apply: contra_eq_neq m1 => ->; rewrite mul0r eq_sym oner_eq0.
rewrite QE (bigD1 k) //=; congr (_ * _); apply: eq_bigr => j jk.
by rewrite ek.
Qed.
End Marginals.

Lemma big_option (R : comRingType) (J : finType) (F : option J -> R) : \prod_j F j = F None * \prod_i F (Some i).
Proof.
rewrite (bigD1 None) //=; congr (_ * _).
rewrite (reindex_omap Some id) /=; last by case.
by apply: eq_bigl => i; rewrite eqxx.
Qed.

Lemma prod_Some (R : comRingType) (J : finType) (F : option J -> R) :
  \prod_(j | predC1 None j) F j = \prod_j F (Some j).
Proof.
rewrite (reindex_omap Some id) /=; last by case.
by apply: eq_bigl => j; rewrite eqxx.
Qed.

(* prefix marginal of a product of block-local factors is again such a product *)
Section Trunc.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I) (A : pred X).
Local Notation Om := {ffun X -> V}.
Variable (G : option I -> Om -> R).
Hypothesis Gl : forall j, local_to (inb blk j) (G j).
(* integrate out the part of block j outside A *)
Definition tr j (y : Om) := \sum_(u | agree (fun t => A t || (blk t != j)) u y) G j u.

Let blk' t : option (option I) := if A t then None else Some (blk t).
Lemma marg_trunc y : marg (fun z => \prod_j G j z) A y = \prod_j tr j y.
Proof.
pose gl (z : Om) : Om := [ffun t => if A t then y t else z t].
pose G' (j : option (option I)) z := if j is Some j then G j (gl z) else 1.
have G'l j : local_to (inb blk' j) (G' j).
  case: j => [j|] // z u /agreeP e; apply: Gl; apply/agreeP => t /eqP bt.
  rewrite !ffunE; case At: (A t) => //; apply: e; by rewrite /inb /blk' At bt.
have := fubini y (predC1 None) G'l; rewrite prod_Some => H.
transitivity (\prod_j mass blk' y G' (Some j)); last first.
  apply: eq_bigr => j _; apply: eq_big => [z|z /agreeP az].
    by apply: eq_forallb => t; rewrite /off /blk'; case: (A t).
  apply: Gl; apply/agreeP => t bt; rewrite ffunE; case At: (A t) => //.
  by rewrite az // /off /blk' At.
rewrite -H; apply: eq_big => [z|z /agreeP az].
  by apply: eq_forallb => t; rewrite /= /blk'; case: (A t).
rewrite prod_Some; apply: eq_bigr => j _; congr (G j _); apply/ffunP => t; rewrite ffunE.
by case At: (A t) => //; apply: az.
Qed.
End Trunc.

