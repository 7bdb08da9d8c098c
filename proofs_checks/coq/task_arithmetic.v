(* theory.md 9.1: in a model whose logits are affine in its parameters, adding task vectors is local composition. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import exponential setting composition weights.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section TaskArithmetic.
Variables (R : realFieldType) (E : exponential R) (V I : finType).
Local Notation dist := (dist R V).
Local Notation kernel := (kernel R V).

Definition softmax (z : V -> R) : dist := [ffun y => E (z y) / \sum_u E (z u)].

Lemma mass_gt0 (z : V -> R) (y : V) : 0 < \sum_u E (z u).
Proof.
by rewrite (bigD1 y) //= ltr_paddr ?expo_gt0 // sumr_ge0 // => u _; rewrite ltW ?expo_gt0.
Qed.
Lemma softmax_gt0 z y : 0 < softmax z y.
Proof. by rewrite ffunE divr_gt0 ?expo_gt0 ?(mass_gt0 z y). Qed.
Lemma softmax_dist z (y : V) : is_dist (softmax z).
Proof.
split=> [u|]; first by rewrite ltW ?softmax_gt0.
by under eq_bigr do rewrite ffunE; rewrite -mulr_suml divff ?gt_eqF ?(mass_gt0 z y).
Qed.

(* a softmax forgets a shift, and nothing else *)
Lemma softmax_shift (z z' : V -> R) k : (forall y, z' y = z y + k) -> softmax z' = softmax z.
Proof.
move=> e; apply/ffunP => y; rewrite !ffunE e expoD.
have -> : \sum_u E (z' u) = (\sum_u E (z u)) * E k by rewrite mulr_suml; apply: eq_bigr => u _; rewrite e expoD.
by rewrite -mulf_div divff ?expo_neq0 // mulr1.
Qed.

Lemma softmax_eq (z z' : V -> R) : softmax z' = softmax z <-> exists k, forall y, z' y = z y + k.
Proof.
split=> [e|[k]]; last exact: softmax_shift.
have [y0 _|V0] := pickP (xpredT : pred V); last by exists 0 => y; have := V0 y.
have N0 (x : V -> R) : 0 < \sum_u E (x u) by apply: (mass_gt0 x y0).
exists (loga E ((\sum_u E (z' u)) / \sum_u E (z u))) => y; apply: (@expo_inj _ E).
rewrite expoD logaK ?divr_gt0 //; have /ffunP/(_ y) := e; rewrite !ffunE.
by move/(canRL (divfK (lt0r_neq0 (N0 z')))) => ->; rewrite mulrAC mulrA.
Qed.

(* local composition with weights adds up the logits, relative to the background's *)
Definition composed_logits (lambda : I -> R) (zb : V -> R) (z : I -> V -> R) y := zb y + \sum_i lambda i * (z i y - zb y).

Lemma weighted_softmax lambda zb z :
  weighted_norm E lambda (softmax zb) (fun i => softmax (z i)) = softmax (composed_logits lambda zb z).
Proof.
apply/ffunP => y0; pose N (x : V -> R) := \sum_u E (x u).
have N0 x : 0 < N x by apply: (mass_gt0 _ y0).
pose K := (N zb)^-1 * \prod_i power E (lambda i) (N zb / N (z i)).
have Kn : K != 0.
  rewrite mulf_neq0 ?invr_eq0 ?gt_eqF //; apply: prodr_gt0 => i _.
  by rewrite power_gt0 // divr_gt0.
have wE y : weighted E lambda (softmax zb) (fun i => softmax (z i)) y = E (composed_logits lambda zb z y) * K.
  have r i : softmax (z i) y / softmax zb y = E (z i y - zb y) * (N zb / N (z i)).
    by rewrite !ffunE -!/(N _) expoB invfM invrK mulrACA [_^-1 * N _]mulrC.
  rewrite /weighted expoD expo_sum {1}ffunE -/(N _) mulrACA -big_split /=; congr (_ * _).
  apply: eq_bigr => i _; rewrite r powerM ?power_expo // ltW ?expo_gt0 //.
  by rewrite divr_gt0.
by rewrite !ffunE wE (eq_bigr _ (fun u _ => wE u)) -mulr_suml invfM mulrACA divff // mulr1.
Qed.

(* 9.1: "Converse direction of equivalence holds up to logit shift per prefix": logits z sample from the composition iff they
   are z_b + sum_i lambda_i (z_i - z_b) up to a constant *)
Theorem theorem_9_1_converse lambda (zb z : V -> R) (zs : I -> V -> R) :
  softmax z = weighted_norm E lambda (softmax zb) (fun i => softmax (zs i)) <->
  exists k, forall y, z y - (zb y + \sum_i lambda i * (zs i y - zb y)) = k.
Proof.
rewrite weighted_softmax softmax_eq /composed_logits.
split=> -[k e]; exists k => y; first by rewrite e [LHS]addrC addKr.
by rewrite -(e y) [RHS]addrC subrK.
Qed.

Definition weighted_comp lambda (b : kernel) (p : I -> kernel) : kernel := fun h =>
  weighted_norm E lambda (b h) (fun i => p i h).

(* z_theta(h) = c(h) + J(h) theta *)
Variables (Theta : lmodType R) (c0 : seq V -> V -> R) (J : seq V -> V -> {linear Theta -> R^o}).
Definition logits theta h y := c0 h y + J h y theta.
Definition model theta : kernel := fun h => softmax (logits theta h).
Variables (theta_b : Theta) (tau : I -> Theta).

(* 9.1: "softmax z_{theta_b + sum lambda_i tau_i} = local composition with weights lambda_i, for each prefix exactly" *)
Theorem theorem_9_1 (lambda : I -> R) h :
  model (theta_b + \sum_i lambda i *: tau i) h =
  weighted_comp lambda (model theta_b) (fun i => model (theta_b + tau i)) h.
Proof.
rewrite /weighted_comp weighted_softmax; apply: (softmax_shift (k := 0)) => y; rewrite addr0.
rewrite /composed_logits /logits !linearD linear_sum addrA; congr (_ + _).
by apply: eq_bigr => i _; rewrite linearZ linearD addrA [_ + J h y (tau i)]addrC addrK.
Qed.
End TaskArithmetic.
