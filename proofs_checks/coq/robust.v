(* theory.md 8: Lemma 8.1, Theorem 8.2 and Lemma 8.4 in their total-variation parts, and the TV bound of 1.5 (4).
   Without exponentials: weights F = e^f in [m, c^2 m], so osc(f) <= o with c = e^{o/2}, and tanh(o/4) = (c - 1)/(c + 1). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import identities setting composition local_global total_variation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OneKernel.
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

Lemma mean_const (k : R) : \sum_y p y * k = k. Proof. by rewrite -mulr_suml p1 mul1r. Qed.

Lemma mean_le (f g : O -> R) : (forall y, p y != 0 -> f y <= g y) -> \sum_y p y * f y <= \sum_y p y * g y.
Proof.
move=> fg; apply: ler_sum => y _; have [->|/fg fgy] := eqVneq (p y) 0; first by rewrite !mul0r.
by rewrite ler_wpmul2l.
Qed.

(* "a density ratio with values in [a, b] and mean 1": b / a = c^2 *)
Theorem TV_density (g : O -> R) (a c : R) : 0 < a -> 1 <= c -> \sum_y p y * g y = 1 ->
  (forall y, p y != 0 -> a <= g y <= c * c * a) ->
  TV p (fun y => p y * g y) <= (c - 1) / (c + 1).
Proof.
move=> a0; rewrite le_eqVlt => /orP[/eqP <- g1 gb|c1 g1 gb].
  have ga y : p y != 0 -> g y = a by move/gb; rewrite !mul1r -eq_le => /eqP.
  have a1 : a = 1.
    rewrite -g1 -[LHS]mean_const; apply: eq_bigr => y _.
    by have [->|/ga->] := eqVneq (p y) 0; rewrite ?mul0r.
  rewrite subrr mul0r TV_eq0 // => y; have [->|/ga->] := eqVneq (p y) 0; first by rewrite mul0r.
  by rewrite a1 mulr1.
set b := c * c * a in gb *.
have a1 : a <= 1 by rewrite -g1 -[leLHS]mean_const mean_le // => y /gb/andP[].
have b1 : 1 <= b by rewrite -g1 -[leRHS]mean_const mean_le // => y /gb/andP[].
have c10 : 0 < c + 1 by rewrite addr_gt0 ?ltr01 ?(lt_trans _ c1) ?ltr01.
have ba : 0 < b - a.
  by rewrite /b ba_id pmulr_rgt0 // pmulr_lgt0 // subr_gt0.
have H : (b - a) * TV p (fun y => p y * g y) <= (b - 1) * (1 - a).
  rewrite TV_pos ?g1 // mulr_sumr.
  have -> : (b - 1) * (1 - a) = \sum_y p y * ((b - 1) * (g y - a)).
    rewrite (eq_bigr (fun y => (b - 1) * (p y * g y - p y * a))) => [|y _]; last by rewrite -mulrBr mulrCA.
    by rewrite -mulr_sumr sumrB g1 mean_const.
  apply: ler_sum => y _; have -> : p y * g y - p y = p y * (g y - 1) by rewrite mulrBr mulr1.
  have -> : pos (p y * (g y - 1)) = p y * pos (g y - 1) by rewrite /pos maxr_pmulr // mulr0.
  rewrite mulrCA; have [->|/gb gy] := eqVneq (p y) 0; first by rewrite !mul0r.
  by rewrite ler_wpmul2l // chord.
rewrite ler_pdivl_mulr // -(ler_pmul2l ba) mulrA.
apply: (@le_trans _ _ ((b - 1) * (1 - a) * (c + 1))); first by rewrite ler_wpmul2r ?(ltW c10).
rewrite -subr_ge0 [(b - a) * _]mulrC [_ * (c + 1)]mulrC /b square_id.
by rewrite mulr_ge0 ?(ltW c10) // -expr2 sqr_ge0.
Qed.

Section Weights.
Variables (F : O -> R) (m c : R).
Local Notation E := (\sum_z p z * F z).
Definition tilted y := p y * F y / E.                 (* q ∝ p e^f *)
Hypotheses (m0 : 0 < m) (c1 : 1 <= c) (Fb : forall y, p y != 0 -> m <= F y <= c * c * m).

Lemma E_ge : m <= E. Proof. by rewrite -[leLHS]mean_const mean_le // => y /Fb/andP[]. Qed.
Lemma E_le : E <= c * c * m. Proof. by rewrite -[leRHS]mean_const mean_le // => y /Fb/andP[]. Qed.
Lemma E_gt0 : 0 < E. Proof. exact: lt_le_trans E_ge. Qed.

(* 8.1: "For q ∝ p e^f: TV(p, q) <= tanh(o/4)" *)
Theorem lemma_8_1_tv : TV p tilted <= (c - 1) / (c + 1).
Proof.
have Ei : 0 < E^-1 by rewrite invr_gt0 E_gt0.
have -> : TV p tilted = TV p (fun y => p y * (F y / E)).
  by congr (_ * _); apply: eq_bigr => y _; rewrite mulrA.
apply: (TV_density (a := m / E)) => //; first by rewrite divr_gt0 ?E_gt0.
  by rewrite (eq_bigr (fun y => p y * F y / E)) -?mulr_suml ?divff ?gt_eqF ?E_gt0 // => y _; rewrite mulrA.
by move=> y /Fb/andP[mF Fm]; rewrite mulrA !ler_pmul2r // mF.
Qed.

(* 8.1: "sup |log q/p| <= o": c^-2 <= q/p <= c^2 on supp p *)
Theorem lemma_8_1_log_ratio y : p y != 0 -> (c * c)^-1 <= tilted y / p y <= c * c.
Proof.
move=> pn; have /andP[mF Fm] := Fb pn; have c0 : 0 < c * c by rewrite mulr_gt0 ?(lt_le_trans ltr01).
have -> : tilted y / p y = F y / E by rewrite /tilted mulrAC [p y * F y]mulrC mulfK.
rewrite ler_pdivl_mulr ?E_gt0 // ler_pdivr_mulr ?E_gt0 //; apply/andP; split.
  by rewrite mulrC ler_pdivr_mulr // mulrC (le_trans E_le) // ler_pmul2l.
by rewrite (le_trans Fm) // ler_pmul2l // E_ge.
Qed.
End Weights.

(* 8.1: "Also TV <= E_p|e^f - 1| / max(1, E_p e^f)" *)
Theorem lemma_8_1_mean (F : O -> R) : (forall y, p y != 0 -> 0 <= F y) -> 0 < \sum_z p z * F z ->
  TV p (tilted F) <= (\sum_y p y * `|F y - 1|) / Num.max 1 (\sum_z p z * F z).
Proof.
move=> F0 E0; set E := \sum_z _ in E0 *.
have q1 : \sum_y tilted F y = 1 by rewrite /tilted -mulr_suml divff // gt_eqF.
have pm (x y : R) : 0 <= x -> pos (x * y) = x * pos y by move=> x0; rewrite /pos maxr_pmulr // mulr0.
have pn (x : R) : pos x <= `|x| by rewrite /pos le_maxl normr_ge0 ler_norm.
have mono (x y : R) : x <= y -> pos x <= pos y by move=> xy; rewrite /pos le_maxl !le_maxr xy lexx orbT.
rewrite ler_pdivl_mulr ?lt_maxr ?ltr01 //; case: (lerP 1 E) => E1.
  rewrite TVC; rewrite TVC TV_pos ?q1 // mulr_suml; apply: ler_sum => y _.
  have -> : tilted F y - p y = p y * (F y / E - 1) by rewrite /tilted mulrBr mulr1 mulrA.
  rewrite pm // -mulrA; have [->|/F0 Fy] := eqVneq (p y) 0; first by rewrite !mul0r.
  rewrite ler_wpmul2l // mulrC -pm ?(ltW E0) // mulrBr mulrCA divff ?gt_eqF // !mulr1.
  by apply: le_trans (pn _); apply: mono; rewrite ler_add2l ler_opp2.
rewrite mulr1 TVC TV_pos ?q1 //; apply: ler_sum => y _.
have -> : p y - tilted F y = p y * (1 - F y / E) by rewrite /tilted mulrBr mulr1 mulrA.
rewrite pm //; have [->|/F0 Fy] := eqVneq (p y) 0; first by rewrite !mul0r.
rewrite ler_wpmul2l // distrC; apply: le_trans (pn _); apply: mono.
by rewrite ler_add2l ler_opp2 ler_pdivl_mulr // ler_pimulr // ltW.
Qed.
End OneKernel.

(* 8.1: "The TV bound is attained": two tokens, p = (c, 1)/(c + 1), F = (1, c^2) *)
Theorem lemma_8_1_attained (R : realFieldType) (c : R) : 1 <= c ->
  let p := fun y : bool => if y then 1 / (c + 1) else c / (c + 1) in
  let F := fun y : bool => if y then c * c else 1 in
  [/\ forall y, 0 <= p y, \sum_y p y = 1, forall y, 1 <= F y <= c * c * 1
    & TV p (tilted p F) = (c - 1) / (c + 1)].
Proof.
move=> c1 p F; have c0 : 0 < c by apply: lt_le_trans ltr01 c1.
have cc : 0 < c + 1 by rewrite addr_gt0 ?ltr01.
have cn : c + 1 != 0 by rewrite gt_eqF.
have cc1 : 1 <= c * c by rewrite -[leLHS]mulr1 ler_pmul ?ler01.
have E : \sum_z p z * F z = c.
  rewrite big_bool /p /F /= mulr1 mul1r [_^-1 * _]mulrC -mulrDl.
  have -> : c * c + c = c * (c + 1) by rewrite mulrDr mulr1.
  by rewrite mulfK.
have p1 : \sum_y p y = 1 by rewrite big_bool /p /= -mulrDl addrC divff.
split=> [[]|||] //; rewrite /p ?divr_ge0 ?ler01 ?(ltW c0) ?(ltW cc) //.
  by case; rewrite mulr1 ?lexx ?cc1.
have q1 : \sum_y tilted p F y = 1 by rewrite /tilted -mulr_suml E divff ?gt_eqF.
rewrite TV_pos -/p ?p1 ?q1 // big_bool /tilted E /p /F /= mulr1.
have -> : 1 / (c + 1) * (c * c) / c = c / (c + 1) by rewrite mulrA mulfK ?gt_eqF // mulrAC mul1r.
have -> : c / (c + 1) / c = 1 / (c + 1) by rewrite mulrAC divff ?gt_eqF.
rewrite -!mulrBl /pos max_l ?divr_ge0 ?subr_ge0 ?(ltW cc) // max_r ?addr0 //.
by rewrite -opprB mulNr oppr_le0 divr_ge0 ?subr_ge0 ?(ltW cc).
Qed.
