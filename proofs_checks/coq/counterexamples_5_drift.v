(* The counterexamples of theory.md, section 5 (drift, inherited guarantees).  Tokens are 0, 1, ... *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition exactness skills joint segments rationals computation counterexamples_4_exactness.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

(* "CE 5.3 (entry). Entry probability under P^ is unrelated to that under P_i: an earlier expert may emit EOS or the trigger."
   Whatever the two probabilities: token `true` is the trigger, `false` the end; expert `true` deviates after the trigger,
   expert `false` before. *)
Section Entry.
Variable R : realFieldType.
Variables (a c : R).
Hypotheses (a01 : 0 <= a <= 1) (c01 : 0 <= c <= 1).
Local Notation V := bool_finType.
Let flip (x : R) : dist R V := [ffun y => if y then x else 1 - x].
Let b : kernel R V := fun h => flip (if h is [::] then a else 1).
Let p (i : bool) : kernel R V := fun h =>
  flip (if h is [::] then (if i then a else c) else if i && (h == [:: true]) then 2%:R^-1 else 1).
Lemma flip_dist x : 0 <= x <= 1 -> is_dist (flip x).
Proof. by case/andP=> x0 x1; split=> [[]|]; rewrite ?big_bool !ffunE ?subr_ge0 //= addrC subrK. Qed.
Theorem counterexample_5_3 :
  let enters q := \sum_(y : 2.-tuple V | (s1 (Dev b p predT true) y < 2)%N) law q [::] y in
  [/\ is_model b /\ (forall i, is_model (p i)),
      jf_int 2 (Dev b p predT), forall h, (size h < 2)%N -> Zk (@wcancel R V _) b p h = 1,
      enters (p true) = a & enters (comp (@wcancel R V _) b p) = c].
Proof.
have half : 0 <= (2%:R^-1 : R) <= 1 by rewrite invr_ge0 ler0n invf_le1 ?ltr0n // ler1n.
have one : 0 <= (1 : R) <= 1 by rewrite ler01 lexx.
have mb : is_model b by case=> [|x h]; apply: flip_dist.
have mp i : is_model (p i).
  by case=> [|x h]; apply: flip_dist; [case: i|rewrite /=; case: ifP].
have flip_eq x y : (flip x == flip y) = (x == y).
  by apply/eqP/eqP => [/ffunP/(_ true)|->//]; rewrite !ffunE.
have D i h : (size h < 2)%N -> Dev b p predT i h = if i then h == [:: true] else (h == [::]) && (c != a).
  case: h => [_|x [|//] _]; rewrite /Dev /dev /p /b flip_eq; case: i => //=; rewrite ?eqxx //.
  by case: (_ == [:: true]); rewrite ?eqxx // invr_eq1 pnatr_eq1.
move=> enters; have E q : enters q = q [::] true * \sum_y q [:: true] y.
  pose F (s : seq V) := if take 1 s == [:: true] then law q [::] s else 0.
  have -> : enters q = \sum_(y : 2.-tuple V) F (y : 2.-tuple V).
    rewrite [enters q]big_mkcond; apply: eq_bigr => y _; rewrite /F /s1 /debut /pre /= !D ?size_take ?size_tuple //. 
    by rewrite take0; case: (take 1 y == _).
  rewrite (@big_tuple_cons R _ 1 F) (bigD1 true) //= [X in _ + X]big1 ?addr0 => [|[] // _]; last by rewrite big1.
  rewrite mulr_sumr (big_tuple_cons 0 (fun t => F (true :: t))); apply: eq_bigr => y _.
  by rewrite (sum_tuple0 (fun t => F [:: true, y & t])) /F /= mulr1.
have jf : jf_point 2 (Dev b p predT).
  move=> h hT i j; rewrite !D //.
  by case: i j => [] [] //; [move=> /eqP->|case/andP=> /eqP->].
split=> //; first exact: counterexample_4_3_smallest true jf.
- move=> h hT; apply: (Z_one (c := Cancel)) => // i j di dj; exact: (jf h hT i j).
- by apply: (etrans (E _)); rewrite (mp true [:: true]).2 mulr1 ffunE.
have sole h i : (size h < 2)%N -> (forall j, j != i -> ~~ Dev b p predT j h) -> comp (@wcancel R V _) b p h = p i h.
  move=> hT none; apply: (comp_sole (c := Cancel) mp) => // j /none; rewrite /Dev /dev /= negbK => /eqP e; exact: e.
have e0 : comp (@wcancel R V _) b p [::] = p false [::] by apply: sole => // -[] // _; rewrite D.
have e1 : comp (@wcancel R V _) b p [:: true] = p true [:: true] by apply: sole => // -[] // _; rewrite D.
by apply: (etrans (E _)); rewrite e0 e1 (mp true [:: true]).2 mulr1 ffunE.
Qed.
End Entry.

Section Section5.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).
Local Notation "[ 'prefix' x ; .. ; y ]" := (tokens (cons x%N .. (cons y%N nil) ..)).
Let even := [:: 1#2; 1#2]. Let sure := [:: 1; 0]%Q.
Let fair := tables [::] even. Let zero := tables [::] sure.

(* "CE 5.4 (drift). |V|=T=2: p_b,p_1 put 1/100 on y_1=1; p_1 right after 0, wrong after 1; p_2 puts 99/100 on y_1=1. JF holds,
   Z≡1; P_1(G)=99/100, P^(G)=1/100."  Right: y_2 = 0. *)
Definition b_5_4 := tables [:: ([::], [:: 99#100; 1#100])] even.
Definition p1_5_4 := tables [:: ([::], [:: 99#100; 1#100]); ([:: 0%N], sure); ([:: 1%N], [:: 0; 1]%Q)] even.
Definition p2_5_4 := tables [:: ([::], [:: 1#100; 99#100])] even.
Definition right_5_4 : pred (seq nat) := fun y => nth 0%N y 1 == 0%N.
Theorem counterexample_5_4 :
  let b := coin b_5_4 in let p := coins [:: p1_5_4; p2_5_4] in
  let G (y : 2.-tuple 'I_2) := right_5_4 (vals y) in
  [/\ is_model b /\ (forall i, is_model (p i)), jf_int 2 (Dev b p (fun h => (size h < 2)%N)),
      forall h, (size h < 2)%N -> Zk wcancel b p h = 1,
      Pr (p ord0) G = 99 %/ 100 & Pr (comp wcancel b p) G = 1 %/ 100].
Proof.
move=> b p G; split; [by split; are_models| | |by rewrite /p /G; by_rows|by rewrite /b /p /G; by_rows].
  apply/(theorem_4_2_active _ _ ord0) => h i j ai aj; move: (ai) (aj).
  have E k : act 2 (Dev b p (fun h => (size h < 2)%N) k) h =
      qact 1 2 (fun s => (size s < 2)%N && ~~ qsame 1 (nth (fun=> [::]) [:: p1_5_4; p2_5_4] k s) (b_5_4 s)) (vals h).
    by apply: actE => u; rewrite /Dev devE size_vals.
  rewrite !E; have sp := vals_prefixes (act_size ai).
  suff: (count (fun f : rows => qact 1 2 (fun s => (size s < 2)%N && ~~ qsame 1 (f s) (b_5_4 s)) (vals h))
      [:: p1_5_4; p2_5_4] <= 1)%N by move/(count_le1P (fun=> [::])); apply.
  by move: (vals h) sp; apply/allP; vm_compute.
move=> h hT; apply/eqP; rewrite -QR1 /b /p; at_prefixes h hT.
Qed.

(* "CE 5.5 (amplification). |V|=2, T=3, p_b=(9/10,1/10) everywhere; p_1=(1/10,9/10) at the root, p_2=(1/10,9/10) at prefix 1,
   both (1/2,1/2) at 11. The only overlap prefix is 11; it is hit with probability 1/100 under p_b, 9/100 under p_1 and p_2,
   81/100 under p^." *)
Definition b_5_5 := tables [::] [:: 9#10; 1#10].
Definition p1_5_5 := tables [:: ([::], [:: 1#10; 9#10]); ([:: 1; 1]%N, even)] [:: 9#10; 1#10].
Definition p2_5_5 := tables [:: ([:: 1%N], [:: 1#10; 9#10]); ([:: 1; 1]%N, even)] [:: 9#10; 1#10].
Theorem counterexample_5_5 :
  let b := coin b_5_5 in let p := coins [:: p1_5_5; p2_5_5] in
  [/\ forall h, (size h < 3)%N -> dev b p ord0 h && dev b p ord_max h = (vals h == [:: 1; 1]%N),
      law b [::] [prefix 1; 1] = 1 %/ 100, law (p ord0) [::] [prefix 1; 1] = 9 %/ 100,
      law (p ord_max) [::] [prefix 1; 1] = 9 %/ 100
    & law (comp wcancel b p) [::] [prefix 1; 1] = 81 %/ 100].
Proof.
split; [|by by_rows|by by_rows|by by_rows|by by_rows].
by move=> h hT; apply/eqP; at_prefixes h hT.
Qed.
End Section5.
