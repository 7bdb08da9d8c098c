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

(* 9.1: "Converse direction of equivalence holds up to logit shift per prefix" *)
Theorem theorem_9_1_converse (z z' : V -> R) (y0 : V) :
  softmax z' = softmax z <-> exists k, forall y, z' y = z y + k.
Proof.
split=> [e|[k]]; last exact: softmax_shift.
have N0 (x : V -> R) : 0 < \sum_u E (x u) by apply: (mass_gt0 x y0).
exists (loga E ((\sum_u E (z' u)) / \sum_u E (z u))) => y; apply: (@expo_inj _ E).
rewrite expoD logaK ?divr_gt0 //; have /ffunP/(_ y) := e; rewrite !ffunE.
by move/(canRL (divfK (lt0r_neq0 (N0 z')))) => ->; rewrite mulrAC mulrA.
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
apply/ffunP => y0; pose N theta := \sum_u E (logits theta h u).
have N0 theta : 0 < N theta by apply: (mass_gt0 _ y0).
pose K := (N theta_b)^-1 * \prod_i power E (lambda i) (N theta_b / N (theta_b + tau i)).
have Kn : K != 0.
  rewrite mulf_neq0 ?invr_eq0 ?gt_eqF //; apply: prodr_gt0 => i _.
  by rewrite power_gt0 // divr_gt0.
have wE y : weighted E lambda (model theta_b h) (fun i => model (theta_b + tau i) h) y =
    E (logits (theta_b + \sum_i lambda i *: tau i) h y) * K.
  have -> : logits (theta_b + \sum_i lambda i *: tau i) h y =
      logits theta_b h y + \sum_i lambda i * J h y (tau i).
    rewrite /logits !linearD linear_sum addrA; congr (_ + _).
    by apply: eq_bigr => i _; rewrite linearZ.
  have r i : model (theta_b + tau i) h y / model theta_b h y =
      E (J h y (tau i)) * (N theta_b / N (theta_b + tau i)).
    rewrite !ffunE -!/(N _) /logits linearD addrA expoD -/(logits _ _ _).
    rewrite invfM invrK mulrACA [_^-1 * N _]mulrC; congr (_ * _).
    by rewrite [E (logits _ _ _) * _]mulrC mulfK ?expo_neq0.
  rewrite /weighted expoD expo_sum {1}ffunE -/(N _) mulrACA -big_split /=; congr (_ * _).
  apply: eq_bigr => i _; rewrite r powerM ?power_expo // ltW ?expo_gt0 //.
  by rewrite divr_gt0.
rewrite !ffunE wE (eq_bigr _ (fun u _ => wE u)) -mulr_suml invfM mulrACA divff // mulr1 //.
Qed.
End TaskArithmetic.
