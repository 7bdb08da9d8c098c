(* theory.md 8.1, exp-free: weights f in [m, c^2 m] (c = e^(o/2)) give TV(p, p f / E f) <= (c-1)/(c+1) = tanh(o/4). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import identities setting total_variation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Robust.
Variables (R : realFieldType) (O : finType) (p : O -> R).
Hypotheses (p0 : forall y, 0 <= p y) (p1 : \sum_y p y = 1).

Lemma chord (a b x : R) : a <= x <= b -> a <= 1 -> 1 <= b ->
  (b - a) * pos (x - 1) <= (b - 1) * (x - a).
Proof.
move=> /andP[ax xb] a1 b1; rewrite /pos; case: (lerP (x - 1) 0) => x1.
  by rewrite mulr0 mulr_ge0 ?subr_ge0.
rewrite -subr_ge0 chord_id.
by rewrite mulr_ge0 ?subr_ge0.
Qed.

(* density form: a <= g <= c^2 a on supp p, E_p g = 1 *)
Theorem TV_density (g : O -> R) (a c : R) : 0 < a -> 1 < c -> \sum_y p y * g y = 1 ->
  (forall y, p y != 0 -> a <= g y <= c * c * a) ->
  TV p (fun y => p y * g y) <= (c - 1) / (c + 1).
Proof.
move=> a0 c1 g1 gb; set b := c * c * a in gb *.
have avg (k : R) : k = \sum_y p y * k by rewrite -mulr_suml p1 mul1r.
have a1 : a <= 1.
  rewrite -g1 [leLHS]avg; apply: ler_sum => y _.
  have [->|/gb/andP[ag _]] := eqVneq (p y) 0; first by rewrite !mul0r.
  by rewrite ler_wpmul2l.
have b1 : 1 <= b.
  rewrite -g1 [leRHS]avg; apply: ler_sum => y _.
  have [->|/gb/andP[_ ag]] := eqVneq (p y) 0; first by rewrite !mul0r.
  by rewrite ler_wpmul2l.
have c10 : 0 < c + 1 by rewrite addr_gt0 ?ltr01 ?(lt_trans _ c1) ?ltr01.
have ba : 0 < b - a.
  by rewrite /b ba_id pmulr_rgt0 // pmulr_lgt0 // subr_gt0.
have H : (b - a) * TV p (fun y => p y * g y) <= (b - 1) * (1 - a).
  rewrite TV_pos ?g1 // mulr_sumr.
  have -> : (b - 1) * (1 - a) = \sum_y p y * ((b - 1) * (g y - a)).
    rewrite (eq_bigr (fun y => (b - 1) * (p y * g y - p y * a))) => [|y _]; last by rewrite -mulrBr mulrCA.
    by rewrite -mulr_sumr sumrB g1 -(avg a).
  apply: ler_sum => y _; have -> : p y * g y - p y = p y * (g y - 1) by rewrite mulrBr mulr1.
  have -> : pos (p y * (g y - 1)) = p y * pos (g y - 1) by rewrite /pos maxr_pmulr // mulr0.
  rewrite mulrCA; have [->|/gb gy] := eqVneq (p y) 0; first by rewrite !mul0r.
  by rewrite ler_wpmul2l // chord.
rewrite ler_pdivl_mulr // -(ler_pmul2l ba) mulrA.
apply: (@le_trans _ _ ((b - 1) * (1 - a) * (c + 1))); first by rewrite ler_wpmul2r ?(ltW c10).
rewrite -subr_ge0 [(b - a) * _]mulrC [_ * (c + 1)]mulrC /b square_id.
by rewrite mulr_ge0 ?(ltW c10) // -expr2 sqr_ge0.
Qed.

(* Lemma 8.1 *)
Theorem robust_kernel (f : O -> R) (m c : R) : 0 < m -> 1 < c ->
  (forall y, p y != 0 -> m <= f y <= c * c * m) ->
  TV p (fun y => p y * f y / \sum_z p z * f z) <= (c - 1) / (c + 1).
Proof.
move=> m0 c1 fb; set E := \sum_z _.
have E0 : 0 < E.
  apply: (lt_le_trans m0); rewrite -[leLHS]mul1r -p1 mulr_suml; apply: ler_sum => y _.
  have [->|/fb/andP[mf _]] := eqVneq (p y) 0; first by rewrite !mul0r.
  by rewrite ler_wpmul2l.
have Ei : 0 < E^-1 by rewrite invr_gt0.
have -> : TV p (fun y => p y * f y / E) = TV p (fun y => p y * (f y / E)).
  by congr (_ * _); apply: eq_bigr => y _; rewrite mulrA.
apply: (TV_density (a := m / E)) => //; first by rewrite divr_gt0.
  by rewrite (eq_bigr (fun y => p y * f y / E)) -?mulr_suml ?divff ?gt_eqF // => y _; rewrite mulrA.
by move=> y /fb/andP[mf fm]; rewrite mulrA !ler_pmul2r // mf.
Qed.
End Robust.
