(* The counterexamples of theory.md, section 6 (features).  Tokens are 0, 1, ..; positions are counted from 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition segments marginals laws masks features total_variation rationals computation computation_masks.
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
    & [/\ Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => feature 0%N (vals y)) = 3 %/ 10,
          Pr (comp wcancel b p) (fun y : 2.-tuple 'I_2 => feature 1%N (vals y)) = 3 %/ 10
        & TV (fun y : 2.-tuple 'I_2 => law (comp wcancel b p) [::] y) (fun y : 2.-tuple 'I_2 => PG wcancel b p 2 y) = 1 %/ 8]].
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
split; [|by split; by_rows|by split; rewrite model_Pr; apply: QR_eqb; vm_compute| |].
  by split; [apply/(FCaE 2 _ eb)|apply/(FCbE _ eb ee)|apply/(FCcE _ eb ee)]; vm_compute.
  by split; by_rows.
split; [by by_rows|by by_rows|].
rewrite (TV_words (f := qlaw (qcomp true 1 fair [:: p1_6_3; p2_6_3]) [::]) (g := qPG true 1 fair [:: p1_6_3; p2_6_3] 2)).
- by apply: QR_eqb; vm_compute.
- by move=> y; apply: cancel_law.
by move=> y; apply: cancel_PG.
Qed.

(* "CE 6.5 (for |V|>=3 the condition of 6.4 is not necessary). |V|=4,T=2, features (row, col) of a 4x4 grid, M_1={row},
   M_2={col}, any product P_b. y_1: 0 = rows 0,1 × cols 0,1; 1 = rows 2,3 × cols 0,1; 2 = col 2; 3 = col 3; y_2 = the cell inside.
   At the root y_1 informs about both blocks and both experts deviate, JF-pt fails, yet Z≡1 and D#P_L is the target".
   One product and one FC pair: rows (1,2,3,4)/10 against (4,1,2,3)/10, columns (1,2,1,4)/8 against (4,2,1,1)/8. *)
Definition cell (s : seq nat) : seq nat := let y := nth 0%N s 0 in let z := nth 0%N s 1 in
  if (y < 2)%N then [:: (2 * y + z %/ 2); z %% 2]%N else [:: z; y].
Definition D_6_5 (y : {ffun 'I_2 -> 'I_4}) : {ffun 'I_2 -> 'I_4} := [ffun t => token (nth 0%N (cell (letters y)) (nat_of_ord t))].
Definition product (rows columns : seq Q) z : Q := Qred (nth 0 rows (nth 0%N z 0) * nth 0 columns (nth 0%N z 1))%Q.
Definition grid (rows columns : seq Q) := of_law 3 2 (fun y => product rows columns (cell y)).
Let rows_b := [:: 1#10; 2#10; 3#10; 4#10]. Let rows_1 := [:: 4#10; 1#10; 2#10; 3#10].
Let columns_b := [:: 1#8; 2#8; 1#8; 4#8]. Let columns_2 := [:: 4#8; 2#8; 1#8; 1#8].
Definition b_6_5 := grid rows_b columns_b.
Definition p1_6_5 := grid rows_1 columns_b.
Definition p2_6_5 := grid rows_b columns_2.
Theorem counterexample_6_5 :
  let b := model R 3 b_6_5 in let p := experts R 3 [:: p1_6_5; p2_6_5] in
  let blk := (fun t : 'I_2 => blocks 2 [:: 0; 1]%N t) in
  let Db := push D_6_5 (Law b) in let Dp i := push D_6_5 (Law (p i)) in
  [/\ injective D_6_5, FC blk Db Dp, dev b p ord0 [::] && dev b p ord_max [::],
      forall h, (size h < 2)%N -> Zk wcancel b p h = 1
    & push D_6_5 (Law (comp wcancel b p)) =1 target blk Db Dp].
Proof.
have eD y : letters (D_6_5 y) = cell (letters y).
  apply: (@eq_from_nth _ 0%N) => [|t].
    rewrite size_map size_tuple /cell; by case: ifP.
  rewrite /letters size_map size_tuple => tT; rewrite -/(letters _) -[t]/(val (Ordinal tT)) nth_letters ffunE /= modn_small //.
  by move: (letters y) (letters_words y) (t) tT; move=> s sw [|[|]] // _; move: s sw; apply/allP; vm_compute.
pose fs := [:: p1_6_5; p2_6_5].
pose fb := product rows_b columns_b.
pose fe i := nth fb [:: product rows_1 columns_b; product rows_b columns_2] i.
have inj : injective D_6_5.
  move=> y y' e; have {e} : cell (letters y) == cell (letters y') by rewrite -!eD e.
  move=> e; apply/ffunP => t; apply/val_inj; rewrite /= -!nth_letters; congr nth; apply/eqP; move: e; apply/implyP.
  by move: (letters y') (letters_words y'); apply/allP; move: (letters y) (letters_words y); apply/allP; vm_compute.
have feature (P : {ffun 'I_2 -> 'I_4} -> R) f : computed P (f \o cell) -> computed (push D_6_5 P) f.
  by move=> e z; rewrite -(f_invF inj z) push_at // e eD.
have eb : computed (push D_6_5 (Law (model R 3 b_6_5))) fb.
  apply: feature; apply: (computed_eq (f := qlaw b_6_5 [::])); first by apply: computed_law => s; apply: lawE.
  by vm_compute.
have ee (i : 'I_2) : computed (push D_6_5 (Law (experts R 3 fs i))) (fe i).
  apply: feature; apply: (computed_eq (f := qlaw (nth (fun=> [::]) fs i) [::])); first by apply: computed_law => s; apply: lawE.
  by case: i => [[|[|]]] // ?; vm_compute.
have ec : computed (push D_6_5 (Law (comp wcancel (model R 3 b_6_5) (experts R 3 fs)))) (product rows_1 columns_2).
  apply: feature; apply: (computed_eq (f := qlaw (qcomp true 3 b_6_5 fs) [::])); first by apply: computed_law => s; apply: cancel_law.
  by vm_compute.
split=> //.
- by split; [apply/(FCaE 2 _ eb)|apply/(FCbE _ eb ee)|apply/(FCcE _ eb ee)]; vm_compute.
- by by_rows.
- by move=> h hT; apply/eqP; rewrite -QR1; at_prefixes h hT.
move=> z; rewrite (targetE _ eb ee).
rewrite ec; apply/eqP; rewrite QR_eqE.
by move: (letters z) (letters_words z); apply/allP; vm_compute.
Qed.
End Section6.
