(* theory.md 1.9 (weights, hard constraints, temperature) and 11.4 (which weights are exact), at one prefix. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import exponential setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* x -> x^lambda, lambda > 0, through the only properties that (a) and (b) use *)
Definition tilt (R : realFieldType) (g : R -> R) := g 0 = 0 /\ forall x, 0 < x -> 0 < g x.

Lemma tilt_nat (R : realFieldType) n : (0 < n)%N -> tilt (fun x : R => x ^+ n).
Proof. by move=> n0; split=> [|x x0]; rewrite ?exprn_gt0 // expr0n eqn0Ngt n0. Qed.
Lemma tilt_power (R : realFieldType) (E : exponential R) l : tilt (power E l).
Proof. by split=> [|x]; [apply: power0|apply: power_gt0]. Qed.

Section Tilted.
Variables (R : realFieldType) (V I : finType) (c : convention).
Local Notation dist := (dist R V).
Local Notation w := (@weight R V I c).
Variables (b : dist) (p : I -> dist) (g : I -> R -> R).
Hypotheses (db : is_dist b) (dp : forall i, is_dist (p i)) (ac : AC b p) (tg : forall i, tilt (g i)).

(* "tilted experts p_i^(lambda) ∝ p_b r_i^lambda" *)
Definition tilt_mass i := \sum_y b y * g i (p i y / b y).
Definition tilted_expert i : dist := [ffun y => b y * g i (p i y / b y) / tilt_mass i].
(* p_b prod_i r_i^{lambda_i} *)
Definition tilted_weight y := b y * \prod_i g i (p i y / b y).

Lemma tilt_ge0 i x : 0 <= x -> 0 <= g i x.
Proof.
by case: (tg i) => g0 gp; rewrite le_eqVlt => /orP[/eqP<-|/gp/ltW//]; rewrite g0.
Qed.

Lemma tilt_term_ge0 i y : 0 <= b y * g i (p i y / b y).
Proof. by have [b0 _] := db; have [p0 _] := dp i; rewrite mulr_ge0 // tilt_ge0 // divr_ge0. Qed.

Lemma tilt_mass_gt0 i : 0 < tilt_mass i.
Proof.
have [y yn y0] := dist_support (dp i); have bn : b y != 0 by apply: contraNneq yn => /ac->.
have b0 : 0 < b y by rewrite lt_def bn db.1.
rewrite /tilt_mass (bigD1 y) //= ltr_paddr ?sumr_ge0 // => [z _|]; first exact: tilt_term_ge0.
by rewrite mulr_gt0 // (tg i).2 // divr_gt0.
Qed.

Lemma tilted_expert_dist i : is_dist (tilted_expert i).
Proof.
split=> [y|]; first by rewrite ffunE divr_ge0 ?tilt_term_ge0 // ltW ?tilt_mass_gt0.
by under eq_bigr do rewrite ffunE; rewrite -mulr_suml divff // gt_eqF // tilt_mass_gt0.
Qed.

Lemma tilted_expert_AC : AC b tilted_expert.
Proof. by move=> i y b0; rewrite ffunE b0 !mul0r. Qed.

(* 1.9 (a): "p_b prod r_i^{lambda_i} normalised = local composition (lambda = 1) of the tilted experts" *)
Theorem proposition_1_9a y : norm w b tilted_expert y = tilted_weight y / \sum_z tilted_weight z.
Proof.
pose K := \prod_i (tilt_mass i)^-1.
have Kn : K != 0 by apply/prodf_neq0 => i _; rewrite invr_eq0 gt_eqF ?tilt_mass_gt0.
have e z : w b tilted_expert z = K * tilted_weight z.
  rewrite weight_AC; last exact: tilted_expert_AC.
  rewrite /wdrop /tilted_weight; have [->|bn] := eqVneq (b z) 0; first by rewrite !mul0r mulr0.
  rewrite mulrCA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
  by rewrite ffunE mulrAC [b z * _]mulrC mulfK // mulrC.
rewrite ffunE /Z (eq_bigr _ (fun z _ => e z)) e -mulr_sumr invfM mulrACA divff // mul1r //.
Qed.
End Tilted.

Section Weighted.
Variables (R : realFieldType) (E : exponential R) (V I : finType).
Local Notation dist := (dist R V).
Variable lambda : I -> R.

(* composition with weights lambda: p_b prod_i r_i^{lambda_i}, normalised *)
Definition weighted (b : dist) (p : I -> dist) y := b y * \prod_i power E (lambda i) (p i y / b y).
Definition weighted_norm (b : dist) (p : I -> dist) : dist :=
  [ffun y => weighted b p y / \sum_z weighted b p z].

Variables (b : dist) (p : I -> dist).
Hypotheses (db : is_dist b) (dp : forall i, is_dist (p i)) (ac : AC b p).

Lemma norm_proportional (f : dist) (x : V -> R) t : is_dist f -> t != 0 -> (forall y, x y = f y * t) ->
  [ffun y => x y / \sum_z x z] = f.
Proof.
move=> [_ f1] tn e; apply/ffunP => y; rewrite ffunE e (eq_bigr _ (fun z _ => e z)) -mulr_suml f1 mul1r.
exact: mulfK.
Qed.

(* 1.9 (a): "At a sole deviator p^ = p_i iff lambda_i = 1 or r_i is constant on supp p_i" *)
Theorem proposition_1_9a_sole i : (forall j, j != i -> p j = b) ->
  weighted_norm b p = p i <-> lambda i = 1 \/ exists k, forall y, p i y != 0 -> p i y / b y = k.
Proof.
move=> sole; have b0 y : 0 <= b y by case: db. have p0 y : 0 <= p i y by case: (dp i).
have bn y : p i y != 0 -> b y != 0 by apply: contraNneq => /ac->.
have wE y : weighted b p y = b y * power E (lambda i) (p i y / b y).
  rewrite /weighted; have [->|n] := eqVneq (b y) 0; first by rewrite !mul0r.
  rewrite (bigD1 i) //= big1 ?mulr1 // => j ji.
  by rewrite sole // divff // powerE ?ltr01 // ln1 mulr0 expo0.
have r0 y : p i y != 0 -> 0 < p i y / b y.
  by move=> n; rewrite divr_gt0 // lt_def ?n ?p0 ?bn ?b0.
have pE y : b y * (p i y / b y) = p i y.
  have [z|n] := eqVneq (b y) 0; first by rewrite z (ac i z) mul0r.
  by rewrite mulrCA divff ?mulr1.
split=> [e|]; last first.
  case=> [l1|[k rk]].
    apply: (@norm_proportional _ _ 1); rewrite ?oner_neq0 // => y.
    by rewrite wE l1 power1 ?divr_ge0 // pE mulr1.
  have [y yn _] := dist_support (dp i); have k0 : 0 < k by rewrite -(rk y yn) r0.
  apply: (@norm_proportional _ _ (power E (lambda i) k / k)) => // [|z].
    by rewrite mulf_neq0 ?invr_eq0 ?gt_eqF ?power_gt0.
  rewrite wE; have [->|zn] := eqVneq (p i z) 0; first by rewrite mul0r power0 mulr0 mul0r.
  by rewrite -{2}(pE z) (rk z zn) mulrA -mulrA -mulrA [k * _]mulrC divfK ?gt_eqF.
have [l1|l1] := eqVneq (lambda i) 1; first by left.
have [z zn _] := dist_support (dp i); right; exists (p i z / b z) => y yn.
set N := \sum_u weighted b p u.
have Nn : N != 0.
  apply: contraNneq zn => N0; have /ffunP/(_ z) := e; rewrite ffunE -/N N0 invr0 mulr0 => <- //.
have pw u : p i u != 0 -> power E (lambda i) (p i u / b u) = N * (p i u / b u).
  move=> un; have /ffunP/(_ u) := e; rewrite ffunE -/N wE => /(canRL (divfK Nn)).
  by rewrite -{2}(pE u) mulrAC -mulrA => /(mulfI (bn u un)) ->; rewrite mulrC.
by apply: (power_ratio (E := E) l1); rewrite ?r0 // !pw // mulrAC.
Qed.
End Weighted.

(* ---- 1.9 (b): hard constraints p_i = p_b(.|A_i) ---- *)
Section HardConstraints.
Variables (R : realFieldType) (V I : finType) (c : convention).
Local Notation dist := (dist R V).
Local Notation w := (@weight R V I c).
Variables (b : dist).
Hypothesis db : is_dist b.
Definition mass (A : pred V) := \sum_(y | A y) b y.
Definition given (A : pred V) : dist := [ffun y => if A y then b y / mass A else 0].

Lemma given_ratio A y : b y != 0 -> given A y / b y = (A y)%:R / mass A.
Proof.
by move=> bn; rewrite ffunE; case: (A y); rewrite ?mul0r // mul1r mulrAC divff // mul1r.
Qed.

Variable A : I -> pred V.
Hypothesis A0 : forall i, mass (A i) != 0.

Lemma given_AC : AC b (fun i => given (A i)).
Proof. by move=> i y b0; rewrite ffunE b0 mul0r if_same. Qed.

(* "r_i ∝ 1_{A_i}: for lambda_i > 0 they are lambda-invariant" *)
Theorem proposition_1_9b_invariant (g : I -> R -> R) i : (forall j, tilt (g j)) ->
  tilted_expert b (fun i => given (A i)) g i = given (A i).
Proof.
move=> tg; have [g0 gp] := tg i; set m := mass (A i).
have m0 : 0 < m by rewrite lt_def A0 sumr_ge0 // => y _; case: db.
have gm : 0 < g i (1 / m) by rewrite gp ?divr_gt0 ?ltr01.
have e y : b y * g i (given (A i) y / b y) = (if A i y then b y else 0) * g i (1 / m).
  have [z|n] := eqVneq (b y) 0; first by rewrite z if_same !mul0r.
  by rewrite given_ratio //; case: ifP => _ /=; rewrite ?mul0r ?g0 ?mulr0.
apply/ffunP => y; rewrite ffunE /tilt_mass e (eq_bigr _ (fun z _ => e z)) -mulr_suml -big_mkcond -/(mass _) -/m.
rewrite -mulf_div divff ?gt_eqF // mulr1 ffunE; case: ifP => // _; exact: mul0r.
Qed.

(* "compose exactly to p_b(.|A_1 ∩ A_2) even when both act, where p_b(A_1 ∩ A_2|h) > 0" (any number of them) *)
Theorem proposition_1_9b_exact : mass (fun y => [forall i, A i y]) != 0 ->
  norm w b (fun i => given (A i)) = given (fun y => [forall i, A i y]).
Proof.
set B := (fun y => [forall i, A i y]) => Bn; pose K := \prod_i (mass (A i))^-1.
have Kn : K != 0 by apply/prodf_neq0 => i _; rewrite invr_eq0.
have e y : w b (fun i => given (A i)) y = (if B y then b y else 0) * K.
  rewrite weight_AC; last exact: given_AC.
  rewrite /wdrop; have [z|n] := eqVneq (b y) 0; first by rewrite z if_same !mul0r.
  rewrite (eq_bigr (fun i => (A i y)%:R / mass (A i))) => [|i _]; last exact: given_ratio.
  rewrite big_split /= -/K mulrA; congr (_ * _); rewrite /B; case: ifP => [/forallP a|/negbT].
    by rewrite big1 ?mulr1 // => i _; rewrite a.
  by rewrite negb_forall => /existsP[i /negPf ni]; rewrite (bigD1 i) //= ni mul0r mulr0.
apply/ffunP => y; rewrite !ffunE /Z e (eq_bigr _ (fun z _ => e z)) -mulr_suml -big_mkcond -/(mass B).
rewrite -mulf_div divff // mulr1; case: ifP => // _; exact: mul0r.
Qed.
End HardConstraints.

(* "idempotent" *)
Theorem proposition_1_9b_idempotent (R : realFieldType) (V I : finType) c (b : dist R V) (A : pred V) :
  is_dist b -> (0 < #|I|)%N -> mass b A != 0 ->
  norm (@weight R V I c) b (fun=> given b A) = given b A.
Proof.
move=> db /card_gt0P[i _] m0; have e y : [forall j : I, A y] = A y.
  by apply/forallP/idP => [/(_ i)|].
have em : mass b (fun y => [forall j : I, A y]) = mass b A by apply: eq_bigl.
rewrite (@proposition_1_9b_exact _ _ _ c _ (fun=> A)) ?em //.
by apply/ffunP => y; rewrite !ffunE e em.
Qed.

(* ---- 1.9 (c): temperature ---- *)
Section Temperature.
Variables (R : realFieldType) (V I : finType) (g : R -> R).
Local Notation dist := (dist R V).
(* x -> x^beta: multiplicative on numbers >= 0; a natural beta > 0 is an example (temper_nat), and any real one (powerM) *)
Hypotheses (tg : tilt g) (gM : forall x y, 0 <= x -> 0 <= y -> g (x * y) = g x * g y).
Definition temper (f : dist) : dist := [ffun y => g (f y) / \sum_z g (f z)].

Lemma g1 : g 1 = 1.
Proof.
have n : g 1 != 0 by rewrite gt_eqF // tg.2 // ltr01.
by apply: (mulfI n); rewrite -gM ?ler01 // !mulr1.
Qed.
Lemma gV x : 0 <= x -> g x^-1 = (g x)^-1.
Proof.
rewrite le_eqVlt => /orP[/eqP<-|x0]; first by rewrite invr0 tg.1 invr0.
have n : g x != 0 by rewrite gt_eqF // tg.2.
by apply: (mulfI n); rewrite -gM ?invr_ge0 ?(ltW x0) // divff ?(lt0r_neq0 x0) // g1 divff.
Qed.
Lemma g_prod (x : I -> R) : (forall i, 0 <= x i) -> g (\prod_i x i) = \prod_i g (x i).
Proof.
move=> x0; suff [] : 0 <= \prod_i x i /\ g (\prod_i x i) = \prod_i g (x i) by [].
apply: (big_rec2 (fun u v => 0 <= u /\ g u = v)) => [|i u v _ [v0 e]]; first by rewrite g1 ler01.
by rewrite mulr_ge0 // gM // e.
Qed.

Lemma temper_mass_gt0 (f : dist) : is_dist f -> 0 < \sum_z g (f z).
Proof.
move=> df; have [y yn y0] := dist_support df; have [f0 _] := df.
rewrite (bigD1 y) //= ltr_paddr ?tg.2 // sumr_ge0 // => z _.
by have := f0 z; rewrite le_eqVlt => /orP[/eqP<-|/tg.2/ltW//]; rewrite tg.1.
Qed.

(* 1.9 (c): "Under strict/drop, local tempering of all models at one beta > 0 commutes with local composition" *)
Theorem proposition_1_9c (b : dist) (p : I -> dist) : is_dist b -> (forall i, is_dist (p i)) ->
  Z (@wdrop R V I) b p != 0 ->
  norm (@wdrop R V I) (temper b) (fun i => temper (p i)) = temper (norm (@wdrop R V I) b p).
Proof.
move=> db dp zn; have [b0 _] := db; have p0 i y : 0 <= p i y by case: (dp i).
pose N (f : dist) := \sum_z g (f z); pose K := (N b)^-1 * \prod_i (N b / N (p i)).
have Nn f : is_dist f -> N f != 0 by move=> df; rewrite gt_eqF ?temper_mass_gt0.
have Kn : K != 0.
  by rewrite mulf_neq0 ?invr_eq0 ?Nn //; apply/prodf_neq0 => i _; rewrite mulf_neq0 ?invr_eq0 ?Nn.
have w0 y : 0 <= wdrop b p y by apply: wdrop_ge0.
have z0 : 0 < Z (@wdrop R V I) b p by rewrite lt_def zn sumr_ge0.
have e y : wdrop (temper b) (fun i => temper (p i)) y = g (wdrop b p y) * K.
  rewrite /wdrop gM ?prodr_ge0 // => [|i _]; last by rewrite divr_ge0.
  rewrite g_prod => [|i]; last by rewrite divr_ge0.
  rewrite ffunE -/(N b) mulrACA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
  rewrite !ffunE -!/(N _) gM ?invr_ge0 // gV // invfM invrK mulrACA; congr (_ * _).
  by rewrite mulrC.
have gz : g (Z (@wdrop R V I) b p)^-1 != 0 by rewrite gt_eqF // tg.2 // invr_gt0.
have e' y : g (norm (@wdrop R V I) b p y) = g (wdrop b p y) * g (Z (@wdrop R V I) b p)^-1.
  by rewrite ffunE gM // invr_ge0 ltW.
apply/ffunP => y; rewrite [in RHS]ffunE e' (eq_bigr _ (fun z _ => e' z)) -mulr_suml.
rewrite ffunE /Z e (eq_bigr _ (fun z _ => e z)) -mulr_suml.
by rewrite -mulf_div divff // -mulf_div divff.
Qed.
End Temperature.

Lemma temper_nat (R : realFieldType) n (x y : R) : 0 <= x -> 0 <= y -> (x * y) ^+ n = x ^+ n * y ^+ n.
Proof. by move=> _ _; apply: exprMn. Qed.
