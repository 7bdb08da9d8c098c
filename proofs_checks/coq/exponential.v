(* An exponential on an ordered field R: a bijective homomorphism from (R, +) to the positive numbers under product, with its logarithm.
   On the reals, exp and log; the theorems that use it hold for any.  Powers: x^l = exp(l log x) for x > 0, and 0^l = 0.
   Such a field has all powers of its positive numbers, roots among them: the reals do, the rationals do not, so that there the
   theorems say nothing.  No instance is made here. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Record exponential (R : realFieldType) := Exponential {
  expo :> R -> R;
  loga : R -> R;
  expoD : forall x y, expo (x + y) = expo x * expo y;
  expo_gt0 : forall x, 0 < expo x;
  expoK : forall x, loga (expo x) = x;
  logaK : forall x, 0 < x -> expo (loga x) = x }.

Section Exponential.
Variables (R : realFieldType) (E : exponential R).

Lemma expo_neq0 x : E x != 0. Proof. by rewrite gt_eqF ?expo_gt0. Qed.
Lemma expo_inj : injective E. Proof. exact: can_inj (expoK E). Qed.
Lemma expo0 : E 0 = 1. Proof. by apply: (mulfI (expo_neq0 0)); rewrite -expoD addr0 mulr1. Qed.
Lemma expoN x : E (- x) = (E x)^-1.
Proof. by apply: (mulfI (expo_neq0 x)); rewrite -expoD subrr expo0 divff ?expo_neq0. Qed.
Lemma expoB x y : E (x - y) = E x / E y. Proof. by rewrite expoD expoN. Qed.
Lemma expo_sum (J : finType) (P : pred J) (f : J -> R) : E (\sum_(j | P j) f j) = \prod_(j | P j) E (f j).
Proof. exact: (big_morph E (expoD E) expo0). Qed.

Local Notation ln := (loga E).
Lemma ln1 : ln 1 = 0. Proof. by rewrite -expo0 expoK. Qed.
Lemma lnM x y : 0 < x -> 0 < y -> ln (x * y) = ln x + ln y.
Proof. by move=> x0 y0; apply: expo_inj; rewrite expoD !logaK ?mulr_gt0. Qed.
Lemma lnV x : 0 < x -> ln x^-1 = - ln x.
Proof. by move=> x0; apply: expo_inj; rewrite expoN !logaK ?invr_gt0. Qed.

Lemma ln_prod (J : finType) (x : J -> R) : (forall j, 0 < x j) -> ln (\prod_j x j) = \sum_j ln (x j).
Proof.
move=> x0; apply: expo_inj; rewrite expo_sum logaK; last by apply: prodr_gt0.
by apply: eq_bigr => j _; rewrite logaK.
Qed.

(* x^l *)
Definition power (l x : R) : R := if x == 0 then 0 else E (l * ln x).
Lemma power0 l : power l 0 = 0. Proof. by rewrite /power eqxx. Qed.
Lemma powerE l x : 0 < x -> power l x = E (l * ln x). Proof. by rewrite /power => /gt_eqF->. Qed.
Lemma power_gt0 l x : 0 < x -> 0 < power l x. Proof. by move=> x0; rewrite powerE ?expo_gt0. Qed.
Lemma power1 x : 0 <= x -> power 1 x = x.
Proof.
rewrite le_eqVlt => /orP[/eqP<-|x0]; first by rewrite power0.
by rewrite powerE // mul1r logaK.
Qed.
Lemma power_expo l x : power l (E x) = E (l * x). Proof. by rewrite powerE ?expo_gt0 // expoK. Qed.
Lemma powerM l x y : 0 <= x -> 0 <= y -> power l (x * y) = power l x * power l y.
Proof.
rewrite !le_eqVlt => /orP[/eqP<-|x0]; first by rewrite mul0r power0 mul0r.
case/orP => [/eqP<-|y0]; first by rewrite mulr0 power0 mulr0.
by rewrite !powerE ?mulr_gt0 // lnM // mulrDr expoD.
Qed.
(* the powers with a natural exponent are the usual ones *)
Lemma power_nat n x : 0 <= x -> (0 < n)%N -> power n%:R x = x ^+ n.
Proof.
rewrite le_eqVlt => /orP[/eqP<- n0|x0]; first by rewrite power0 expr0n eqn0Ngt n0.
elim: n => // n IH _; rewrite powerE // -addn1 natrD mulrDl mul1r expoD logaK // exprD expr1; congr (_ * _).
by case: n IH => [_|n IH]; [rewrite mul0r expo0 expr0|rewrite -powerE ?IH].
Qed.
(* x^l y = y^l x with l != 1 only where x = y *)
Lemma power_ratio l x y : l != 1 -> 0 < x -> 0 < y -> power l x * y = power l y * x -> x = y.
Proof.
move=> l1 x0 y0; rewrite !powerE // => e; have l0 : l - 1 != 0 by rewrite subr_eq0.
suff el : ln x = ln y by rewrite -(logaK E x0) -(logaK E y0) el.
apply: (mulfI l0); apply: expo_inj; rewrite !mulrBl !mul1r !expoB !logaK //.
by apply/eqP; rewrite eqr_div ?(gt_eqF x0) ?(gt_eqF y0) // e.
Qed.
End Exponential.
