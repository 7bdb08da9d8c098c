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

(* "CE 2.5b (pairwise independence of blocks is not enough; T=k=3). P_b=(1+½(-1)^{y1+y2+y3})/8, P_i = tilt (1/4,3/4) on y_i
   ⊗ uniform. Target 3/4; global 9/11 on each; local 3/4,3/4,39/56." *)
Definition b_2_5b := of_law 1 3 (fun y => if odd (sumn y) then 1#16 else 3#16).
Definition p_2_5b i := of_law 1 3 (fun y => if nth 0%N y i == 0%N then 1#16 else 3#16).
Theorem counterexample_2_5b :
  let b := coin b_2_5b in let p := coins [:: p_2_5b 0; p_2_5b 1; p_2_5b 2] in
  let blk := (fun t : 'I_3 => blocks 3 [:: 0; 1; 2]%N t) in let Pe i := P3 (p i) in
  let one q i := Pr q (fun y : 3.-tuple 'I_2 => at_ i 1 (vals y)) in
  [/\ masses 3 (law b [::]) = [:: 3 %/ 16; 1 %/ 16; 1 %/ 16; 3 %/ 16; 1 %/ 16; 3 %/ 16; 3 %/ 16; 1 %/ 16],
      [/\ ~ FCa blk (P3 b), FCb blk (P3 b) Pe & FCc blk (P3 b) Pe],
      (* the blocks are independent in pairs *)
      (forall i j a c, i \in iota 0 3 -> j \in iota 0 3 -> a \in iota 0 2 -> c \in iota 0 2 -> i != j ->
         Pr b (fun y : 3.-tuple 'I_2 => at_ i a (vals y) && at_ j c (vals y)) = 1 %/ 4),
      [/\ forall i : 'I_3, one (p i) i = 3 %/ 4,
          one (comp wcancel b p) 0%N = 3 %/ 4, one (comp wcancel b p) 1%N = 3 %/ 4 & one (comp wcancel b p) 2%N = 39 %/ 56]
    & forall i : 'I_3, PrG 3%N wcancel b p (at_ i 1) = 9 %/ 11].
Proof.
set fs := [:: p_2_5b 0; p_2_5b 1; p_2_5b 2]; move=> b p blk Pe one; split.
- by rewrite /b; by_rows.
- have eb : computed (P3 b) (qlaw b_2_5b [::]) by apply: computed_law => s; apply: lawE.
  have ee (i : 'I_3) : computed (Pe i) (qlaw (nth (fun=> [::]) fs i) [::]) by apply: computed_law => s; apply: lawE.
  split; [move/(FCaE 3 _ eb)|apply/(FCbE (fe := fun i => qlaw (nth (fun=> [::]) fs i) [::]) _ eb ee)|apply/(FCcE (fe := fun i => qlaw (nth (fun=> [::]) fs i) [::]) _ eb ee)]; by vm_compute.
- move=> i j a c i3 j3 a2 c2; rewrite (@model_Pr R 1 3 (fun y => at_ i a y && at_ j c y)) => ij; apply: QR_eqb; move: ij; apply/implyP.
  by move: c c2; apply/allP; move: a a2; apply/allP; move: j j3; apply/allP; move: i i3; apply/allP; vm_compute.
- split; rewrite /one /b /p; [|by by_rows|by by_rows|by by_rows].
  by case=> [[|[|[|]]]] // ?; rewrite (@model_Pr R 1 3 (at_ _ 1)); apply: QR_eqb; vm_compute.
by rewrite /b /p; case=> [[|[|[|]]]] // ?; rewrite cancel_PrG; apply: QR_eqb; vm_compute.
Qed.

(* "CE 2.5c (marginals agree, but M_1 not independent of M_1^c under p_1). P_b uniform, P_1=(1,2,3,2)/8, P_2=(7,1,7,1)/16:
   neither operator projective."  Global: 9/32 against P_1(y_1=0)=3/8; local: 119/138 against P_2(y_2=0)=7/8. *)
Definition p1_2_5c := of_law 1 2 (listed 1 2 [:: 1#8; 2#8; 3#8; 2#8]).
Definition p2_2_5c := of_law 1 2 (listed 1 2 [:: 7#16; 1#16; 7#16; 1#16]).
Theorem counterexample_2_5c :
  let b := coin fair in let p := coins [:: p1_2_5c; p2_2_5c] in
  let blk := (fun t : 'I_2 => blocks 2 [:: 0; 1]%N t) in let Pe i := P2 (p i) in
  let zero q t := Pr q (fun y : 2.-tuple 'I_2 => at_ t 0 (vals y)) in
  [/\ masses 2 (law (p ord0) [::]) = [:: 1 %/ 8; 2 %/ 8; 3 %/ 8; 2 %/ 8] /\
        masses 2 (law (p ord_max) [::]) = [:: 7 %/ 16; 1 %/ 16; 7 %/ 16; 1 %/ 16],
      [/\ FCa blk (P2 b), ~ FCb blk (P2 b) Pe & FCc blk (P2 b) Pe],
      zero (p ord0) 1%N = zero b 1%N /\ zero (p ord_max) 0%N = zero b 0%N,    (* the marginals agree *)
      zero (p ord0) 0%N = 3 %/ 8 /\ PrG 2%N wcancel b p (at_ 0 0) = 9 %/ 32
    & zero (p ord_max) 1%N = 7 %/ 8 /\ zero (comp wcancel b p) 1%N = 119 %/ 138].
Proof.
set fs := [:: p1_2_5c; p2_2_5c]; move=> b p blk Pe zero; split.
- by rewrite /p; split; by_rows.
- have eb : computed (P2 b) (qlaw fair [::]) by apply: computed_law => s; apply: lawE.
  have ee (i : 'I_2) : computed (Pe i) (qlaw (nth (fun=> [::]) fs i) [::]) by apply: computed_law => s; apply: lawE.
  split; [apply/(FCaE 2 _ eb)|move/(FCbE (fe := fun i => qlaw (nth (fun=> [::]) fs i) [::]) _ eb ee)|apply/(FCcE (fe := fun i => qlaw (nth (fun=> [::]) fs i) [::]) _ eb ee)]; by vm_compute.
- by rewrite /zero /b /p; split; rewrite !(@model_Pr R 1 2 (at_ _ 0)); apply: QR_eqb; vm_compute.
- by rewrite /zero /b /p; split; by_rows.
by rewrite /zero /b /p; split; by_rows.
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
