(* The counterexamples of theory.md, section 9 (task arithmetic). *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

Section OneStep.
Variable R : realFieldType.
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).
Local Notation one r := (tables [::] r).

(* 9.2: "Bilinear z=uv, u=v=1, τ_1=(1,0), τ_2=(0,1): merged 4, composed 3." *)
Theorem counterexample_9_2_bilinear : let z (u v : R) := u * v in
  z (1 + 1) (1 + 1) = 4%:R /\ z 1 1 + (z (1 + 1) 1 - z 1 1) + (z 1 (1 + 1) - z 1 1) = 3%:R.
Proof.
have two : 1 + 1 = 2%:R :> R by rewrite mulr2n.
rewrite /= two !mulr1 mul1r -natrM; split=> //.
by rewrite [1 + _]addrC subrK addrA -natrD; apply/eqP; rewrite subr_eq -(natrD _ 3 1).
Qed.
(* 9.2: "Probabilities linear in θ: merge (7/8,1/8), composition (5/6,1/6)" (p_b=(1/2,1/2), p_1=(3/4,1/4), p_2=(5/8,3/8)) *)
Theorem counterexample_9_2_probabilities :
  let b := model R 1 (one [:: 1#2; 1#2]) in let p := experts R 1 [:: one [:: 3#4; 1#4]; one [:: 5#8; 3#8]] in
  let merge y := b [::] y + \sum_i (p i [::] y - b [::] y) in
  [/\ merge ord0 = 7 %/ 8, merge ord_max = 1 %/ 8 & comp wcancel b p [::] = dist_of R 1 [:: 5#6; 1#6]].
Proof.
by split; [| |by_rows]; rewrite !big_ord_recl big_ord0 !modelE addr0 -!QRN -!QRD; apply: QR_eqb; vm_compute.
Qed.
End OneStep.
