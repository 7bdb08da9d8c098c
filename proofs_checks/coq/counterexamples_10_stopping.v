(* The counterexamples of theory.md, section 10 (k > 2 and EOS). *)
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

(* 10.1: "Without q_i << q_b it fails under `cancel` (EOS first: p_b=(1/2,1/2,0), p_1=(1/2,1/4,1/4), p_2=(1/4,3/4,0))":
   the rule says 2/5, the composition stops with 2/7 (proofs_checks/README.md; theory.md has 1/3) *)
Definition b_10_1 := one [:: 1#2; 1#2; 0]%Q.
Definition p1_10_1 := one [:: 1#2; 1#4; 1#4].
Definition p2_10_1 := one [:: 1#4; 3#4; 0]%Q.
Theorem counterexample_10_1 :
  let b := model R 2 b_10_1 in let p := experts R 2 [:: p1_10_1; p2_10_1] in
  comp wcancel b p [::] ord0 = 2 %/ 7 /\ comp wdrop b p [::] ord0 = 2 %/ 5.
Proof. by split; rewrite ?cancel_comp ?drop_comp modelE; apply: QR_eqb; vm_compute. Qed.

(* M2: "All models have e=1/100, q_b=(1/2,1/2). Two experts at (9/10,1/10) vs (1/10,9/10): hazard 25/916=.027; at .999: .717.
   Agreement does the reverse (25/4084)." EOS is the last token. *)
Definition with_eos (x y : Q) := one [:: Qred ((99#100) * x); Qred ((99#100) * y); 1#100]%Q.
Theorem counterexample_10_1_conflict :
  let hazard x x' := comp wcancel (model R 2 (with_eos (1#2) (1#2))) (experts R 2 [:: with_eos x (1 - x); with_eos x' (1 - x')]%Q) [::] ord_max in
  [/\ hazard (9#10) (1#10) = 25 %/ 916, hazard (9#10) (9#10) = 25 %/ 4084,
      7165 %/ 10000 <= hazard (999#1000) (1#1000) & hazard (999#1000) (1#1000) <= 7175 %/ 10000].
Proof. by split; rewrite cancel_comp modelE ?QR_leE; first [apply: QR_eqb; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
End OneStep.
