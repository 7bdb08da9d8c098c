(* The counterexamples of theory.md, section 8 (robust bounds).  Tokens are 0, 1, ... *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition total_variation rationals computation computation_masks.
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
