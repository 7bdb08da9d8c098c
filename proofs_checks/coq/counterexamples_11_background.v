(* The counterexamples of theory.md, section 11 (wrong backgrounds). *)
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

(* "CE 11.3 (mixture background): p_m = mean p_i ... p_0=(.1,.9), p_1=(.9,.1), target .9: .50, .249, .083 at k=2,3,5" *)
Definition mean (rs : seq row) : row := [seq Qred (qsum [seq entry r y | r <- rs] / inject_Z (Z.of_nat (size rs)))%Q | y <- iota 0 2].
Definition mixed k := [:: 9#10; 1#10] :: nseq k.-1 [:: 1#10; 9#10].
Theorem counterexample_11_3 :
  let inside k := comp wcancel (model R 1 (one (mean (mixed k)))) (experts R 1 [seq one r | r <- mixed k]) [::] ord0 in
  [/\ inside 2%N = 1 %/ 2,
      inside 3%N = 361 %/ 1450, 2485 %/ 10000 <= inside 3%N /\ inside 3%N <= 2495 %/ 10000
    & 825 %/ 10000 <= inside 5%N /\ inside 5%N <= 835 %/ 10000].
Proof.
split.
- by rewrite cancel_comp modelE; apply: QR_eqb; vm_compute.
- by rewrite cancel_comp modelE; apply: QR_eqb; vm_compute.
- by rewrite cancel_comp modelE !QR_leE; split; vm_compute.
- by rewrite cancel_comp modelE !QR_leE; split; vm_compute.
Qed.
End OneStep.
