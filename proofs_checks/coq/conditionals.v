(* theory.md 0.1: every law on V^T is that of an AR model, the kernels being its conditionals (any model where it has none). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Conditionals.
Variables (R : realFieldType) (V : finType) (T : nat) (P : {ffun 'I_T -> V} -> R) (q : kernel R V).
Local Notation Om := {ffun 'I_T -> V}.
Hypotheses (mq : is_model q) (P0 : forall y, 0 <= P y) (P1 : \sum_y P y = 1).

Definition prefix_mass h := \sum_(y : Om | take (size h) (word y) == h) P y.
Definition conditional : kernel R V := fun h =>
  if (size h < T)%N && (prefix_mass h != 0) then [ffun a => prefix_mass (rcons h a) / prefix_mass h] else q h.

Lemma prefix_mass_ge0 h : 0 <= prefix_mass h. Proof. exact: sumr_ge0. Qed.

Lemma prefix_mass_next h : (size h < T)%N -> \sum_a prefix_mass (rcons h a) = prefix_mass h.
Proof.
move=> hT; rewrite /prefix_mass [RHS](partition_big (fun y : Om => y (Ordinal hT)) xpredT) //=.
apply: eq_bigr => a _; apply: eq_bigl => y; rewrite size_rcons word_next eqseq_rcons //.
Qed.

Lemma conditional_model : is_model conditional.
Proof.
move=> h; rewrite /conditional; case: ifP => // /andP[hT nz]; split=> [a|].
  by rewrite ffunE divr_ge0 ?prefix_mass_ge0.
under eq_bigr do rewrite ffunE; by rewrite -mulr_suml prefix_mass_next // divff.
Qed.

Lemma conditional_law_prefix h : (size h <= T)%N -> law conditional [::] h = prefix_mass h.
Proof.
elim/last_ind: h => [_|h a IH]; first by rewrite /prefix_mass /= -P1; apply: eq_bigl => y; rewrite take0.
rewrite size_rcons => hT; rewrite law_rcons IH ?(ltnW hT) //= /conditional hT /=.
have [z|nz] /= := eqVneq (prefix_mass h) 0; last by rewrite ffunE mulrC divfK.
rewrite z mul0r; move: z; rewrite -(prefix_mass_next hT) => z.
by rewrite (psumr_eq0P (fun x _ => prefix_mass_ge0 (rcons h x)) z).
Qed.

Lemma conditional_law (y : Om) : Law conditional y = P y.
Proof.
rewrite /Law conditional_law_prefix ?size_tuple // /prefix_mass (eq_bigl (fun z => z == y)) => [|z].
  by rewrite big_pred1_eq.
have <- : agree (upto T) z y = (z == y).
  by rewrite -agree_all; apply: eq_forallb => t; rewrite /upto ltn_ord.
by rewrite agree_take size_tuple !word_take.
Qed.

Lemma conditional_full (v : V) : (forall y, 0 < P y) -> (forall h a, 0 < q h a) -> forall h a, 0 < conditional h a.
Proof.
move=> Pp qp h a; rewrite /conditional; case: ifP => // /andP[hT nz].
have pos g : (size g <= T)%N -> 0 < prefix_mass g.
  move=> gT; have [y ey] := word_of v gT; rewrite /prefix_mass (bigD1 y) ?ey //=.
  by rewrite ltr_paddr // sumr_ge0.
by rewrite ffunE divr_gt0 // pos ?size_rcons // ltnW.
Qed.
End Conditionals.
