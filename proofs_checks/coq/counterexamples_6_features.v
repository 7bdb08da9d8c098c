(* The counterexamples of theory.md, section 6 (features).  Tokens are 0, 1, ..; positions are counted from 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition segments marginals laws masks rationals computation computation_masks.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

Section Section6.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation P2 := (Law (T := 2)).
Let even := [:: 1#2; 1#2].
Let fair := tables [::] even.

(* "CE 6.3 (smallest). z=(y_1⊕y_2, y_2), masks {z_1},{z_2}, FC in features with P_b uniform, P_i(z_i=1)=1/4. Global: (1/4,1/4).
   Local: Z(0)=5/4,Z(1)=3/4, (3/10,3/10), TV 1/8." *)
Definition xor (s : seq nat) : seq nat := [:: (nth 0 s 0 + nth 0 s 1) %% 2; nth 0 s 1]%N.
Definition D_6_3 (y : {ffun 'I_2 -> 'I_2}) : {ffun 'I_2 -> 'I_2} := [ffun t => token (nth 0%N (xor (letters y)) (nat_of_ord t))].
Definition p1_6_3 := tables [:: ([:: 0%N], [:: 3#4; 1#4]); ([:: 1%N], [:: 1#4; 3#4])] even.
Definition p2_6_3 := tables [:: ([::], even)] [:: 3#4; 1#4].
Definition feature t : pred (seq nat) := fun y => nth 0%N (xor y) t == 1%N.
Theorem counterexample_6_3 :
  let b := coin fair in let p := coins [:: p1_6_3; p2_6_3] in
  let blk := (fun t : 'I_2 => blocks 2 [:: 0; 1]%N t) in
  [/\ FC blk (push D_6_3 (P2 b)) (fun i => push D_6_3 (P2 (p i))),
      Zk wcancel b p (tokens [:: 0%N]) = 5 %/ 4 /\ Zk wcancel b p (tokens [:: 1%N]) = 3 %/ 4,
      Pr (p ord0) (fun y : 2.-tuple 'I_2 => feature 0%N (vals y)) = 1 %/ 4 /\
      Pr (p ord_max) (fun y : 2.-tuple 'I_2 => feature 1%N (vals y)) = 1 %/ 4,
      PrG 2%N wcancel b p (feature 0%N) = 1 %/ 4 /\ PrG 2%N wcancel b p (feature 1%N) = 1 %/ 4
    & Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => feature 0%N (vals y)) = 3 %/ 10 /\
      Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => feature 1%N (vals y)) = 3 %/ 10].
Proof.
have eD y : letters (D_6_3 y) = xor (letters y).
  apply: (@eq_from_nth _ 0%N) => [|t]; rewrite /letters size_map size_tuple //.
  move=> tT; rewrite -/(letters _) -[t]/(val (Ordinal tT)) nth_letters ffunE /= modn_small //.
  by move: (letters y) (letters_words y) (t) tT; move=> s sw [|[|]] // _; move: s sw; apply/allP; vm_compute.
pose fe i := (fun z => qmass 1 2 (fun y => xor y == z) (qlaw (nth (fun=> [::]) [:: p1_6_3; p2_6_3] i) [::])).
have eb : computed (push D_6_3 (P2 (coin fair))) (fun z => qmass 1 2 (fun y => xor y == z) (qlaw fair [::])).
  by apply: (computed_push eD); apply: computed_law => s; apply: lawE.
have ee (i : 'I_2) : computed (push D_6_3 (P2 (coins [:: p1_6_3; p2_6_3] i))) (fe i).
  by apply: (computed_push eD); apply: computed_law => s; apply: lawE.
split; [|by split; by_rows|by split; rewrite model_Pr; apply: QR_eqb; vm_compute| |by split; rewrite cancel_Pr; apply: QR_eqb; vm_compute].
  by split; [apply/(FCaE 2 _ eb)|apply/(FCbE _ eb ee)|apply/(FCcE _ eb ee)]; vm_compute.
by split; by_rows.
Qed.
End Section6.
