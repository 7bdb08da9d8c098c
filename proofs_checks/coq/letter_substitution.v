(* Theory.md, remark 4.7: the toy task of letter substitution, for any prompt and any copy noise. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition skills joint marginals laws masks histories masks_stepwise ancestral.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Toy.
Variables (R : realFieldType) (e : R).
Hypotheses (e0 : 0 < e) (e1 : 0 < 1 - e *+ 3).
Local Notation V := (ordinal_finType 4).
Local Notation wcancel := (@wcancel R V bool_finType).
Definition A : 'I_4 := inord 0. Definition B : 'I_4 := inord 1. Definition C : 'I_4 := inord 2. Definition D : 'I_4 := inord 3.

(* "Letter substitution A->B, C->D with copy noise": a model writes its letter with probability 1-3e, each other with e *)
Definition noisy (a : 'I_4) : dist R V := [ffun y => if y == a then 1 - e *+ 3 else e].
Definition AB a := if a == A then B else a.
Definition CD a := if a == C then D else a.

Variable x : seq 'I_4.
Local Notation T := (size x).
Definition writer (f : 'I_4 -> 'I_4) : kernel R V := fun h => noisy (f (nth A x (size h))).
Definition copy := writer id.
Definition substitution (i : bool) := writer (if i then AB else CD).
(* M_i(x): where the prompt has the letter of expert i *)
Definition mask (t : nat) : option bool :=
  if nth A x t == A then Some true else if nth A x t == C then Some false else None.
Local Notation Pb := (Law (T := T) copy).
Local Notation Pe := (fun i => Law (T := T) (substitution i)).
Local Notation blk := (fun t : 'I_T => mask t).

Lemma noisy_gt0 a y : 0 < noisy a y. Proof. by rewrite ffunE; case: ifP. Qed.
Lemma noisy_dist a : is_dist (noisy a).
Proof.
split=> [y|]; first exact/ltW/noisy_gt0.
rewrite (bigD1 a) //= ffunE eqxx (eq_bigr (fun=> e)) => [|y ya]; last by rewrite ffunE (negPf ya).
by rewrite sumr_const cardC1 card_ord subrK.
Qed.
Lemma copy_model : is_model copy. Proof. by move=> h; apply: noisy_dist. Qed.
Lemma substitution_model i : is_model (substitution i). Proof. by move=> h; apply: noisy_dist. Qed.

Lemma letters : (A == C) = false. Proof. by rewrite -val_eqE /= !inordK. Qed.
Lemma letters_D : (D == A) = false. Proof. by rewrite -val_eqE /= !inordK. Qed.
Lemma mask_off i h : mask (size h) <> Some i -> substitution i h = copy h.
Proof.
rewrite /mask /substitution /copy /writer /AB /CD /=; case: i; case: eqP => [->|_]; rewrite ?letters //.
by case: eqP => // _ [].
Qed.
Lemma mask_on h i : mask (size h) = Some i -> substitution i h = writer (AB \o CD) h.
Proof.
rewrite /mask /substitution /writer /AB /CD /=.
case: eqP => [-> [<-]|_]; first by rewrite letters eqxx.
by case: eqP => [-> [<-]|//]; rewrite ?eqxx; case: (D == A) (letters_D).
Qed.
Lemma mask_none h : mask (size h) = None -> copy h = writer (AB \o CD) h.
Proof. by rewrite /mask /copy /writer /AB /CD /=; case: eqP => // a; case: eqP => // c _; case: eqP. Qed.

(* "yet masks M_i(x) satisfy FC ..." *)
Theorem remark_4_7_FC : FC blk Pb Pe.
Proof.
have c : FCc blk Pb Pe.
  move=> i y m0; case/negP: (oner_neq0 R); apply/eqP; have : 0 < marg Pb (inb blk (Some i)) y; last by rewrite m0 ltxx.
  have pos z : 0 < Pb z.
    rewrite /Law; elim/last_ind: (val (word z)) => [|s u IH]; first exact: ltr01.
    by rewrite law_rcons mulr_gt0 ?noisy_gt0.
  rewrite /marg (bigD1 y) /=; last by apply/agreeP.
  by rewrite ltr_spaddl // sumr_ge0 // => z _; apply/ltW/pos.
apply/(theorem_2_3 copy_model substitution_model c).
exists (fun t _ => noisy (nth A x t)); split=> [//|i|i h hT _ /mask_off->//].
by exists (fun t _ => noisy ((if i then AB else CD) (nth A x t))).
Qed.

Lemma toy_MA : MA T mask copy substitution predT.
Proof. by move=> h i _ _ /mask_off. Qed.

(* "... and P^ is exact": it makes both substitutions *)
Theorem remark_4_7_exact h : (size h < T)%N -> comp wcancel copy substitution h = writer (AB \o CD) h.
Proof.
move=> hT; have [|st _] := @theorem_2_6b R V _ T mask copy substitution copy_model substitution_model Cancel predT _ toy_MA (fun _ _ _ => I).
  by [].
have [on off _] := st h hT isT; case E: (mask (size h)) => [i|]; first by rewrite (on i E) (mask_on E).
by rewrite off // (mask_none E).
Qed.

(* "success (1-3e)^3 for each of AAC, ACA, CAC": (1-3e)^T for any prompt *)
Theorem remark_4_7_success : law (comp wcancel copy substitution) [::] (map (AB \o CD) x) = (1 - e *+ 3) ^+ T.
Proof.
rewrite (law_eq_on_reach (q := writer (AB \o CD)) (T := T)) ?size_map // => [|h hT _]; last exact: remark_4_7_exact.
suff H s2 s1 : x = s1 ++ s2 -> law (writer (AB \o CD)) (map (AB \o CD) s1) (map (AB \o CD) s2) = (1 - e *+ 3) ^+ size s2.
  exact: (H x [::]).
elim: s2 s1 => [|a s2 IH] s1 ex /=; first by rewrite expr0.
rewrite exprS -(IH (rcons s1 a)) ?cat_rcons // map_rcons; congr (_ * _).
by rewrite /writer size_map ex nth_cat ltnn subnn ffunE eqxx.
Qed.
End Toy.

(* "for prompt ACA intervals overlap (JF-int fails)"; for CAC too *)
Theorem remark_4_7 (R : realFieldType) (e : R) x : e != 1 - e *+ 3 -> x \in [:: [:: A; C; A]; [:: C; A; C]] ->
  ~ jf_int 3 (dev (copy e x) (substitution e x)).
Proof.
move=> en xs; have d i h : dev (copy e x) (substitution e x) i h =
    ((if i then AB else CD) (nth A x (size h)) != nth A x (size h)).
  rewrite /dev /copy /substitution /writer; set a := nth _ _ _; set u := (if i then AB else CD) a.
  congr (~~ _); apply/eqP/eqP => [ef|-> //].
  have := congr1 (fun f : dist R _ => f a) ef; rewrite !ffunE eqxx; case: eqP => [<-//|_ /eqP].
  by rewrite (negPf en).
have neq (m n : nat) : (m < 4)%N -> (n < 4)%N -> (inord m == inord n :> 'I_4) = (m == n) by move=> m4 n4; rewrite -val_eqE /= !inordK.
(* the expert of the outer letters has begun and is not through when the other deviates *)
have overlap i : dev (copy e x) (substitution e x) i [::] -> dev (copy e x) (substitution e x) i [:: A; A] ->
    dev (copy e x) (substitution e x) (~~ i) [:: A] -> ~ jf_int 3 (dev (copy e x) (substitution e x)).
  move=> d0 d2 d1 /(theorem_4_2_active _ _ A) => /(_ [:: A] i (~~ i)) H; suff: i = ~~ i by case: (i).
  apply: H; apply/andP; split.
  - by apply/aliveP; exists [:: A].
  - by apply/startedP; exists 0%N.
  - by apply/aliveP; exists [::].
  - by apply/startedP; exists 1%N.
by move: xs; rewrite !inE => /orP[] /eqP ex; [apply: (overlap true)|apply: (overlap false)]; rewrite d ex /= /AB /CD eqxx neq.
Qed.
