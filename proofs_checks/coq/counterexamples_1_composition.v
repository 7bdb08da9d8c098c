(* The counterexamples of theory.md, section 1 (the composition operator).  Tokens are 0, 1, ..; masses of words are in lexicographic order. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

Section Section1.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).
Local Notation "[ 'prefix' x ; .. ; y ]" := (tokens (cons x%N .. (cons y%N nil) ..)).
Let even := [:: 1#2; 1#2]. Let sure := [:: 1; 0]%Q.

(* 1.2: "under `cancel` the two readings differ (|V|=T=k=2, p_b=(1,0) everywhere, p_1(.|∅)=p_2(.|1)=(1/2,1/2), else p_b:
   sequence 10 has path product 1/4, sequence-level rule 1/2)".  The rule on sequences: `wcancel` with sequences for tokens. *)
Definition b_1_2 := tables [::] sure.
Definition p1_1_2 := tables [:: ([::], even)] sure.
Definition p2_1_2 := tables [:: ([:: 1%N], even)] sure.
Theorem counterexample_1_2 :
  let y := [tuple token 1; token 0] : 2.-tuple 'I_2 in
  let b := coin b_1_2 in let p := coins [:: p1_1_2; p2_1_2] in
  [/\ is_model b, forall i, is_model (p i),
      W wcancel b p [::] y = 1 %/ 4
    & wcancel [ffun y : 2.-tuple 'I_2 => law b [::] y] (fun i => [ffun y : 2.-tuple 'I_2 => law (p i) [::] y]) y = 1 %/ 2].
Proof.
move=> y; split; [are_models|are_models|by_rows|].
rewrite (cancel_weight (rb := [:: qlaw b_1_2 [::] [:: 1; 0]%N]) (m := 0) (F := fun f => [:: qlaw f [::] [:: 1; 0]%N])).
- by apply: QR_eqb; vm_compute.
- by rewrite ffunE lawE.
- by move=> i; rewrite ffunE lawE.
Qed.

(* 1.4: "Under `cancel` both inclusions can fail: R^ can leave Reach(p_b) and Reach(p_j)" (the family of 1.2, without error) *)
Theorem counterexample_1_4_inclusions :
  let b := coin b_1_2 in let p := coins [:: p1_1_2; p2_1_2] in
  [/\ forall h, (size h < 2)%N -> valid Cancel (b h) (fun i => p i h),
      Rhat wcancel 2 b p [prefix 1], ~~ reach b [prefix 1] & ~~ reach (p ord_max) [prefix 1]].
Proof.
split; [|by rewrite /Rhat; by_rows|by_rows|by_rows].
move=> h hT; apply/valid_cancel => y; rewrite modelE => /eqP; rewrite QR_eq0 => by0.
have -> : [set i | coins [:: p1_1_2; p2_1_2] i h y != 0] =
    [set i : 'I_2 | ~~ null (entry (nth (fun=> [::]) [:: p1_1_2; p2_1_2] i (vals h)) (val y))].
  by apply/setP => i; rewrite !inE modelE QR_eq0.
rewrite -(count_cards (fun=> [::]) [:: p1_1_2; p2_1_2] (fun f => ~~ null (entry (f (vals h)) (val y)))).
move: by0; apply/implyP; have : val y \in iota 0 2 by rewrite mem_iota; apply: ltn_ord.
move: (val y); apply/allP; move: (vals h) (vals_prefixes hT); apply/allP; vm_compute; reflexivity.
Qed.

(* 1.4: "a certificate computed on Reach(p_i) does not cover R^" *)
Definition p1_1_4 := tables [:: ([::], even); ([:: 1%N], [:: 0; 1]%Q)] sure.
Definition p2_1_4 := tables [:: ([:: 1%N], [:: 3#4; 1#4])] sure.
Theorem counterexample_1_4_certificate :
  let b := coin b_1_2 in let p := coins [:: p1_1_4; p2_1_4] in
  [/\ is_model b, forall i, is_model (p i),
      jf_pt b p [pred h | (size h < 2)%N & reach (p ord_max) h]
    & ~ jf_pt b p (Rhat wcancel 2 b p)].
Proof.
split; [are_models|are_models| |].
  apply: (jf_rows (s := fun s => ~~ null (qlaw p2_1_4 [::] s))); [by move=> h; rewrite reachE|vm_compute; reflexivity].
move/(_ [prefix 1]) => jf; suff: (ord0 : 'I_2) = ord_max by [].
by apply: jf; [rewrite /Rhat|..]; by_rows.
Qed.

(* 1.4, dead prefixes: "smallest: |V|=T=k=2, p_1(.|1)=(1,0), p_2(.|1)=(0,1), all else uniform; global puts 1/2,1/2 on 00,01" *)
Definition uniform := tables [::] even.
Definition p1_dead := tables [:: ([:: 1%N], sure)] even.
Definition p2_dead := tables [:: ([:: 1%N], [:: 0; 1]%Q)] even.
Theorem counterexample_1_4_dead :
  let b := coin uniform in let p := coins [:: p1_dead; p2_dead] in
  [/\ Rhat wcancel 2 b p [prefix 1], dead wcancel b p [prefix 1],
      law (comp wcancel b p) [::] [prefix 1] = 1 %/ 2
    & masses 2 (PG wcancel b p 2) = [:: 1 %/ 2; 1 %/ 2; 0 %/ 1; 0 %/ 1]].
Proof. by split; rewrite ?/Rhat ?/dead; by_rows. Qed.
(* "under `drop` one expert suffices" (proofs_checks/README.md) *)
Theorem counterexample_1_4_dead_one_expert :
  let b := coin p1_dead in let p := coins [:: p2_dead] in
  [/\ Rhat wdrop 2 b p [prefix 1], dead wdrop b p [prefix 1],
      law (comp wdrop b p) [::] [prefix 1] = 1 %/ 2
    & masses 2 (PG wdrop b p 2) = [:: 1 %/ 2; 1 %/ 2; 0 %/ 1; 0 %/ 1]].
Proof. by split; rewrite ?/Rhat ?/dead; by_rows. Qed.

(* "CE 1.6 (smallest, |V|=T=k=2). p_b: all kernels (1/4,3/4). p_1=p_2: same except (1/2,1/2) at prefix 1. Z(1)=4/3,
   Z_G=5/4; local (1/16,3/16,9/16,3/16), global (1/20,3/20,3/5,1/5) on 00,01,10,11." *)
Definition b_1_6 := tables [::] [:: 1#4; 3#4].
Definition p_1_6 := tables [:: ([:: 1%N], even)] [:: 1#4; 3#4].
Theorem counterexample_1_6 :
  let b := coin b_1_6 in let p := coins [:: p_1_6; p_1_6] in
  [/\ Zk wcancel b p [prefix 1] = 4 %/ 3,
      ZG wcancel b p 2 = 5 %/ 4,
      masses 2 (law (comp wcancel b p) [::]) = [:: 1 %/ 16; 3 %/ 16; 9 %/ 16; 3 %/ 16]
    & masses 2 (PG wcancel b p 2) = [:: 1 %/ 20; 3 %/ 20; 3 %/ 5; 1 %/ 5]].
Proof. by split; by_rows. Qed.

(* "CE 1.7 (prefix-independence of Z is not necessary). |V|=2,T=3,k=2: overlap with Z=5/4 at step 2 if y_1=0, at step 3 if
   y_1=1. Then Z depends on the prefix, S is constant, P_G=P_L." *)
Definition p_1_7 := tables [seq (h, [:: 1#4; 3#4]) | h <- [:: [:: 0]; [:: 1; 0]; [:: 1; 1]]%N] even.
Theorem counterexample_1_7 :
  let b := coin uniform in let p := coins [:: p_1_7; p_1_7] in
  [/\ Zk wcancel b p [prefix 0] = 5 %/ 4 /\ Zk wcancel b p [prefix 1] = 1 %/ 1,
      (forall y, Zk wcancel b p [:: token 0; y] = 1 %/ 1 /\ Zk wcancel b p [:: token 1; y] = 5 %/ 4),
      (forall y : 3.-tuple 'I_2, Zk wcancel b p [::] * Zk wcancel b p (take 1 y) * Zk wcancel b p (take 2 y) = 5 %/ 4)
    & forall y : 3.-tuple 'I_2, PG wcancel b p 3 y = law (comp wcancel b p) [::] y].
Proof.
split; [by split; by_rows|by case=> [[|[|]]] // ?; split; by_rows| |] => y; apply/eqP.
  rewrite !cancel_Z -!QRM QR_eqE /vals !map_take -!/(vals _); at_paths y.
at_paths y.
Qed.

(* "For |V|=3 false: p_b uniform, p_1=(1/6,1/6,2/3), p_2=(1/6,1/2,1/3): Z=1, yet p^=(1/12,1/4,2/3) is neither." *)
Theorem counterexample_1_8 :
  let b := model R 2 (tables [::] [:: 1#3; 1#3; 1#3]) in
  let p := experts R 2 [:: tables [::] [:: 1#6; 1#6; 2#3]; tables [::] [:: 1#6; 1#2; 1#3]] in
  [/\ Zk wcancel b p [::] = 1 %/ 1, comp wcancel b p [::] = dist_of R 2 [:: 1#12; 1#4; 2#3],
      comp wcancel b p [::] != p ord0 [::] & comp wcancel b p [::] != p ord_max [::]].
Proof. by split; by_rows. Qed.
(* "Z(h)=1 whenever at most one expert deviates at h (also under `cancel` without AC; not under `drop`)" *)
Theorem counterexample_1_8_drop :
  Zk wdrop (coin b_1_2) (coins [:: uniform]) [::] = 1 %/ 2.
Proof. by_rows. Qed.

(* 1.9: p^(λ) ∝ p_b r^λ, and tempering ∝ p^β, for powers λ, β in {1, 2, ..} *)
Definition tilt lam (V : finType) (b p : dist R V) : dist R V :=
  [ffun y => b y * (p y / b y) ^+ lam / \sum_z b z * (p z / b z) ^+ lam].
Definition temper be (V : finType) (p : dist R V) : dist R V := [ffun y => p y ^+ be / \sum_z p z ^+ be].

(* a tilt by 2 is the composition of two copies *)
Lemma tilt2 n (f g : rows) h : tilt 2 (model R n f h) (model R n g h) = model R n (qcomp false n f [:: g; g]) h.
Proof.
rewrite -drop_comp; apply/ffunP => y; rewrite !ffunE /Z.
Transparent composition.wdrop.
have e z : wdrop (model R n f h) (fun i => experts R n [:: g; g] i h) z = model R n f h z * (model R n g h z / model R n f h z) ^+ 2.
  by rewrite /composition.wdrop !big_ord_recl big_ord0 mulr1 expr2.
by rewrite e (eq_bigr _ (fun z _ => e z)) !ffunE.
Qed.
Opaque composition.wdrop.

(* 1.9 (a): "not ∝ P_b prod (P_i/P_b)^{λ_i} in general, already for k=1 (|V|=T=2, p_b uniform, p_1(.|1)=(1/4,3/4), λ=2:
   (1/4,1/4,1/20,9/20) against (2/9,2/9,1/18,1/2))" *)
Definition p_1_9 := tables [:: ([:: 1%N], [:: 1#4; 3#4])] even.
Definition tilted_1_9 := qcomp false 1 uniform [:: p_1_9; p_1_9].
Theorem counterexample_1_9_a :
  let b := coin uniform in let p := coin p_1_9 in
  let u y := law b [::] y * (law p [::] y / law b [::] y) ^+ 2 in
  [/\ forall h, coin tilted_1_9 h = tilt 2 (b h) (p h),
      masses 2 (PG wcancel b (coins [:: tilted_1_9]) 2) = [:: 1 %/ 4; 1 %/ 4; 1 %/ 20; 9 %/ 20]
    & masses 2 (fun y => u y / \sum_(z : 2.-tuple 'I_2) u z) = [:: 2 %/ 9; 2 %/ 9; 1 %/ 18; 1 %/ 2]].
Proof.
split=> [h| |]; [by rewrite tilt2|by_rows|].
pose q s := let f := qlaw uniform [::] s in let r := (qlaw p_1_9 [::] s / f)%Q in (f * (r * r))%Q.
have e s : law (coin uniform) [::] s * (law (coin p_1_9) [::] s / law (coin uniform) [::] s) ^+ 2 = QR (q (vals s)).
  by rewrite !lawE expr2 -QRV -!QRM.
under [\sum_(z : _) _]eq_bigr do rewrite e.
rewrite sum_all_words.
change [:: 2 %/ 9; 2 %/ 9; 1 %/ 18; 1 %/ 2] with (map (@QR R) [:: 2#9; 2#9; 1#18; 1#2]).
apply: (masses_eq (f := fun s => q s * / qsum (map q (words 1 2)))%Q); last by vm_compute.
by move=> s; rewrite e -QRV -QRM.
Qed.

(* 1.9 (c): "under `cancel` it can fail where another expert deviates: p_b=(1/2,1/2,0), p_1=(1/4,1/4,1/2),
   p_2=(1/4,3/4,0), β=2" *)
Definition squares (r : row) : row := let z := qsum [seq Qred (x * x) | x <- mkseq (entry r) 3]%Q in [seq Qred (x * x / z) | x <- mkseq (entry r) 3]%Q.
Lemma temper2 r : temper 2 (dist_of R 2 r) = dist_of R 2 (squares r).
Proof.
apply/ffunP => y; rewrite !ffunE /squares /entry (nth_map 0%Q) ?size_mkseq ?ltn_ord //.
rewrite nth_mkseq ?ltn_ord // QRred !QRM QRV expr2; congr (_ / _).
rewrite /mkseq -map_comp -[map _ _]/(mkseq (fun m => Qred (entry r m * entry r m)%Q) 3) -sum_tokens.
by apply: eq_bigr => z _; rewrite ffunE QRred QRM expr2.
Qed.
Theorem counterexample_1_9_c :
  let b := dist_of R 2 [:: 1#2; 1#2; 0]%Q in
  let p (i : 'I_2) := dist_of R 2 (nth [::] [:: [:: 1#4; 1#4; 1#2]; [:: 1#4; 3#4; 0]]%Q i) in
  norm wcancel (temper 2 b) (fun i => temper 2 (p i)) = dist_of R 2 [:: 1#30; 9#30; 20#30] /\
  temper 2 (norm wcancel b p) = dist_of R 2 [:: 1#26; 9#26; 16#26].
Proof.
have E b (p : 'I_2 -> dist R _) rb (r s : row) : b = dist_of R 2 rb ->
    (forall i : 'I_2, p i = dist_of R 2 (nth [::] [:: r; s] i)) ->
    norm wcancel b p = dist_of R 2 (qnorm true 2 rb [:: r; s]).
  move=> -> ep; have e y : wcancel (dist_of R 2 rb) p y = QR (entry (qweights true 2 rb [:: r; s]) (val y)).
    rewrite /qweights /entry nth_mkseq; last exact: ltn_ord.
    rewrite (cancel_weight (fs := [:: fun=> r; fun=> s]) (rb := rb) (m := val y) (F := fun f => f [::])) //; first by rewrite ffunE.
    by move=> i; rewrite ep ffunE; case: i => [[|[|]]].
  apply/ffunP => y; rewrite !ffunE e /Z (eq_bigr _ (fun z _ => e z)) (@sum_tokens R 2 (entry (qweights true 2 rb [:: r; s]))).
  by rewrite /qnorm /entry (nth_map 0%Q) ?size_mkseq ?ltn_ord // QRred QRM QRV.
split.
  rewrite temper2 (E _ _ (squares [:: 1#2; 1#2; 0]%Q) (squares [:: 1#4; 1#4; 1#2]) (squares [:: 1#4; 3#4; 0]%Q)) //.
    by apply/eqP; rewrite dist_of_eq; vm_compute.
  by case=> [[|[|]]] // ?; rewrite temper2.
rewrite (E _ _ [:: 1#2; 1#2; 0]%Q [:: 1#4; 1#4; 1#2] [:: 1#4; 3#4; 0]%Q) // temper2.
by apply/eqP; rewrite dist_of_eq; vm_compute.
Qed.

End Section1.
