(* theory.md 2.11 (robust FC, global).  Without exponentials: the factors G = e^g; an oscillation osc(log F) <= o on the support of
   the target is F in [m, c^2 m] there, with c = e^{o/2}, and tanh(o/4) = (c - 1)/(c + 1), as in robust.v. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting total_variation marginals laws masks robust.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Robust.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I).
Local Notation Om := {ffun X -> V}.
Local Notation inb := (inb blk).
Implicit Types y z : Om.

(* laws of the blocks: nu_j of M_j under the background's reference, mu_i of M_i under the i-th expert's *)
Variables (nu : option I -> Om -> R) (mu : I -> Om -> R).
Definition wanted j : Om -> R := if j is Some i then mu i else nu None.
Hypotheses (nu0 : forall j y, 0 <= nu j y) (mu0 : forall i y, 0 <= mu i y).
Hypothesis wanted_local : forall j, local_to (inb j) (wanted j).
Hypothesis wanted_mass : forall y j, mass blk y wanted j = 1.
Hypothesis ac : forall i y, nu (Some i) y = 0 -> mu i y = 0.                (* P_i^{M_i} << P_b^{M_i} *)
(* "Π_b = ⊗_j ν_j, Π_i = μ_i ⊗ ⊗_{j != i} ν_j"; the target is ν_b ⊗ ⊗_i μ_i *)
Definition ref_b y := \prod_j nu j y.
Definition ref_i i y := mu i y * \prod_(j | j != Some i) nu j y.
Definition aim y := \prod_j wanted j y.
(* "P_b = Π_b e^{g_b}, P_i = Π_i e^{g_i}, supp P_b = supp Π_b, supp P_i = supp Π_i" *)
Variables (Gb : Om -> R) (Ge : I -> Om -> R).
Hypotheses (Gb0 : forall y, ref_b y != 0 -> 0 < Gb y) (Ge0 : forall i y, ref_i i y != 0 -> 0 < Ge i y).
Local Notation Pb := (fun y => ref_b y * Gb y).
Local Notation Pe := (fun i y => ref_i i y * Ge i y).
(* exp(sum_i g_i - (k-1) g_b) *)
Definition bend y := Gb y * \prod_i (Ge i y / Gb y).

Lemma bendE y : (0 < #|I|)%N -> 0 < Gb y -> bend y = \prod_i Ge i y / Gb y ^+ #|I|.-1.
Proof.
move=> k0 g0; rewrite /bend big_split /= mulrCA; congr (_ * _).
rewrite prodr_const cardT -cardE exprVn; case: #|I| k0 => // k _.
by rewrite [k.+1.-1]/= exprS invfM mulrA divff ?mul1r // gt_eqF.
Qed.

Lemma aim_ref y : aim y != 0 -> ref_b y != 0 /\ forall i, ref_i i y != 0.
Proof.
rewrite /aim => /prodf_neq0 an.
have nn j : nu j y != 0.
  by have := an j isT; case: j => [i|//]; apply: contraNneq => /ac /= ->.
split=> [|i]; first exact/prodf_neq0.
rewrite mulf_neq0 //; first exact: (an (Some i)).
by apply/prodf_neq0 => j _.
Qed.

(* on the support of the target the bend is positive: its oscillation is finite *)
Lemma bend_gt0 y : aim y != 0 -> 0 < bend y.
Proof.
move=> /aim_ref[rb re]; have gb := Gb0 rb; rewrite mulr_gt0 //.
by apply: prodr_gt0 => i _; rewrite divr_gt0 // Ge0.
Qed.

Lemma aim_ge0 y : 0 <= aim y.
Proof. by apply: prodr_ge0 => -[i|] _; [apply: mu0|apply: nu0]. Qed.

Lemma aim_sum (y0 : Om) : \sum_y aim y = 1.
Proof.
rewrite (eq_bigl (fun z => agree (fun t => ~~ predT (blk t)) z y0)) => [|z]; last by apply/esym/agreeP.
by rewrite (fubini y0 predT wanted_local) big1.
Qed.

(* "P_G ∝ target · exp(sum_i g_i - (k-1) g_b)" *)
Theorem theorem_2_11_weight y : gW Pb Pe y = aim y * bend y.
Proof.
have -> : aim y = ref_b y * \prod_i (ref_i i y / ref_b y).
  rewrite (weight_algebra (B := nu^~ y) (A := mu^~ y)) // => [|i]; last exact: ac.
  by rewrite /aim big_option.
rewrite /gW /bend mulrACA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
by rewrite mulf_div.
Qed.

Theorem theorem_2_11_global y : gcomp Pb Pe y = tilted aim bend y.
Proof. by rewrite /gcomp /tilted /gZ theorem_2_11_weight (eq_bigr _ (fun z _ => theorem_2_11_weight z)). Qed.

(* "so TV(P_G, target) <= tanh(osc(sum g_i - (k-1) g_b)/4)", "osc over the support of the target" *)
Theorem theorem_2_11 (m c : R) : 0 < m -> 1 <= c -> (forall y, aim y != 0 -> m <= bend y <= c * c * m) ->
  (exists y : Om, true) -> TV (gcomp Pb Pe) aim <= (c - 1) / (c + 1).
Proof.
move=> m0 c1 Fb [y0 _]; rewrite TVC /TV (eq_bigr (fun y => `|aim y - tilted aim bend y|)) => [|y _].
  exact: (lemma_8_1_tv aim_ge0 (aim_sum y0) m0 c1 Fb).
by rewrite theorem_2_11_global.
Qed.

(* "If all experts inherit the same dependence (g_i = g_b) the exponent is g_b for every k" *)
Theorem theorem_2_11_inherited y : (forall i, Ge i y = Gb y) -> Gb y != 0 -> bend y = Gb y.
Proof. by move=> e g0; rewrite /bend big1 ?mulr1 // => i _; rewrite e divff. Qed.
End Robust.

(* the references of theory.md: the marginals of the models themselves; the target is that of 2.2 *)
Section Marginals.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I).
Local Notation Om := {ffun X -> V}.
Variables (Pb : Om -> R) (Pe : I -> Om -> R).
Hypotheses (Pb0 : forall y, 0 <= Pb y) (Pe0 : forall i y, 0 <= Pe i y).
Hypotheses (Pb1 : \sum_y Pb y = 1) (Pe1 : forall i, \sum_y Pe i y = 1) (c : FCc blk Pb Pe).
Local Notation nu := (fun j => marg Pb (inb blk j)).
Local Notation mu := (fun i => marg (Pe i) (inb blk (Some i))).
Lemma marg_ge0 (P : Om -> R) M y : (forall z, 0 <= P z) -> 0 <= marg P M y.
Proof. by move=> P0; apply: sumr_ge0. Qed.

Theorem theorem_2_11_marginals (Gb : Om -> R) (Ge : I -> Om -> R) (m k : R) :
  (forall y, Pb y = ref_b nu y * Gb y) -> (forall i y, Pe i y = ref_i nu mu i y * Ge i y) ->
  0 < m -> 1 <= k -> (forall y, target blk Pb Pe y != 0 -> m <= bend Gb Ge y <= k * k * m) ->
  TV (gcomp Pb Pe) (target blk Pb Pe) <= (k - 1) / (k + 1).
Proof.
move=> eb ee m0 k1 Fb.
have [y0 _|none] := pickP (@predT Om); last first.
  by move: Pb1 (oner_neq0 R) => <-; rewrite big1 ?eqxx // => y; have := none y.
have w j : wanted nu mu j = tgt blk Pb Pe j by case: j.
have -> : TV (gcomp Pb Pe) (target blk Pb Pe) =
    TV (gcomp (fun y => ref_b nu y * Gb y) (fun i y => ref_i nu mu i y * Ge i y)) (aim nu mu).
  have eW y : gW Pb Pe y = gW (fun y => ref_b nu y * Gb y) (fun i y => ref_i nu mu i y * Ge i y) y.
    by rewrite /gW eb; congr (_ * _); apply: eq_bigr => i _; rewrite ee.
  by rewrite /TV /gcomp /gZ; congr (_ * _); apply: eq_bigr => y _; rewrite eW (eq_bigr _ (fun z _ => eW z)).
refine (theorem_2_11 (blk := blk) _ _ _ _ _ m0 k1 Fb (ex_intro _ y0 isT)) => //.
- by move=> j y; apply: marg_ge0.
- by move=> i y; apply: marg_ge0.
- by move=> j; rewrite w; apply: tgt_local.
by move=> y j; rewrite -(tgt_mass blk Pb1 Pe1 y j) /mass; apply: eq_bigr => u _; rewrite w.
Qed.
End Marginals.
