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
   the composition stops with 2/7 under `cancel` (proofs_checks/README.md; theory.md has 1/3), with 2/5 under `drop`.  The rule
   leaves the opened token out, as `drop` does: it says 2/5, by hand, and is not computed here *)
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

(* ---- all lengths: tokens 0 (go on) and 1 (EOS, absorbing) ---- *)
Section AllLengths.
Variable R : realFieldType.
Local Notation wcancel := (@wcancel R _ _).
Local Notation comp := (comp wcancel).
Let half := [:: 1#2; 1#2]. Let on := [:: 1; 0]%Q.
(* the rows r before EOS *)
Definition stopping_at (r : nat -> row) : rows := fun h => if 1%N \in h then [:: 0; 1]%Q else r (size h).
Lemma vals_nseq n : vals (nseq n (token 0 : 'I_2)) = nseq n 0%N. Proof. by rewrite /vals map_nseq. Qed.
Lemma nseq_rcons (T : Type) (a : T) n : nseq n.+1 a = rcons (nseq n a) a.
Proof. by elim: n => //= n <-. Qed.
Lemma go_on n r : stopping_at r (nseq n 0%N) = r n.
Proof. by rewrite /stopping_at mem_nseq andbF size_nseq. Qed.

(* (1/2)^n is as small as one likes: n (1/2)^n <= 1 *)
Lemma half_vanishes n : n%:R * (1 %/ 2) ^+ n <= 1 :> R.
Proof.
have -> : 1 %/ 2 = 2%:R^-1 :> R by rewrite (QR_fraction R 1 1) mul1r.
by rewrite exprVn ler_pdivr_mulr ?exprn_gt0 ?ltr0n // mul1r -natrX ler_nat ltnW // ltn_expl.
Qed.


(* M4: "p_1 may stop at even, p_2 at odd lengths: p^ never stops though all components stop a.s." *)
Definition b_M4 := stopping_at (fun=> half).
Definition p1_M4 := stopping_at (fun t => if odd t then on else half).
Definition p2_M4 := stopping_at (fun t => if odd t then half else on).
Theorem counterexample_10_1_never : let b := model R 1 b_M4 in let p := experts R 1 [:: p1_M4; p2_M4] in
  let goes q n := law q [::] (nseq n (token 0)) in
  [/\ is_model b /\ (forall i, is_model (p i)),
      forall n, goes (comp b p) n = 1 /\ comp b p (nseq n (token 0)) (token 1) = 0,
      forall n, goes b n = (1 %/ 2) ^+ n,                    (* which tends to 0 *)
      forall n, goes (p ord0) n.*2 = (1 %/ 2) ^+ n /\ goes (p ord_max) n.*2 = (1 %/ 2) ^+ n
    & forall n, n%:R * (1 %/ 2) ^+ n <= 1 :> R].
Proof.
move=> b p goes.
have dist (r : nat -> row) : (forall t, qdist 1 (r t)) -> is_model (model R 1 (stopping_at r)).
  by move=> dr h; apply: dist_ofP; rewrite /stopping_at; case: ifP.
have S q n : goes q n.+1 = goes q n * q (nseq n (token 0)) (token 0).
  by rewrite /goes nseq_rcons law_rcons.
have cE n : comp b p (nseq n (token 0)) = dist_of R 1 on.
  rewrite /b /p cancel_comp; apply/eqP; rewrite dist_of_eq vals_nseq /qcomp /b_M4 /p1_M4 /p2_M4 [map _ _]/= !go_on.
  by case: odd; vm_compute.
split.
- split; first by apply: dist => t; vm_compute.
  by case=> [[|[|]]] // ?; apply: dist => t; case: odd; vm_compute.
- have z0 n : comp b p (nseq n (token 0)) (token 1) = 0 by rewrite cE ffunE QR0.
  split=> //; elim: n => // n IH; rewrite S IH cE ffunE QR1 mulr1 //.
- elim=> [|n IH]; first by rewrite expr0.
  by rewrite S IH exprSr /b modelE vals_nseq /b_M4 go_on.
- elim=> [|n [IH1 IH2]]; first by rewrite expr0.
  by rewrite doubleS !S IH1 IH2 /p !modelE !vals_nseq [nth _ _ _]/= [nth _ _ ord_max]/= /p1_M4 /p2_M4 !go_on /= odd_double /= exprSr QR1 !mulr1.
exact: half_vanishes.
Qed.

(* "CE 10.2 (global on V^* ). Geometric lengths, continuation 1/2 (p_b), 3/4 (experts): c_1c_2/c_b = 9/8 > 1, Z_G = ∞; local hazard
   is 1/10." *)
Definition geometric (c : Q) := stopping_at (fun=> [:: c; 1 - c]%Q).
Let b : kernel R _ := model R 1 (geometric (1#2)).
Let p := experts R 1 [:: geometric (3#4); geometric (3#4)].
Local Notation W := (W wcancel b p).
Local Notation go := (token 0 : 'I_2).
Local Notation stop := (token 1 : 'I_2).
(* the weights of the sequences that end with EOS, of at most n letters with it *)
Definition mass_up_to n := \sum_(l < n) W [::] (rcons (nseq l go) stop).

Lemma weight_10_2 n : wk wcancel b p (nseq n go) go = 9 %/ 8 /\ wk wcancel b p (nseq n go) stop = 1 %/ 8.
Proof.
have e y : wk wcancel b p (nseq n go) y = QR (entry (qweights true 1 [:: 1#2; 1#2] [:: [:: 3#4; 1#4]; [:: 3#4; 1#4]]) (val y)).
  by rewrite /b /p (wkE true) vals_nseq /wrows /geometric [map _ _]/= !go_on.
by rewrite !e; split; apply: QR_eqb; vm_compute.
Qed.

Lemma go_10_2 n l : W (nseq n go) (nseq l go) = (9 %/ 8) ^+ l.
Proof.
elim: l n => [|l IH] n; first by rewrite expr0.
by rewrite /= (weight_10_2 n).1 exprS -(IH n.+1) nseq_rcons.
Qed.
Lemma eight : 1 %/ 8 = 8%:R^-1 :> R. Proof. by rewrite (QR_fraction R 1 7) mul1r. Qed.
Lemma nine : 9 %/ 8 = 1 + 1 %/ 8 :> R. Proof. by rewrite -QR1 -QRD; apply: QR_eqb; vm_compute. Qed.

Lemma mass_10_2 n : mass_up_to n = (9 %/ 8) ^+ n - 1.
Proof.
rewrite /mass_up_to subrX1 nine [1 + _]addrC addrK mulr_sumr; apply: eq_bigr => l _.
by rewrite W_rcons (go_10_2 0) (weight_10_2 l).2 mulrC addrC -nine.
Qed.

Theorem counterexample_10_2 :
  [/\ forall n, mass_up_to n = (9 %/ 8) ^+ n - 1,
      forall m, exists n, m%:R <= mass_up_to n
    & forall n, comp b p (nseq n go) stop = 1 %/ 10].
Proof.
split=> [|m|n]; first exact: mass_10_2.
  exists (8 * m)%N; rewrite mass_10_2 nine ler_subr_addr; set x : R := 1 %/ 8.
  have x0 : 0 <= x by rewrite /x eight invr_ge0 ler0n.
  have bern n : 1 + n%:R * x <= (1 + x) ^+ n.
    elim: n => [|n IH]; first by rewrite mul0r addr0 expr0.
    rewrite exprS; apply: le_trans (ler_wpmul2l (addr_ge0 ler01 x0) IH).
    rewrite mulrDl mul1r mulrDr mulr1 mulrSr mulrDl mul1r addrA ler_add2l ?addrA.
    by rewrite ler_addl mulr_ge0 // mulr_ge0 ?ler0n.
  apply: le_trans (bern _); rewrite addrC ler_add2l /x eight natrM mulrAC divff ?mul1r //.
  by rewrite pnatr_eq0.
have e : comp b p (nseq n go) = dist_of R 1 [:: 9#10; 1#10].
  rewrite /b /p cancel_comp; apply/eqP; rewrite dist_of_eq vals_nseq /qcomp /geometric [map _ _]/= !go_on.
  by vm_compute.
by rewrite e ffunE.
Qed.

Lemma stopped_10_2 g n : stop \in g -> \sum_(t : n.-tuple 'I_2) W g t = 1.
Proof.
elim: n g => [|n IH] g gs; first by rewrite (sum_tuple0 (W g)).
rewrite (big_tuple_cons n (W g)) /=; under eq_bigr do rewrite -mulr_sumr IH ?mem_rcons ?in_cons ?gs ?orbT // mulr1.
have e y : wk wcancel b p g y = QR (entry [:: 0; 1]%Q (val y)).
  have vg : 1%N \in vals g by apply/mapP; exists stop.
  rewrite /b /p (wkE true) /wrows /geometric [map _ _]/= /stopping_at vg.
  by apply: QR_eqb; case: y => [[|[|]]].
by under eq_bigr do rewrite e; rewrite (@sum_tokens R 1) -[RHS]QR1; apply: QR_eqb.
Qed.
Lemma horizon_10_2 n l : \sum_(t : n.-tuple 'I_2) W (nseq l go) t = (9 %/ 8) ^+ n *+ 2 - 1.
Proof.
elim: n l => [|n IH] l; first by rewrite (sum_tuple0 (W _)) expr0 mulr2n addrK.
rewrite (big_tuple_cons n (W _)) big_ord_recl big_ord1.
have -> : lift ord0 ord0 = stop by apply: val_inj. have -> : ord0 = go by apply: val_inj.
rewrite /= -!mulr_sumr (stopped_10_2 n (g := rcons _ stop)) ?mem_rcons ?mem_head // -nseq_rcons IH.
rewrite (weight_10_2 l).1 (weight_10_2 l).2 mulr1 mulrBr mulr1 exprS -mulrnAr.
by rewrite -addrA; congr (_ + _); apply/eqP; rewrite {1}nine opprD -addrA addNr addr0.
Qed.
(* "With a finite horizon the global law piles up at T": more than half of it has not stopped there *)
Theorem counterexample_10_2_horizon T : ZG wcancel b p T = (9 %/ 8) ^+ T *+ 2 - 1 /\ 1 %/ 2 < PG wcancel b p T (nseq T go).
Proof.
have Z : ZG wcancel b p T = (9 %/ 8) ^+ T *+ 2 - 1 by rewrite /ZG (horizon_10_2 T 0).
split=> //; rewrite /PG Z (go_10_2 0 T); set x := _ ^+ T.
have x1 : 1 <= x by rewrite exprn_ege1 // nine ler_addl eight invr_ge0 ler0n.
have z0 : 0 < x *+ 2 - 1 by rewrite subr_gt0 mulr2n (le_lt_trans x1) // ltr_addl (lt_le_trans ltr01).
rewrite ltr_pdivl_mulr // (_ : 1 %/ 2 = 2%:R^-1 :> R); last by rewrite (QR_fraction R 1 1) mul1r.
rewrite ltr_pdivr_mull ?ltr0n // mulr_natl ltr_subl_addr ltr_addl ltr01 //.
Qed.
End AllLengths.
