(* Total variation, marginals, factorized conditionals (Definition 2.1) and push-forwards on rows of rationals. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition total_variation marginals laws masks rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.

(* the law of a table of masses in lexicographic order, and its kernels (a fair row after length T) *)
Definition listed n T (l : seq Q) (s : seq nat) : Q := nth 0%Q l (index s (words n T)).
Definition of_law n T (f : seq nat -> Q) : rows := fun h =>
  if (size h < T)%N then let m s := qmass n T (fun z => take (size s) z == s) f in [seq Qred (m (rcons h y) / m h) | y <- iota 0 n.+1]
  else [seq (1 # Pos.of_nat n.+1) | y <- iota 0 n.+1].
(* masks: position t belongs to expert `nth t` of the list, to none if that is no expert *)
Definition blocks k (ms : seq nat) (t : nat) : option 'I_k := insub (nth k ms t).

Lemma ord_iota k (i : 'I_k) : val i \in iota 0 k. Proof. by rewrite mem_iota; apply: ltn_ord. Qed.

Section Marginals.
Variables (R : realFieldType) (n T : nat).
Local Notation V := (ordinal_finType n.+1).
Local Notation Om := {ffun 'I_T -> V}.
Implicit Types (P : Om -> R) (y : Om) (M : pred 'I_T) (m : pred nat) (f : seq nat -> Q).
Definition letters y : seq nat := vals (word y).
Definition computed P f := forall y, P y = QR (f (letters y)).
Definition qagree m (z s : seq nat) := all (fun t => m t ==> (nth 0 z t == nth 0 s t)%N) (iota 0 T).
Definition qmarg f m s := qmass n T (fun z => qagree m z s) f.

Lemma nth_letters y (t : 'I_T) : nth 0%N (letters y) t = y t.
Proof.
by rewrite /letters /vals (nth_map (y t)) ?size_tuple // -tnth_nth tnth_mktuple.
Qed.
Lemma letters_words y : letters y \in words n T. Proof. exact: vals_words. Qed.
Lemma words_letters s : s \in words n T -> exists y, letters y = s.
Proof.
rewrite mem_words => /andP[/eqP sT sn]; exists [ffun t : 'I_T => token (nth 0%N s t)].
apply: (@eq_from_nth _ 0%N) => [|t]; first by rewrite size_map size_tuple.
rewrite size_map size_tuple => tT; rewrite -[t]/(val (Ordinal tT)) nth_letters ffunE /= modn_small //.
by move/allP: sn; apply; rewrite mem_nth ?sT.
Qed.
Lemma all_letters (p : pred (seq nat)) : (forall y, p (letters y)) <-> all p (words n T).
Proof.
split=> [H|/allP a y]; last exact/a/letters_words.
by apply/allP => s /words_letters[y <-].
Qed.
Lemma agreeE M m (z y : Om) : (forall t, M t = m (val t)) -> agree M z y = qagree m (letters z) (letters y).
Proof.
move=> eM; apply/agreeP/allP => [a t|a t Mt].
  rewrite mem_iota => /= tT; apply/implyP => mt.
  by have := a (Ordinal tT); rewrite eM => /(_ mt) e; rewrite (nth_letters z (Ordinal tT)) (nth_letters y (Ordinal tT)) e.
have /implyP := a _ (ord_iota t); rewrite -eM => /(_ Mt).
by rewrite !nth_letters => /eqP/val_inj.
Qed.
Lemma sum_letters (E : pred (seq nat)) f : \sum_(z : Om | E (letters z)) QR (f (letters z)) = QR (qmass n T E f) :> R.
Proof. by rewrite -sum_words (@sum_word R V T (fun t => QR (f (vals t))) (fun t => E (vals t))). Qed.
Lemma marg_rows P f M m y : computed P f -> (forall t, M t = m (val t)) -> marg P M y = QR (qmarg f m (letters y)).
Proof.
move=> eP eM; rewrite /qmarg -sum_letters; apply: eq_big => [z|z _]; last exact: eP.
exact: agreeE.
Qed.
Lemma computed_eq P f g : computed P f -> all (fun s => Qeq_bool (f s) (g s)) (words n T) -> computed P g.
Proof. by move=> e a y; rewrite e; apply: QR_eqb; move: (letters y) (letters_words y); apply/allP. Qed.
Lemma computed_law p f : (forall s, law p [::] s = QR (f (vals s))) -> computed (Law p) f.
Proof. by move=> e y; apply: e. Qed.
Lemma computed_push (D : Om -> Om) dq P f : (forall y, letters (D y) = dq (letters y)) -> computed P f ->
  computed (push D P) (fun z => qmass n T (fun s => dq s == z) f).
Proof.
move=> eD eP z; rewrite /push -sum_letters; apply: eq_big => [y|y _]; last exact: eP.
rewrite -eD; apply/eqP/eqP => [->//|e]; apply/ffunP => t; apply/val_inj.
by rewrite /= -!nth_letters e.
Qed.

Section FC.
Variables (k : nat) (ms : seq nat) (Pb : Om -> R) (Pe : 'I_k -> Om -> R) (fb : seq nat -> Q) (fe : nat -> seq nat -> Q).
Hypotheses (eb : computed Pb fb) (ee : forall i, computed (Pe i) (fe i)).
Local Notation blk := (fun t : 'I_T => blocks k ms t).
Definition inside i : pred nat := fun t => nth k ms t == i.
Definition nobody : pred nat := fun t => ~~ (nth k ms t < k)%N.
Lemma inside_inb (i : 'I_k) t : inb blk (Some i) t = inside i t.
Proof. by rewrite /inb /blocks /inside; case: insubP => [u _ <-|ltk] //; apply/esym/negbTE; apply: contra ltk => /eqP->. Qed.
Lemma nobody_inb t : inb blk None t = nobody t.
Proof. by rewrite /inb /blocks /nobody; case: insubP => [u ->|->]. Qed.
Lemma outside_off (i : 'I_k) t : off blk (Some i) t = ~~ inside i t.
Proof. by rewrite -inside_inb. Qed.

Definition qproduct (g : nat -> seq nat -> Q) s := (qmarg fb nobody s * foldr (fun i a => Qred (qmarg (g i) (inside i) s * a)) 1 (iota 0 k))%Q.
Lemma product_rows (g : nat -> seq nat -> Q) (Pj : 'I_k -> Om -> R) y : (forall i, computed (Pj i) (g i)) ->
  marg Pb (inb blk None) y * \prod_i marg (Pj i) (inb blk (Some i)) y = QR (qproduct g (letters y)).
Proof.
move=> eg; rewrite (marg_rows y eb nobody_inb) /qproduct QRM; congr (_ * _).
under eq_bigr => i _ do rewrite (marg_rows y (eg i) (inside_inb i)).
rewrite -(big_mkord xpredT (fun i => QR (qmarg (g i) (inside i) (letters y)))) /index_iota subn0.
by elim: (iota 0 k) => [|i l IH]; rewrite ?big_nil ?QR1 // big_cons IH /= QRred QRM.
Qed.
Lemma FCaE : FCa blk Pb <-> all (fun s => Qeq_bool (fb s) (qproduct (fun=> fb) s)) (words n T).
Proof.
rewrite -all_letters; split=> H y; have := H y.
  by rewrite big_option (product_rows (g := fun=> fb)) // eb => /eqP; rewrite QR_eqE.
by move/(@QR_eqb R) => e; rewrite big_option (product_rows (g := fun=> fb)) // eb e.
Qed.
Lemma FCbE : FCb blk Pb Pe <-> all (fun i => all (fun s => Qeq_bool (fe i s)
  (qmarg (fe i) (inside i) s * qmarg fb (fun t => ~~ inside i t) s)) (words n T)) (iota 0 k).
Proof.
have E (i : 'I_k) y : (Pe i y == marg (Pe i) (inb blk (Some i)) y * marg Pb (off blk (Some i)) y) =
    Qeq_bool (fe i (letters y)) (qmarg (fe i) (inside i) (letters y) * qmarg fb (fun t => ~~ inside i t) (letters y)).
  have e1 : marg (Pe i) (inb blk (Some i)) y = QR (qmarg (fe i) (inside i) (letters y)).
    by apply: marg_rows => // t; apply: inside_inb.
  have e2 : marg Pb (off blk (Some i)) y = QR (qmarg fb (fun t => ~~ inside i t) (letters y)).
    by apply: marg_rows => // t; apply: outside_off.
  by rewrite e1 e2 ee -QRM QR_eqE.
split=> [H|/allP H i y].
  apply/allP => i; rewrite mem_iota => /= ik; apply/all_letters => y.
  by rewrite -[i]/(val (Ordinal ik)) -E; apply/eqP/H.
apply/eqP; rewrite E; have := H _ (ord_iota i).
by move/all_letters; apply.
Qed.
Lemma FCcE : FCc blk Pb Pe <-> all (fun i => all (fun s => null (qmarg fb (inside i) s) ==> null (qmarg (fe i) (inside i) s))
  (words n T)) (iota 0 k).
Proof.
have E (i : 'I_k) y : ((marg Pb (inb blk (Some i)) y == 0) ==> (marg (Pe i) (inb blk (Some i)) y == 0)) =
    (null (qmarg fb (inside i) (letters y)) ==> null (qmarg (fe i) (inside i) (letters y))).
  have e1 : marg (Pe i) (inb blk (Some i)) y = QR (qmarg (fe i) (inside i) (letters y)).
    by apply: marg_rows => // t; apply: inside_inb.
  have e2 : marg Pb (inb blk (Some i)) y = QR (qmarg fb (inside i) (letters y)).
    by apply: marg_rows => // t; apply: inside_inb.
  by rewrite e1 e2 !QR_eq0.
split=> [H|/allP H i y /eqP m0].
  apply/allP => i; rewrite mem_iota => /= ik; apply/all_letters => y.
  by rewrite -[i]/(val (Ordinal ik)) -E; apply/implyP => /eqP m0; apply/eqP/H.
apply/eqP; move: m0; apply/implyP; rewrite E; have := H _ (ord_iota i).
by move/all_letters; apply.
Qed.
Lemma targetE y : target blk Pb Pe y = QR (qproduct fe (letters y)).
Proof. by rewrite /target big_option /= (product_rows (g := fe)). Qed.
End FC.
End Marginals.

(* total variation: of rows, of laws *)
Section Distance.
Variable R : realFieldType.
Definition qtv n (r s : row) : Q := (1 # 2) * qsum (mkseq (fun y => Qabs.Qabs (entry r y - entry s y)) n.+1).
Lemma TV_rows n r s : TV (dist_of R n r) (dist_of R n s) = QR (qtv n r s).
Proof.
rewrite /TV /qtv QRM -[2%:R]/((2%N)%:R : R) -(@sum_tokens R n) (_ : QR (1 # 2) = 2%:R^-1); last first.
  by rewrite (QR_fraction R 1 1) mul1r.
by congr (_ * _); apply: eq_bigr => y _; rewrite !ffunE QR_abs QRD QRN.
Qed.
Lemma TV_words n T (F G : T.-tuple 'I_n.+1 -> R) f g :
  (forall y, F y = QR (f (vals y))) -> (forall y, G y = QR (g (vals y))) ->
  TV F G = QR ((1 # 2) * qmass n T predT (fun s => Qabs.Qabs (f s - g s)%Q)).
Proof.
move=> eF eG; rewrite /TV QRM -sum_words (_ : QR (1 # 2) = 2%:R^-1); last by rewrite (QR_fraction R 1 1) mul1r.
by congr (_ * _); apply: eq_bigr => y _; rewrite eF eG QR_abs QRD QRN.
Qed.
End Distance.
