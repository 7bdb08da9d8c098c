(* The counterexamples of theory.md, sections 8 to 11. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition total_variation rationals computation.
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

(* TV of rows *)
Definition qtv n (r s : row) : Q := (1 # 2) * qsum (mkseq (fun y => Qabs.Qabs (entry r y - entry s y)) n.+1).
Lemma TV_rows n r s : TV (dist_of R n r) (dist_of R n s) = QR (qtv n r s).
Proof.
rewrite /TV /qtv QRM -[2%:R]/((2%N)%:R : R) -(@sum_tokens R n) (_ : QR (1 # 2) = 2%:R^-1); last first.
  by rewrite (QR_fraction R 1 1) mul1r.
by congr (_ * _); apply: eq_bigr => y _; rewrite !ffunE QR_abs QRD QRN.
Qed.

(* 8.2: "The oscillation bounds need P^<<S: ... false in general under `cancel` (T=1, s=p_1=p_b=(1,0), p_2=(1/2,1/2): o=0, TV = 1/2)" *)
Theorem counterexample_8_2 :
  let b := model R 1 (one [:: 1; 0]%Q) in let p := experts R 1 [:: one [:: 1; 0]%Q; one [:: 1#2; 1#2]] in
  (* o = 0: log w - log s is constant on supp s *)
  (forall y z, p ord0 [::] y != 0 -> p ord0 [::] z != 0 ->
     wk wcancel b p [::] y / p ord0 [::] y = wk wcancel b p [::] z / p ord0 [::] z) /\
  TV (comp wcancel b p [::]) (p ord0 [::]) = 1 %/ 2.
Proof.
split=> [y z|].
  suff e u : model R 1 (one [:: 1; 0]%Q) [::] u != 0 -> u = ord0 by move=> /e-> /e->.
  by rewrite modelE QR_eq0; case: u => [[|[|]]] // ? _; apply: val_inj.
by rewrite cancel_comp TV_rows; apply: QR_eqb; vm_compute.
Qed.

(* ---- section 9 ---- *)
(* 9.2: "Bilinear z=uv, u=v=1, τ_1=(1,0), τ_2=(0,1): merged 4, composed 3." *)
Theorem counterexample_9_2_bilinear : let z (u v : R) := u * v in
  z (1 + 1) (1 + 1) = 4%:R /\ z 1 1 + (z (1 + 1) 1 - z 1 1) + (z 1 (1 + 1) - z 1 1) = 3%:R.
Proof.
have two : 1 + 1 = 2%:R :> R by rewrite mulr2n.
rewrite /= two !mulr1 mul1r -natrM; split=> //.
by rewrite [1 + _]addrC subrK addrA -natrD; apply/eqP; rewrite subr_eq -(natrD _ 3 1).
Qed.
(* 9.2: "Probabilities linear in θ: merge (7/8,1/8), composition (5/6,1/6)" (p_b=(1/2,1/2), p_1=(3/4,1/4), p_2=(5/8,3/8)) *)
Theorem counterexample_9_2_probabilities :
  let b := model R 1 (one [:: 1#2; 1#2]) in let p := experts R 1 [:: one [:: 3#4; 1#4]; one [:: 5#8; 3#8]] in
  let merge y := b [::] y + \sum_i (p i [::] y - b [::] y) in
  [/\ merge ord0 = 7 %/ 8, merge ord_max = 1 %/ 8 & comp wcancel b p [::] = dist_of R 1 [:: 5#6; 1#6]].
Proof.
by split; [| |by_rows]; rewrite !big_ord_recl big_ord0 !modelE addr0 -!QRN -!QRD; apply: QR_eqb; vm_compute.
Qed.

(* ---- section 10 ---- *)
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

(* ---- section 11 ---- *)
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

(* 8.3: "|V|=2: p_b=(1-η,η), p_2=(1-η²,η²), p_1=(½,½). TV(p_2,p_b)<η, but TV(p^,p_1)->½": for every 0 < η < 1,
   TV(p^,p_1) = 1/2 - η/(1+2η).  (The sentence on KL needs a logarithm and is left to proofs_checks/section_8_bounds.) *)
Section CE_8_3.
Variables (R : realFieldType) (eta : R).
Hypotheses (eta0 : 0 < eta) (eta1 : eta < 1).
Definition coin_of (x : R) : dist R [finType of bool] := [ffun y => if y then x else 1 - x].
Lemma TV_coins (x y : R) : TV (coin_of x) (coin_of y) = `|x - y|.
Proof.
rewrite /TV big_bool !ffunE /=; have -> : 1 - x - (1 - y) = - (x - y) by rewrite !opprB addrC addrA subrK.
by rewrite normrN -mulr2n -(mulr_natl `|x - y|) mulKf // pnatr_eq0.
Qed.
Transparent composition.wcancel composition.wdrop.
Theorem counterexample_8_3 :
  let b := coin_of eta in let p (i : bool) := coin_of (if i then eta ^+ 2 else 2%:R^-1) in    (* p_1 = p false, p_2 = p true *)
  [/\ TV (p true) b = eta * (1 - eta), TV (p true) b < eta
    & TV (norm (@wcancel R _ _) b p) (p false) = 2%:R^-1 - eta / (1 + eta *+ 2)].
Proof.
move=> b p; have n0 : eta != 0 by rewrite gt_eqF.
have n1 : 1 - eta != 0 by rewrite subr_eq0 eq_sym lt_eqF.
have tv : TV (p true) b = eta * (1 - eta).
  by rewrite TV_coins distrC expr2 -{1}[eta]mulr1 -mulrBr ger0_norm // mulr_ge0 ?subr_ge0 ?ltW.
have half : 1 - 2%:R^-1 = 2%:R^-1 :> R by rewrite {1}(splitr 1) mul1r addrK.
have wt : composition.wcancel b p true = eta / 2%:R.
  by rewrite wcancel_supp ?ffunE // /composition.wdrop big_bool !ffunE /= expr2 mulfK // [2%:R^-1 / _]mulrC mulVKf.
have wf : composition.wcancel b p false = (1 + eta) / 2%:R.
  rewrite wcancel_supp ?ffunE // /composition.wdrop big_bool !ffunE /= half -[X in X - eta ^+ 2](expr1n _ 2) subr_sqr.
  by rewrite [_ * (1 + eta)]mulrC mulfK // [2%:R^-1 / _]mulrC mulrCA mulVKf.
have z0 : 0 < 1 + eta *+ 2 by rewrite addr_gt0 ?ltr01 // mulrn_wgt0.
have hat : norm (@composition.wcancel R _ _) b p = coin_of (eta / (1 + eta *+ 2)).
  have ZE : Z (@composition.wcancel R _ _) b p = (1 + eta *+ 2) / 2%:R.
    have e : eta / 2%:R + (1 + eta) / 2%:R = (1 + eta *+ 2) / 2%:R by rewrite -mulrDl addrCA mulr2n.
    by rewrite -e -wt -wf /Z big_bool.
  have two : 2%:R != 0 :> R by rewrite pnatr_eq0.
  apply/ffunP => -[]; rewrite !ffunE ZE ?wt ?wf invfM invrK mulrACA mulVf // mulr1 //.
  have zE : 1 + eta + eta = 1 + eta *+ 2 by rewrite mulr2n addrA.
  by apply/esym/eqP; rewrite subr_eq -mulrDl zE divff // gt_eqF.
split=> //; first by rewrite tv -[ltRHS]mulr1 ltr_pmul2l // ltr_subl_addr ltr_addl.
have h2 : 2%:R^-1 *+ 2 = 1 :> R by rewrite -(mulr_natr (2%:R^-1 : R) 2%N) mulVf // pnatr_eq0.
rewrite hat TV_coins distrC ger0_norm // subr_ge0 ler_pdivr_mulr //.
by rewrite mulrDr mulr1 mulrnAr -mulrnAl h2 mul1r ler_addr invr_ge0 ler0n.
Qed.
End CE_8_3.
