(* theory.md 8.4: what a small total variation gives, with caps on the ratios (TV part). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition total_variation robust.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* "telescope prod r - 1 = sum_j (prod_{l<j} r_l)(r_j - 1)" *)
Lemma telescope (R : realFieldType) (P : pred nat) (x C : nat -> R) n : (forall j, 0 <= x j <= C j) ->
  `|\prod_(j < n | P j) x j - 1| <= \sum_(j < n | P j) (\prod_(l < j | P l) C l) * `|x j - 1|.
Proof.
move=> xC; elim: n => [|n IH]; first by rewrite !big_ord0 subrr normr0.
rewrite big_mkcond big_ord_recr -big_mkcond [leRHS]big_mkcond big_ord_recr -big_mkcond /=.
case: ifP => _; last by rewrite mulr1 addr0.
set X := \prod_(j < n | P j) x j; have -> : X * x n - 1 = (X - 1) + X * (x n - 1).
  by rewrite mulrBr mulr1 [RHS]addrC addrA subrK.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add => //.
have X0 : 0 <= X by apply: prodr_ge0 => j _; case/andP: (xC j).
by rewrite normrM (ger0_norm X0) ler_wpmul2r // ler_prod // => j _; apply: xC.
Qed.

Section RatioCaps.
Variables (R : realFieldType) (V : finType) (k : nat) (c : convention).
Local Notation dist := (dist R V).
Local Notation w := (@weight R V [finType of 'I_k] c).
Variables (b : dist) (p : 'I_k -> dist).
Hypotheses (db : is_dist b) (dp : forall i, is_dist (p i)).
(* "Let p_j << p_b for all j and Z(h) > 0" *)
Hypotheses (ac : AC b p) (alive : Z w b p != 0).
(* "R_l = sup_y r_l(y|h)": any upper bound *)
Variable cap : 'I_k -> R.
Hypothesis capP : forall l y, p l y / b y <= cap l.
(* "i = a(h) (R_b = 1)" *)
Variable a : option 'I_k.
Let s := if a is Some i then p i else b.
Let cap_a := if a is Some i then cap i else 1.
Let unassigned : pred 'I_k := fun j => Some j != a.
Let F y := \prod_(j | unassigned j) (p j y / b y).

Let b0 y : 0 <= b y. Proof. exact: db.1. Qed.
Let r0 j y : 0 <= p j y / b y. Proof. by rewrite divr_ge0 // (dp j).1. Qed.
Let ds : is_dist s. Proof. by rewrite /s; case: (a). Qed.

Lemma caps_weight y : w b p y = s y * F y.
Proof.
rewrite weight_AC // /wdrop /s /F /unassigned; case: (a) => [i|] //.
rewrite (bigD1 i) //= mulrA; congr (_ * _).
have [z|n] := eqVneq (b y) 0; first by rewrite z (ac i z) mul0r.
by rewrite mulrCA divff ?mulr1.
Qed.

Lemma caps_component y : s y <= cap_a * b y.
Proof.
rewrite /s /cap_a; case: (a) => [i|]; last by rewrite mul1r.
have [z|n] := eqVneq (b y) 0; first by rewrite z (ac i z) mulr0.
by rewrite -ler_pdivr_mulr // lt_def n b0.
Qed.

Lemma caps_factor y : `|F y - 1| <=
  \sum_(j | unassigned j) (\prod_(l | unassigned l && (l < j)%N) cap l) * `|p j y / b y - 1|.
Proof.
pose P n := if insub n is Some l then unassigned l else false.
pose x n := oapp (fun l => p l y / b y) 1 (insub n).
pose C n := oapp cap 1 (insub n).
have xC n : 0 <= x n <= C n by rewrite /x /C; case: insubP => [l _ _|_] /=; rewrite ?r0 ?capP // ler01 lexx.
have Pv (l : 'I_k) : P l = unassigned l by rewrite /P valK.
have := telescope P k xC; rewrite (eq_bigl unassigned) // (eq_bigr (fun l => p l y / b y)) => [|l _].
  move=> H; apply: le_trans H _; rewrite (eq_bigl unassigned) // le_eqVlt; apply/orP; left; apply/eqP.
  apply: eq_bigr => j _; rewrite /x valK /=; congr (_ * _).
  rewrite (big_ord_widen_cond k) ?(ltnW (ltn_ord j)) //.
  by apply: eq_big => [l|l _]; rewrite ?Pv // /C valK.
by rewrite /x valK.
Qed.

(* 8.4: "TV(p^,p_i) <= sum_{j != i} R_i (prod_{l<j, l != i} R_l) 2 TV(p_j,p_b)" *)
Theorem lemma_8_4 : TV (norm w b p) s <=
  \sum_(j | Some j != a) cap_a * (\prod_(l | (Some l != a) && (l < j)%N) cap l) * (2%:R * TV (p j) b).
Proof.
have ZE : Z w b p = \sum_y s y * F y by apply: eq_bigr => y _; apply: caps_weight.
have F0 y : 0 <= F y by apply: prodr_ge0.
have E0 : 0 < \sum_y s y * F y.
  by rewrite -ZE lt_def alive sumr_ge0 // => y _; apply: weight_ge0.
have -> : TV (norm w b p) s = TV s (tilted s F).
  by rewrite TVC; congr (_ * _); apply: eq_bigr => y _; rewrite ffunE ZE caps_weight.
have [s0 s1] := ds; apply: le_trans (lemma_8_1_mean s0 s1 (fun y _ => F0 y) E0) _.
have cap_a0 : 0 <= cap_a.
  have [y _ _] := dist_support db.
  by rewrite /cap_a; case: (a) => [i|]; rewrite ?ler01 // (le_trans (r0 i y)).
have M0 : 0 <= \sum_y s y * `|F y - 1| by apply: sumr_ge0 => y _; rewrite mulr_ge0.
apply: (@le_trans _ _ (\sum_y s y * `|F y - 1|)).
  by rewrite ler_pdivr_mulr ?lt_maxr ?ltr01 // ler_pemulr // le_maxr lexx.
apply: (@le_trans _ _ (\sum_y \sum_(j | unassigned j)
    cap_a * (\prod_(l | unassigned l && (l < j)%N) cap l) * `|p j y - b y|)).
  apply: ler_sum => y _; apply: le_trans (ler_wpmul2r (normr_ge0 _) (caps_component y)) _.
  apply: le_trans (ler_wpmul2l (mulr_ge0 cap_a0 (b0 y)) (caps_factor y)) _.
  rewrite mulr_sumr; apply: ler_sum => j _.
  have -> : `|p j y - b y| = b y * `|p j y / b y - 1|; last by rewrite mulrACA lexx.
  rewrite -{2}(ger0_norm (b0 y)) -normrM mulrBr mulr1.
  have [z|n] := eqVneq (b y) 0; first by rewrite z (ac j z) mul0r.
  by rewrite mulrCA divff // mulr1.
rewrite exchange_big; apply: ler_sum => j _; rewrite -mulr_sumr /TV mulVKf ?pnatr_eq0 //.
Qed.
End RatioCaps.
