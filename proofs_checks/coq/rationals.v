(* Binary rationals (stdlib Q) into any realFieldType, so that counterexamples and certificates are checked by
   vm_compute on Q (MathComp's rat computes in unary and dies beyond ~10^7). *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import ZArith QArith Ring Ring_theory InitialRing Setoid.
From factorcomp Require Import identities setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

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

Definition QR (q : Q) : R := phi (Qnum q) / phi (Zpos (Qden q)).
Lemma QR_eq (x y : Q) : Qeq x y -> QR x = QR y.
Proof.
rewrite /Qeq /QR => e; apply/eqP; rewrite eqr_div ?phi_neq0 //.
by rewrite -!phiM e.
Qed.
Lemma QR_eqb (x y : Q) : Qeq_bool x y -> QR x = QR y.
Proof. by move=> e; apply/QR_eq/Qeq_bool_iff. Qed.
Lemma QR0 : QR 0%Q = 0. Proof. by rewrite /QR /= phi0 mul0r. Qed.
Lemma QR1 : QR 1%Q = 1. Proof. by rewrite /QR /= phi1 divff ?oner_neq0. Qed.
Lemma QRD x y : QR (x + y)%Q = QR x + QR y.
Proof.
by rewrite /QR /= addf_div ?phi_neq0 // -!phiM -phiD.
Qed.
Lemma QRM x y : QR (x * y)%Q = QR x * QR y.
Proof. by rewrite /QR /= mulf_div -!phiM. Qed.
Lemma QRV x : QR (/ x)%Q = (QR x)^-1.
Proof.
rewrite /QR /Qinv; case: x => [[|n|n] d] /=.
- by rewrite phi0 !mul0r invr0.
- by rewrite invf_div.
- rewrite -[Z.neg n]/(- Z.pos n)%Z -[Z.neg d]/(- Z.pos d)%Z !phiN invf_div mulNr.
  by rewrite invrN mulrN.
Qed.
Lemma QRred x : QR (Qred x) = QR x. Proof. exact/QR_eq/Qred_correct. Qed.
End Phi.

(* computable mirror for V = bool and k experts given by a list of Q tables *)
Arguments Qred : simpl never.
Arguments Qmult : simpl never.
Arguments Qinv : simpl never.
Section Mirror.
Variable R : realFieldType.
Local Notation QR := (@QR R).
Variables (fb : seq bool -> bool -> Q) (k : nat) (fp : nat -> seq bool -> bool -> Q).
Definition qker (f : seq bool -> bool -> Q) : kernel R [finType of bool] := fun h => [ffun y => QR (f h y)].
Local Notation wd := (@wdrop R [finType of bool] [finType of 'I_k]).
Local Notation E := (fun i : 'I_k => qker (fp i)).
Definition qw h y := Qred (fb h y * foldr (fun i a => Qred (fp i h y * / fb h y * a)) 1 (iota 0 k))%Q.
Definition qZ h := Qred (qw h true + qw h false)%Q.
Fixpoint qlaw h s := if s is y :: s' then Qred (qw h y * / qZ h * qlaw (rcons h y) s')%Q else 1%Q.

Lemma qwE h y : wk wd (qker fb) E h y = QR (qw h y).
Proof.
rewrite /wk /wdrop /qw QRred QRM ffunE; congr (_ * _).
under eq_bigr do rewrite !ffunE.
rewrite -(big_mkord xpredT (fun i => QR (fp i h y) / QR (fb h y))) /index_iota subn0.
elim: (iota 0 k) => [|i l IH]; first by rewrite big_nil /= QR1.
by rewrite big_cons IH /= QRred !QRM QRV.
Qed.
Lemma qZE h : Zk wd (qker fb) E h = QR (qZ h).
Proof. by rewrite /Zk /Z big_bool /qZ QRred QRD -!qwE. Qed.
Lemma qlawE h s : law (comp wd (qker fb) E) h s = QR (qlaw h s).
Proof.
elim: s h => [|y s IH] h /=; first by rewrite QR1.
rewrite QRred !QRM QRV IH ffunE -/(Zk wd (qker fb) E h) qZE; congr (_ / _ * _).
exact: qwE.
Qed.
End Mirror.

(* CE 5.4-like sizes: |V| = T = 2, hundredths, and a k = 5 run with large denominators *)
Definition qb (x : Q) (y : bool) : Q := if y then x else (1 - x)%Q.
Section CE54.
Variable R : realFieldType.
Definition b54 (h : seq bool) := if h is [::] then qb (1 # 100) else qb (1 # 2).
Definition p54 (i : nat) (h : seq bool) :=
  match i, h with
  | O, [::] => qb (1 # 100)             (* expert 1: right (=1) after 0, wrong after 1 *)
  | O, y :: _ => qb (if y then 0%Q else 1%Q)
  | _, [::] => qb (99 # 100)              (* expert 2 forces y_1 = 1 *)
  | _, _ => qb (1 # 2)
  end.
(* success = right at step 2: probability 1/100 under the composition *)
Lemma drift54 : law (comp (@wdrop R _ _) (qker R b54) (fun i : 'I_2 => qker R (p54 i))) [::] [:: false; true]
  + law (comp (@wdrop R _ _) (qker R b54) (fun i : 'I_2 => qker R (p54 i))) [::] [:: true; true] = QR R (1 # 100).
Proof. by rewrite !qlawE -QRD; apply: QR_eqb; vm_compute. Qed.
End CE54.
