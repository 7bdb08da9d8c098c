(* The counterexamples of theory.md, section 2 (masks).  Tokens are 0, 1, ..; positions are counted from 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition segments marginals laws masks rationals computation computation_masks.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

Section Section2.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation P2 := (Law (T := 2)).
Local Notation P3 := (Law (T := 3)).
Let even := [:: 1#2; 1#2].
Let fair := tables [::] even.
(* the event y_t = a *)
Definition at_ (t a : nat) : pred (seq nat) := fun y => nth 0%N y t == a.

(* 2.3: "Checking on R^ is not enough: |V|=T=k=2, M_1={2}, M_2={1}, p_b uniform, p_2(.|∅)=(1,0), p_1(.|0)=(1/4,3/4),
   p_1(.|1)=(3/4,1/4)."  (B), (I1), (I2) hold on R^, (c) holds, FC fails.
   2.7: "With R=R^ alone it is false: the example in 2.3 gives 1/4 against 1/2." *)
Definition p1_2_3 := tables [:: ([:: 0%N], [:: 1#4; 3#4]); ([:: 1%N], [:: 3#4; 1#4])] even.
Definition p2_2_3 := tables [:: ([::], [:: 1; 0]%Q)] even.
Definition masks_2_3 := [:: 1; 0]%N.             (* position 0 is M_2, position 1 is M_1 *)
Theorem counterexample_2_3 :
  let b := coin fair in let p := coins [:: p1_2_3; p2_2_3] in
  let blk := blocks 2 masks_2_3 in let Pe i := P2 (p i) in
  [/\ is_model b /\ (forall i, is_model (p i)),
      forall h, Rhat wcancel 2 b p h ->                 (* every kernel depends on the length of the prefix only *)
        [/\ b h == dist_of R 1 even, p ord0 h == dist_of R 1 (if size h == 1%N then [:: 1#4; 3#4] else even)
          & p ord_max h == dist_of R 1 (if size h == 0%N then [:: 1; 0]%Q else even)],
      FCc (fun t : 'I_2 => blk t) (P2 b) Pe & ~ FCb (fun t : 'I_2 => blk t) (P2 b) Pe].
Proof.
set fs := [:: p1_2_3; p2_2_3]; move=> b p blk Pe.
have eb : computed (P2 b) (qlaw fair [::]) by apply: computed_law => s; apply: lawE.
have ee (i : 'I_2) : computed (Pe i) (qlaw (nth (fun=> [::]) fs i) [::]) by apply: computed_law => s; apply: lawE.
split.
- by split; are_models.
- move=> h /andP[hT]; rewrite cancel_reach !dist_of_eq -(size_vals h) => rh.
  by apply/and3P; move: rh; apply/implyP; move: (vals h) (vals_prefixes hT); apply/allP; vm_compute.
- by apply/(FCcE (fe := fun i => qlaw (nth (fun=> [::]) fs i) [::]) _ eb ee); vm_compute.
- by move/(FCbE (fe := fun i => qlaw (nth (fun=> [::]) fs i) [::]) _ eb ee); vm_compute.
Qed.
Theorem counterexample_2_7 :
  let b := coin fair in let p := coins [:: p1_2_3; p2_2_3] in
  Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => at_ 1 0 (vals y)) = 1 %/ 4 /\
  Pr (p ord0) (fun y : 2.-tuple 'I_2 => at_ 1 0 (vals y)) = 1 %/ 2.
Proof. by split; by_rows. Qed.

(* CE 2.5a: "((b) without (a)). P_b=(1,1,1,5)/8; P_1=(7,21,1,3)/32, P_2=(7,1,21,3)/32. Target P(y_i=0)=7/8; global gives 175/232
   on both; local gives 7/8 on y_1, 553/760 on y_2." *)
Definition b_2_5a := of_law 1 2 (listed 1 2 [:: 1#8; 1#8; 1#8; 5#8]).
Definition p1_2_5a := of_law 1 2 (listed 1 2 [:: 7#32; 21#32; 1#32; 3#32]).
Definition p2_2_5a := of_law 1 2 (listed 1 2 [:: 7#32; 1#32; 21#32; 3#32]).
Theorem counterexample_2_5a :
  let b := coin b_2_5a in let p := coins [:: p1_2_5a; p2_2_5a] in
  let blk := (fun t : 'I_2 => blocks 2 [:: 0; 1]%N t) in let Pe i := P2 (p i) in
  [/\ [/\ masses 2 (law b [::]) = [:: 1 %/ 8; 1 %/ 8; 1 %/ 8; 5 %/ 8],
          masses 2 (law (p ord0) [::]) = [:: 7 %/ 32; 21 %/ 32; 1 %/ 32; 3 %/ 32]
        & masses 2 (law (p ord_max) [::]) = [:: 7 %/ 32; 1 %/ 32; 21 %/ 32; 3 %/ 32]],
      [/\ ~ FCa blk (P2 b), FCb blk (P2 b) Pe & FCc blk (P2 b) Pe],
      Pr (p ord0) (fun y : 2.-tuple 'I_2 => at_ 0 0 (vals y)) = 7 %/ 8 /\
      Pr (p ord_max) (fun y : 2.-tuple 'I_2 => at_ 1 0 (vals y)) = 7 %/ 8,
      PrG 2%N wcancel b p (at_ 0 0) = 175 %/ 232 /\ PrG 2%N wcancel b p (at_ 1 0) = 175 %/ 232
    & Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => at_ 0 0 (vals y)) = 7 %/ 8 /\
      Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => at_ 1 0 (vals y)) = 553 %/ 760].
Proof.
split; [by split; by_rows| |by split; by_rows| |by split; by_rows].
  have eb : computed (P2 (coin b_2_5a)) (qlaw b_2_5a [::]) by apply: computed_law => s; apply: lawE.
  have ee (i : 'I_2) : computed (P2 (coins [:: p1_2_5a; p2_2_5a] i)) (qlaw (nth (fun=> [::]) [:: p1_2_5a; p2_2_5a] i) [::]).
    by apply: computed_law => s; apply: lawE.
  by split; [move/(FCaE 2 _ eb)|apply/(FCbE (fe := fun i => qlaw (nth (fun=> [::]) [:: p1_2_5a; p2_2_5a] i) [::]) _ eb ee)|apply/(FCcE (fe := fun i => qlaw (nth (fun=> [::]) [:: p1_2_5a; p2_2_5a] i) [::]) _ eb ee)]; vm_compute.
by split; by_rows.
Qed.

(* "CE 2.8 (MA does not give marginal projectivity; smallest). |V|=T=k=2. p_b: all kernels (1/4,3/4); p_1: root (1/2,1/2); p_2:
   kernel (1/2,1/2) at prefix 1. P_2(y_2=1)=9/16, P^(y_2=1)=5/8." *)
Definition b_2_8 := tables [::] [:: 1#4; 3#4].
Definition p1_2_8 := tables [:: ([::], even)] [:: 1#4; 3#4].
Definition p2_2_8 := tables [:: ([:: 1%N], even)] [:: 1#4; 3#4].
Theorem counterexample_2_8 :
  let b := coin b_2_8 in let p := coins [:: p1_2_8; p2_2_8] in
  [/\ forall h i, (size h < 2)%N -> size h <> nat_of_ord i -> p i h = b h,       (* MA: M_i = {i} *)
      Pr (p ord_max) (fun y : 2.-tuple 'I_2 => at_ 1 1 (vals y)) = 9 %/ 16
    & Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => at_ 1 1 (vals y)) = 5 %/ 8].
Proof.
split; [|by by_rows|by by_rows] => h i hT /eqP; rewrite -(size_vals h) => hi; apply/eqP; rewrite dist_of_eq.
have ik : nat_of_ord i \in iota 0 2 by rewrite mem_iota; apply: ltn_ord.
by move: hi; apply/implyP; move: (nat_of_ord i) ik; apply/allP; move: (vals h) (vals_prefixes hT); apply/allP; vm_compute.
Qed.
End Section2.
