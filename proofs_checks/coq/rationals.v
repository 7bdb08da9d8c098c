(* Exact computation, for the counterexamples.  A model is given by rows of binary rationals (the Q of Coq's standard
   library) and read in any ordered field R; the operators of composition.v are computed on the rows and PROVED to be what
   they are on the model.  So a counterexample is about the definitions of the theory and is checked by vm_compute.
   (MathComp's own rat computes in unary.) *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import ZArith Lia QArith Qabs Ring Ring_theory InitialRing Setoid.
From factorcomp Require Import identities setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope bool_scope.
Local Open Scope ring_scope.

(* ---- rationals in an ordered field ---- *)
Section Phi.
Variable R : realFieldType.
Definition phi : BinNums.Z -> R := gen_phiZ (0:R) (1:R) (fun x y : R => x + y) (fun x y : R => x * y) (fun x : R => - x).
Let reqe : ring_eq_ext (fun x y : R => x + y) (fun x y : R => x * y) (fun x : R => - x) (@eq R) := Eq_ext _ _ _.
Let mor := gen_phiZ_morph (Eqsth R) reqe (rt R).
Arguments phi : simpl never.
Lemma phi0 : phi 0%Z = 0. Proof. by []. Qed.
Lemma phi1 : phi 1%Z = 1. Proof. by []. Qed.
Lemma phiD x y : phi (x + y)%Z = phi x + phi y. Proof. exact: (morph_add mor). Qed.
Lemma phiM x y : phi (x * y)%Z = phi x * phi y. Proof. exact: (morph_mul mor). Qed.
Lemma phiN x : phi (- x)%Z = - phi x. Proof. exact: (morph_opp mor). Qed.
Lemma phi_pos (d : positive) : 0 < phi (Zpos d).
Proof.
elim/Pos.peano_ind: d => [|d IH]; first by rewrite phi1 ltr01.
by rewrite -Pos.add_1_r Pos2Z.inj_add phiD addr_gt0 // phi1 ltr01.
Qed.
Lemma phi_neq0 (d : positive) : phi (Zpos d) != 0. Proof. by rewrite gt_eqF // phi_pos. Qed.
Lemma phi_le0 x : (0 <= phi x) = (0 <=? x)%Z.
Proof.
case: x => [|d|d]; first by rewrite phi0 lexx.
  by rewrite ltW // phi_pos.
by rewrite -[Z.neg d]/(- Z.pos d)%Z phiN oppr_ge0 leNgt phi_pos.
Qed.
Lemma phi_eq0 x : (phi x == 0) = (x =? 0)%Z.
Proof.
case: x => [|d|d]; [by rewrite phi0 eqxx|exact/negbTE/phi_neq0|].
by rewrite -[Z.neg d]/(- Z.pos d)%Z phiN oppr_eq0 (negbTE (phi_neq0 d)).
Qed.

(* the number q of Q, in R *)
Definition QR (q : Q) : R := phi (Qnum q) / phi (Zpos (Qden q)).
Lemma QR_eqE (x y : Q) : (QR x == QR y) = Qeq_bool x y.
Proof.
rewrite /QR eqr_div ?phi_neq0 // -!phiM -subr_eq0 -phiN -phiD phi_eq0.
by apply/idP/idP => [/Z.eqb_eq H|/Qeq_bool_iff H]; [apply/Qeq_bool_iff|apply/Z.eqb_eq]; rewrite /Qeq in H *; lia.
Qed.
Lemma QR_leE (x y : Q) : (QR x <= QR y) = Qle_bool x y.
Proof.
rewrite /QR ler_pdivr_mulr ?phi_pos // mulrAC ler_pdivl_mulr ?phi_pos // -!phiM -subr_ge0 -phiN -phiD phi_le0.
by rewrite /Qle_bool; apply/idP/idP => /Z.leb_le H; apply/Z.leb_le; lia.
Qed.
Lemma QR_eqb (x y : Q) : Qeq_bool x y -> QR x = QR y.
Proof. by rewrite -QR_eqE => /eqP. Qed.
Lemma QR_eq (x y : Q) : Qeq x y -> QR x = QR y.
Proof. by move=> /Qeq_bool_iff; apply: QR_eqb. Qed.
Lemma QR0 : QR 0%Q = 0. Proof. by rewrite /QR /= phi0 mul0r. Qed.
Lemma QR1 : QR 1%Q = 1. Proof. by rewrite /QR /= phi1 divff ?oner_neq0. Qed.
Lemma QRD x y : QR (x + y)%Q = QR x + QR y.
Proof. by rewrite /QR /= addf_div ?phi_neq0 // -!phiM -phiD. Qed.
Lemma QRM x y : QR (x * y)%Q = QR x * QR y.
Proof. by rewrite /QR /= mulf_div -!phiM. Qed.
Lemma QRN x : QR (- x)%Q = - QR x.
Proof. by rewrite /QR /= phiN mulNr. Qed.
Lemma QRV x : QR (/ x)%Q = (QR x)^-1.
Proof.
rewrite /QR /Qinv; case: x => [[|n|n] d] /=.
- by rewrite phi0 !mul0r invr0.
- by rewrite invf_div.
- rewrite -[Z.neg n]/(- Z.pos n)%Z -[Z.neg d]/(- Z.pos d)%Z !phiN invf_div mulNr.
  by rewrite invrN mulrN.
Qed.
Lemma QRred x : QR (Qred x) = QR x. Proof. exact/QR_eq/Qred_correct. Qed.
Lemma QR_eq0 x : (QR x == 0) = Qeq_bool x 0. Proof. by rewrite -QR0 QR_eqE. Qed.
Lemma QR_ge0 x : (0 <= QR x) = Qle_bool 0 x. Proof. by rewrite -QR0 QR_leE. Qed.
Lemma QR_abs x : QR (Qabs x) = `|QR x|.
Proof.
apply: (@Qabs_case x (fun a => QR a = `|QR x|)) => [/Qle_bool_iff|/Qle_bool_iff]; rewrite -QR_leE QR0 => x0.
  by rewrite ger0_norm.
by rewrite QRN ler0_norm.
Qed.
(* QR is what it should be *)
Lemma QR_fraction (m d : nat) : QR (Z.of_nat m # Pos.of_nat d.+1) = m%:R / d.+1%:R.
Proof.
have phi_nat k : phi (Z.of_nat k) = k%:R.
  elim: k => [|k IH]; first exact: phi0.
  by rewrite Nat2Z.inj_succ -Z.add_1_r phiD phi1 IH -[in RHS]addn1 natrD.
rewrite /QR /= phi_nat; congr (_ / _); rewrite -phi_nat; congr phi.
by rewrite [Z.of_nat _]/= Pos.of_nat_succ.
Qed.
End Phi.
Arguments QR {R} q.
Arguments Qred : simpl never.
Arguments Qmult : simpl never.
Arguments Qplus : simpl never.
Arguments Qinv : simpl never.
(* a %/ b: the fraction a/b as a number of R *)
Notation "a %/ b" := (QR (Qmake a%Z b%positive)) : ring_scope.
