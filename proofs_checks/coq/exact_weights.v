(* theory.md 11.4 (which weights are exact), at one prefix, all models with one support. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import exponential setting composition weights.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ExactWeights.
Variables (R : realFieldType) (E : exponential R) (V I : finType).
Variables (b : dist R V) (p : I -> dist R V).
Hypotheses (db : is_dist b) (dp : forall i, is_dist (p i)).
(* "Common support" *)
Hypothesis common : forall i y, (p i y == 0) = (b y == 0).
Local Notation supp y := (b y != 0).

(* log r_j, and log r_a with "a = b: log r_b = 0" *)
Definition log_ratio i y := loga E (p i y / b y).
Definition log_component (a : option I) y := if a is Some i then log_ratio i y else 0.
Definition component_row (a : option I) := if a is Some i then p i else b.
Definition constant_on_support (f : V -> R) := exists k, forall y, supp y -> f y = k.
Definition exact_weights (lambda : I -> R) a := weighted_norm E lambda b p = component_row a.

Let b0 y : supp y -> 0 < b y. Proof. by move=> n; rewrite lt_def n db.1. Qed.
Let r0 i y : supp y -> 0 < p i y / b y.
Proof. by move=> n; rewrite divr_gt0 ?b0 // lt_def common n (dp i).1. Qed.

Lemma weighted_expo lambda y : supp y ->
  weighted E lambda b p y = b y * E (\sum_j lambda j * log_ratio j y).
Proof.
by move=> n; rewrite /weighted expo_sum; congr (_ * _); apply: eq_bigr => j _; rewrite powerE ?r0.
Qed.

Lemma component_expo a y : supp y -> component_row a y = b y * E (log_component a y).
Proof.
move=> n; case: a => [i|] /=; last by rewrite expo0 mulr1.
by rewrite logaK ?r0 // mulrCA divff // mulr1.
Qed.

Lemma component_dist a : is_dist (component_row a).
Proof. by case: a => [i|]; [apply: dp|apply: db]. Qed.

(* 11.4: "p^_lambda(.|h) = p_a(.|h) iff sum_j lambda_j log r_j - log r_a is constant on the support" *)
Theorem proposition_11_4 lambda a : exact_weights lambda a <->
  constant_on_support (fun y => \sum_j lambda j * log_ratio j y - log_component a y).
Proof.
set N := \sum_u weighted E lambda b p u; split=> [e|[k ek]].
  have [z zn _] := dist_support db.
  have N0 : 0 < N.
    have wz y : supp y -> 0 < weighted E lambda b p y by move=> n; rewrite weighted_expo // mulr_gt0 ?b0 ?expo_gt0.
    rewrite /N (bigD1 z) //= ltr_paddr ?wz // sumr_ge0 // => u _.
    have [bu|/wz/ltW //] := eqVneq (b u) 0; by rewrite /weighted bu mul0r.
  exists (loga E N) => y n; apply: (@expo_inj _ E); rewrite expoB logaK //.
  have /ffunP/(_ y) := e; rewrite ffunE -/N component_expo // weighted_expo // -mulrA => /(mulfI n).
  by move/(canRL (divfK (lt0r_neq0 N0))) => ->; rewrite mulrAC divff ?expo_neq0 // mul1r.
apply: (@norm_proportional _ _ (component_row a) _ (E k)); rewrite ?expo_neq0 //; first exact: component_dist.
move=> y; have [bz|n] := eqVneq (b y) 0.
  have -> : component_row a y = 0 by case: (a) => [i|] //=; apply/eqP; rewrite common bz.
  by rewrite /weighted bz !mul0r.
by rewrite weighted_expo // component_expo // -mulrA -expoD -(ek y n) addrC subrK.
Qed.

(* "i.e. lambda - e_a in ker L(h), L(h) = columns log r_j(.|h) modulo constants" *)
Theorem proposition_11_4_kernel lambda a : exact_weights lambda a <->
  constant_on_support (fun y => \sum_j (lambda j - (Some j == a)%:R) * log_ratio j y).
Proof.
rewrite proposition_11_4; have e y : \sum_j lambda j * log_ratio j y - log_component a y =
    \sum_j (lambda j - (Some j == a)%:R) * log_ratio j y.
  under [RHS]eq_bigr do rewrite mulrBl; rewrite sumrB; congr (_ - _).
  case: a => [i|] /=; last by rewrite big1 // => j _; rewrite mul0r.
  rewrite (bigD1 i) //= eqxx mul1r big1 ?addr0 // => j /negPf ji.
  by rewrite (inj_eq Some_inj) ji mul0r.
by split=> -[k ek]; exists k => y n; rewrite -(ek y n) e.
Qed.

(* the deviators' log-ratios are independent modulo constants *)
Definition independent := forall mu : I -> R,
  constant_on_support (fun y => \sum_(j | p j != b) mu j * log_ratio j y) -> forall j, p j != b -> mu j = 0.

Lemma log_ratio0 j y : p j == b -> supp y -> log_ratio j y = 0.
Proof. by move/eqP => e n; rewrite /log_ratio e divff // ln1. Qed.

(* 11.4: "If the deviators' log-ratios are independent modulo constants: iff lambda_a = 1 and lambda_j = 0 for the other
   deviators"; the lambda of an expert that does not deviate is free, and a = b asks for 0 at every deviator *)
Theorem proposition_11_4_independent lambda a : independent ->
  exact_weights lambda a <-> forall j, p j != b -> lambda j = (Some j == a)%:R.
Proof.
move=> ind; rewrite proposition_11_4_kernel.
have e y : supp y -> \sum_j (lambda j - (Some j == a)%:R) * log_ratio j y =
    \sum_(j | p j != b) (lambda j - (Some j == a)%:R) * log_ratio j y.
  move=> n; rewrite [RHS]big_mkcond; apply: eq_bigr => j _; case: ifP => // /negbFE pj.
  by rewrite log_ratio0 // mulr0.
split=> [[k ek] j dj|l]; last first.
  by exists 0 => y n; rewrite e // big1 // => j dj; rewrite l // subrr mul0r.
apply/eqP; rewrite -subr_eq0; apply/eqP; apply: (ind (fun j => lambda j - (Some j == a)%:R)) dj.
by exists k => y n; rewrite -e // ek.
Qed.

(* 11.4: "if some h has two deviators with log-ratios independent modulo constants, no vector of positive weights is exact
   there": all deviators' log-ratios independent, at least two of them (exactly two suffices; with a third that depends on
   the others it is false) *)
Theorem proposition_11_4_two lambda i j : independent -> i != j -> p i != b -> p j != b ->
  (forall l, 0 < lambda l) -> forall a, ~ exact_weights lambda a.
Proof.
move=> ind ij di dj l0 a /(proposition_11_4_independent lambda a ind) l.
have one k : p k != b -> Some k = a.
  move=> dk; apply/eqP; apply: contraT => ka; have := l0 k.
  by rewrite l // (negPf ka) ltxx.
by move: ij; rewrite -(inj_eq Some_inj) (one i di) (one j dj) eqxx.
Qed.

(* 11.4: "The exact weights are an intersection over h of finite unions of affine subspaces": for each of the k + 1
   components the exact weights at a prefix are closed under affine combinations *)
Theorem proposition_11_4_affine lambda mu a t : exact_weights lambda a -> exact_weights mu a ->
  exact_weights (fun j => t * lambda j + (1 - t) * mu j) a.
Proof.
rewrite !proposition_11_4_kernel => -[k ek] [l el]; exists (t * k + (1 - t) * l) => y n.
rewrite -(ek y n) -(el y n) !mulr_sumr -big_split; apply: eq_bigr => j _ /=.
rewrite !mulrA -mulrDl; congr (_ * _); rewrite !mulrBr addrACA -opprD -mulrDl.
by rewrite [t + (1 - t)]addrC subrK mul1r.
Qed.
End ExactWeights.
