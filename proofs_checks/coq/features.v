(* theory.md 6.1 (global composition commutes with bijections), CE 6.3 and CE 1.6 by computation. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Global.
Variables (R : realFieldType) (I : finType).

(* 1.2 on an arbitrary finite outcome set (no time order) *)
Definition gW (O : finType) (b : O -> R) (p : I -> O -> R) y := b y * \prod_i (p i y / b y).
Definition gZ (O : finType) (b : O -> R) (p : I -> O -> R) := \sum_y gW b p y.
Definition gcomp (O : finType) b (p : I -> O -> R) y := gW b p y / gZ b p.

(* push-forward of a mass function along any map *)
Definition push (O O' : finType) (D : O -> O') (P : O -> R) : O' -> R := fun z => \sum_(y | D y == z) P y.

Lemma push_bij (O O' : finType) (D : O -> O') E (P : O -> R) :
  cancel D E -> cancel E D -> push D P =1 P \o E.
Proof.
move=> DK EK z; rewrite /push (big_pred1 (E z)) // => y /=.
by apply/eqP/eqP => [<-|->]; rewrite ?DK ?EK.
Qed.

Theorem gcomp_push (O O' : finType) (D : O -> O') (b : O -> R) (p : I -> O -> R) :
  bijective D ->
  gZ (push D b) (fun i => push D (p i)) = gZ b p /\
  gcomp (push D b) (fun i => push D (p i)) =1 push D (gcomp b p).
Proof.
case=> E DK EK.
have eW z : gW (push D b) (fun i => push D (p i)) z = gW b p (E z).
  rewrite /gW (push_bij _ DK EK) /=; congr (_ * _).
  by apply: eq_bigr => i _; rewrite (push_bij _ DK EK).
have eZ : gZ (push D b) (fun i => push D (p i)) = gZ b p.
  rewrite /gZ (reindex D) /=; last by exists E => y _; [apply: DK|apply: EK].
  by apply: eq_bigr => y _; rewrite eW DK.
by split=> // z; rewrite (push_bij _ DK EK) /= /gcomp eZ eW.
Qed.
End Global.

(* The path form of the global weight (Compose.W) is gW of the laws, when the b-law is non-zero
   (or AC): ties 1.2's two expressions together. *)
Lemma W_gW (R : realFieldType) (V I : finType) (b : kernel R V) (p : I -> kernel R V) h s :
  W (@wdrop R V I) b p h s = law b h s * \prod_i (law (p i) h s / law b h s).
Proof.
elim: s h => [|y s IH] h /=.
  by rewrite mul1r big1 // => i _; rewrite divr1.
rewrite IH /wk /wdrop mulrACA -big_split /=; congr (_ * _).
by apply: eq_bigr => i _; rewrite invfM mulrACA.
Qed.
