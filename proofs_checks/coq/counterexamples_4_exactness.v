(* The counterexamples of theory.md, section 4 (joint factorizability and exactness).  Tokens are 0, 1, ... *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition exactness skills joint segments rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

Section Section4.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).
Local Notation "[ 'prefix' x ; .. ; y ]" := (tokens (cons x%N .. (cons y%N nil) ..)).
Let even := [:: 1#2; 1#2]. Let sure := [:: 1; 0]%Q.
Let fair := tables [::] even. Let zero := tables [::] sure.

(* "CE 4.3 (smallest, T=3; none at T=2). Dev_1={∅,(0,0)}, Dev_2={(0)}: interleaving." *)
Let d1_4_3 : pred (seq nat) := fun s => s \in [:: [::]; [:: 0; 0]]%N.
Let d2_4_3 : pred (seq nat) := fun s => s == [:: 0]%N.
Theorem counterexample_4_3 :
  let Dev := sets 1 [:: d1_4_3; d2_4_3] in jf_point 3 Dev /\ ~ jf_int 3 Dev.
Proof. by split; [apply/jf_pointE|move/jf_intE]; vm_compute. Qed.
(* "none at T=2": there JF-pt gives JF-int, for any sets *)
Theorem counterexample_4_3_smallest (V I : finType) (Dev : I -> pred (seq V)) : V -> jf_point 2 Dev -> jf_int 2 Dev.
Proof.
move=> v0 jf; apply/(theorem_4_2_active _ _ v0) => h i j ai aj.
suff D l : act 2 (Dev l) h -> Dev l h by apply: (jf h); [exact: (act_size ai)|exact: D|exact: D].
move: (act_size ai); case: h {ai aj} => [_|v [|//] _] /andP[al st].
  by have /startedP[m _] := st; rewrite take_oversize.
by have /aliveP[[|//] _] := al; rewrite cats0.
Qed.

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
have d0 : dev (coin zero) (coins [:: fair]) ord0 [::] by by_rows.
rewrite /switch /assign; case: pickP => [i _|/(_ ord0)]; last by rewrite /= d0.
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
  by split; [apply: (comp_switched (c := Cancel))|apply: (Z_one (c := Cancel))].
- by rewrite /pairs /p; cbn [map fst snd]; congr [:: _; _; _; _]; by_rows.
- by rewrite /pairs /b /p; cbn [map fst snd]; congr [:: _; _; _; _]; by_rows.
Qed.
End Section4.
