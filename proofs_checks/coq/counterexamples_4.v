(* The counterexamples of theory.md, sections 3, 4 and 5.  Tokens are 0, 1, ..; masses of words in lexicographic order. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition skills joint segments rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

Section Section3.
(* "CE 3.5 (last exit is not a stopping time). Smallest: Dev={∅,(0,0)} (|V|=2,T=3). "Last deviation + 1" peeks; the canonical
   exit is the first prefix from which no deviation can be reached." *)
Definition Dev_3_5 : pred (seq 'I_2) := fun h => vals h \in [:: [::]; [:: 0; 0]]%N.
Definition last_exit (y : 3.-tuple 'I_2) : nat :=
  let exits := [seq l.+1 | l <- iota 0 3 & Dev_3_5 (take l y)] in if exits is [::] then 3%N else foldr maxn 0%N exits.
Theorem counterexample_3_5 :
  [/\ ~ stopping last_exit, stopping (s2 (T := 3) Dev_3_5)
    & forall y : 3.-tuple 'I_2, s2 Dev_3_5 y =
        if take 2 (vals y) == [:: 0; 0]%N then 3%N else if take 1 (vals y) == [:: 0]%N then 2%N else 1%N].
Proof.
split=> [[_ st]||y].
- have := st [tuple token 0; token 1; token 0] [tuple token 0; token 0; token 0] 1%N; rewrite /pre => H.
  suff: last_exit [tuple token 0; token 0; token 0] = 1%N by vm_compute.
  by apply: H => //; vm_compute.
- by have [] := theorem_3_4_stopping 3 Dev_3_5.
by rewrite (s2E (fun s => s \in [:: [::]; [:: 0; 0]]%N)) //; apply/eqP; at_paths y.
Qed.
End Section3.

Section Section4.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).
Local Notation "[ 'prefix' x ; .. ; y ]" := (word (cons x%N .. (cons y%N nil) ..)).
Let even := [:: 1#2; 1#2]. Let sure := [:: 1; 0]%Q.
Let fair := tables [::] even. Let zero := tables [::] sure.

(* 3.7: "CE: both experts deviate only at a prefix unreachable for p^: not disjoint on V^{<T}, disjoint on R^." *)
Definition alike := tables [:: ([::], sure)] even.
Definition p1_3_7 := tables [:: ([::], sure); ([:: 1%N], [:: 1#4; 3#4])] even.
Definition p2_3_7 := tables [:: ([::], sure); ([:: 1%N], [:: 3#4; 1#4])] even.
Theorem counterexample_3_7 :
  let b := coin alike in let p := coins [:: p1_3_7; p2_3_7] in
  [/\ is_model b, forall i, is_model (p i),
      forall i h, (size h < 2)%N -> dev b p i h = (vals h == [:: 1]%N),
      jf_pt b p (Rhat wcancel 2 b p) /\ jf_int 2 (Dev b p (Rhat wcancel 2 b p))
    & ~ jf_pt b p [pred h | (size h < 2)%N]].
Proof.
split; [are_models|are_models| | |].
- move=> i h hT; rewrite devE; apply/eqP; case: i => [[|[|]]] // ?; rewrite ?[nth _ _ _]/=; at_prefixes h hT.
- have D h : (size h < 2)%N -> reach (comp wcancel (coin alike) (coins [:: p1_3_7; p2_3_7])) h -> vals h != [:: 1]%N.
    by move=> hT; apply/implyP; at_prefixes h hT.
  have none i h : Rhat wcancel 2 (coin alike) (coins [:: p1_3_7; p2_3_7]) h -> ~~ dev (coin alike) (coins [:: p1_3_7; p2_3_7]) i h.
    case/andP => hT /(D h hT); rewrite devE negbK; apply/implyP; case: i => [[|[|]]] // ?; rewrite ?[nth _ _ _]/=; at_prefixes h hT.
  split=> [h Sh i j di|]; first by rewrite (negPf (none i h Sh)) in di.
  apply/(theorem_4_2_active _ _ ord0) => h i j /andP[_ /startedP[m _ /andP[Sm dm]]].
  by rewrite (negPf (none i _ Sm)) in dm.
- move/(_ [prefix 1] isT (ord0 : 'I_2) ord_max) => H; suff: (ord0 : 'I_2) = ord_max by [].
  by apply: H; by_rows.
Qed.

(* "CE 4.3 (smallest, T=3; none at T=2). Dev_1={∅,(0,0)}, Dev_2={(0)}: interleaving." *)
Let d1_4_3 : pred (seq nat) := fun s => s \in [:: [::]; [:: 0; 0]]%N.
Let d2_4_3 : pred (seq nat) := fun s => s == [:: 0]%N.
Theorem counterexample_4_3 :
  let Dev := sets 1 [:: d1_4_3; d2_4_3] in jf_point 3 Dev /\ ~ jf_int 3 Dev.
Proof. by split; [apply/jf_pointE|move/jf_intE]; vm_compute. Qed.
(* models that have these sets; they compose exactly, JF-int fails *)
Definition p1_4_3 := tables [seq (h, [:: 1#4; 3#4]) | h <- [:: [::]; [:: 0; 0]]%N] even.
Definition p2_4_3 := tables [:: ([:: 0%N], [:: 1#4; 3#4])] even.
Theorem counterexample_4_3_models :
  let b := coin fair in let p := coins [:: p1_4_3; p2_4_3] in
  [/\ is_model b, forall i, is_model (p i), forall i h, (size h < 3)%N -> dev b p i h = sets 1 [:: d1_4_3; d2_4_3] i h,
      jf_pt b p [pred h | (size h < 3)%N] & ~ jf_int 3 (dev b p)].
Proof.
have D i h : (size h < 3)%N -> dev (coin fair) (coins [:: p1_4_3; p2_4_3]) i h = sets 1 [:: d1_4_3; d2_4_3] i h.
  by move=> hT; rewrite devE; apply/eqP; case: i => [[|[|]]] // ?; rewrite /sets ?[nth _ _ _]/=; at_prefixes h hT.
split; [are_models|are_models|exact: D| |].
  move=> h hT i j; rewrite !D // => di dj; by have /jf_pointE := isT : qjf_point 1 3 [:: d1_4_3; d2_4_3]; apply; eauto.
have [_ nj] := counterexample_4_3; move/(theorem_4_2_active _ _ ord0) => dis; apply: nj.
apply/(theorem_4_2_active _ _ ord0) => h i j ai aj.
have up k u : sets 1 [:: d1_4_3; d2_4_3] k u -> dev (coin fair) (coins [:: p1_4_3; p2_4_3]) k u.
  move=> su; rewrite D //; move: su; rewrite /sets -(size_vals u).
  by case: k => [[|[|]]] // ?; [rewrite /= /d1_4_3 !inE => /orP[] /eqP->|move=> /eqP->].
by apply: (dis h); [move: ai|move: aj]; apply: act_monotone => // u; apply: up.
Qed.


(* ---- 4.4 ---- *)
(* "(1) under `cancel`, p_b=p_1=(1,0), p_2=(1/2,1/2): r_2=1/2 is constant on supp p_1, yet p^=p_2." *)
Theorem counterexample_4_4_1 :
  let b := coin zero in let p := coins [:: zero; fair] in
  [/\ forall y, p ord0 [::] y != 0 -> p ord_max [::] y / b [::] y = 1 %/ 2,
      comp wcancel b p [::] = p ord_max [::] & comp wcancel b p [::] != p ord0 [::]].
Proof.
split; [|by by_rows|by by_rows] => y.
rewrite !modelE QR_eq0 -QRV -QRM => py; apply: QR_eqb; move: py; apply/implyP.
have: val y \in iota 0 2 by rewrite mem_iota; apply: ltn_ord.
by move: (val y); apply/allP; vm_compute.
Qed.
(* "(2) under `drop`, T=k=1, p_b=(1,0), p_1=(1/2,1/2): p^=(1,0), Z=1/2." *)
Theorem counterexample_4_4_2 :
  let b := coin zero in let p := coins [:: fair] in
  [/\ jf_pt b p predT, comp wdrop b p [::] = dist_of R 1 [:: 1; 0]%Q, comp wdrop b p [::] != switch b p [::]
    & Zk wdrop b p [::] = 1 %/ 2].
Proof.
split; [by move=> h _ [[|]] // ? [[|]] // ? _ _; apply/val_inj|by by_rows| |by by_rows].
rewrite /switch /assign; case: pickP => [i _|/(_ ord0)]; last by rewrite devE; vm_compute.
by case: i => [[|]] // ?; by_rows.
Qed.
(* "(3') With the background admitted as a component that is false: p_b=(1/2,1/2), p_1=(1/3,2/3), p_2=(2/3,1/3) give
   p^=p_b, Z=8/9" *)
Theorem counterexample_4_4_3_background :
  let b := coin fair in let p := coins [:: tables [::] [:: 1#3; 2#3]; tables [::] [:: 2#3; 1#3]] in
  [/\ comp wcancel b p [::] = b [::], Zk wcancel b p [::] = 8 %/ 9 & dev b p ord0 [::] && dev b p ord_max [::]].
Proof. by split; by_rows. Qed.
(* "JF-pt is not necessary outside (3): (i) p_1(.|h) deterministic beats anything with p_2>0 there, |V|=2" *)
Theorem counterexample_4_4_i :
  let b := coin fair in let p := coins [:: zero; tables [::] [:: 1#4; 3#4]] in
  comp wcancel b p [::] = p ord0 [::] /\ (dev b p ord0 [::] && dev b p ord_max [::]).
Proof. by split; by_rows. Qed.
(* "(ii) k=3: r_2 r_3 constant, e.g. p_b uniform, p_2=(1,1,10)/12, p_3=(10,10,1)/21"; any p_1, here (1/6,1/3,1/2) *)
Theorem counterexample_4_4_ii :
  let b := model R 2 (tables [::] [:: 1#3; 1#3; 1#3]) in
  let p := experts R 2 [:: tables [::] [:: 1#6; 1#3; 1#2]; tables [::] [:: 1#12; 1#12; 10#12]; tables [::] [:: 10#21; 10#21; 1#21]] in
  comp wcancel b p [::] = p ord0 [::] /\ forall i, dev b p i [::].
Proof. by split; [by_rows|case=> [[|[|[|]]]] // ?; rewrite devE; vm_compute]. Qed.
(* "(iii) hard constraints (1.9b)" *)
Theorem counterexample_4_4_iii :
  let b := model R 3 (tables [::] [:: 1#4; 1#4; 1#4; 1#4]) in
  let p := experts R 3 [:: tables [::] [:: 1#2; 1#2; 0; 0]%Q; tables [::] [:: 1#3; 1#3; 1#3; 0]%Q] in
  comp wcancel b p [::] = p ord0 [::] /\ (dev b p ord0 [::] && dev b p ord_max [::]).
Proof. by split; by_rows. Qed.

(* "CE 4.6 (JF-pt alone: kernels exact, segment law wrong). |V|=2,T=3, p_b uniform; p_1: root (3/4,1/4), step 3 copies y_2 w.p.
   3/4; p_2: step 2 (1/4,3/4). p^ exact, Z≡1, but (y_1,y_3): p_1 gives (3,3,1,1)/8, p^ gives (9,15,3,5)/32." *)
Definition p1_4_6 := tables [:: ([::], [:: 3#4; 1#4]); ([:: 0; 0]%N, [:: 3#4; 1#4]); ([:: 1; 0]%N, [:: 3#4; 1#4]);
  ([:: 0; 1]%N, [:: 1#4; 3#4]); ([:: 1; 1]%N, [:: 1#4; 3#4])] even.
Definition p2_4_6 := tables [:: ([:: 0%N], [:: 1#4; 3#4]); ([:: 1%N], [:: 1#4; 3#4])] even.
Definition ends a c : pred (seq nat) := fun y => (nth 0%N y 0 == a) && (nth 0%N y 2 == c).
Theorem counterexample_4_6 :
  let b := coin fair in let p := coins [:: p1_4_6; p2_4_6] in
  let pairs q := [seq Pr q (fun y : 3.-tuple 'I_2 => ends ac.1 ac.2 (vals y)) | ac <- [:: (0, 0); (0, 1); (1, 0); (1, 1)]%N] in
  [/\ jf_pt b p [pred h | (size h < 3)%N], ~ jf_int 3 (dev b p),
      forall h, (size h < 3)%N -> comp wcancel b p h = switch b p h /\ Zk wcancel b p h = 1,
      pairs (p ord0) = [:: 3 %/ 8; 3 %/ 8; 1 %/ 8; 1 %/ 8]
    & pairs (comp wcancel b p) = [:: 9 %/ 32; 15 %/ 32; 3 %/ 32; 5 %/ 32]].
Proof.
move=> b p pairs; have mb : is_model b by are_models.
have mp i : is_model (p i) by move: i; are_models.
have jf : jf_pt b p [pred h | (size h < 3)%N & true].
  by apply: (jf_rows (s := xpredT)) => //; vm_compute.
split.
- by move=> h hT; apply: jf; rewrite inE /= andbT.
- move/(theorem_4_2_active _ _ ord0) => /(_ [prefix 0] ord0 ord_max) dis.
  suff: (ord0 : 'I_2) = ord_max by []; apply: dis.
    by rewrite (actE (fun s => ~~ qsame 1 (p1_4_6 s) (fair s))) => [|h]; [vm_compute|exact: devE].
  by rewrite (actE (fun s => ~~ qsame 1 (p2_4_6 s) (fair s))) => [|h]; [vm_compute|exact: devE].
- move=> h hT; have one i j : dev b p i h -> dev b p j h -> i = j by apply: jf; rewrite inE /= andbT.
  by split; [apply: comp_switch|apply: Z1] => // *; [apply: wcancel_sole|apply: wcancel_none|apply: wcancel_sole|apply: wcancel_none].
- by rewrite /pairs /p; cbn [map fst snd]; congr [:: _; _; _; _]; by_rows.
- by rewrite /pairs /b /p; cbn [map fst snd]; congr [:: _; _; _; _]; by_rows.
Qed.

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
End Section4.
