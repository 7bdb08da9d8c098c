(* theory.md Theorem 6.2: local composition commutes with a bijection D of V^T, for all full-support models, iff D is an
   isomorphism of the prefix tree. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws histories features.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Trees.
Variables (R : realFieldType) (V I : finType) (T : nat).
Local Notation Om := {ffun 'I_T -> V}.
Local Notation kernel := (kernel R V).
Local Notation drop := (@wdrop R V I).
Local Notation pre l y := (take l (word y)).

(* "z_{1:t} is a function of y_{1:t} for each t" *)
Definition causal (D : Om -> Om) := forall l y y', agree (upto l) y y' -> agree (upto l) (D y) (D y').
(* "prefix-tree isomorphism: causal with causal inverse" *)
Definition tree_isomorphism D := exists E, [/\ cancel D E, cancel E D, causal D & causal E].
Definition full_support (q : kernel) := forall h y, 0 < q h y.
(* "Local composition commutes with D for all full-support models": C_L[D#P_b, D#P_i] = D#C_L[P_b, P_i] *)
Definition commutes c (D : Om -> Om) := forall (b b' : kernel) (p p' : I -> kernel),
  is_model b -> (forall i, is_model (p i)) -> is_model b' -> (forall i, is_model (p' i)) ->
  full_support b -> (forall i, full_support (p i)) -> full_support b' -> (forall i, full_support (p' i)) ->
  (forall z : Om, Law b' z = push D (Law b) z) -> (forall i (z : Om), Law (p' i) z = push D (Law (p i)) z) ->
  forall z, Law (comp (@weight R V I c) b' p') z = push D (Law (comp (@weight R V I c) b p)) z.

Lemma agree_pre l (y y' : Om) : agree (upto l) y y' = (pre l y == pre l y'). Proof. exact: agree_take. Qed.

(* ---- the uniform model counts words ---- *)
Definition uniform : kernel := fun=> [ffun=> #|V|%:R^-1].

Lemma uniform_model (v : V) : is_model uniform.
Proof.
have n0 : #|V|%:R != 0 :> R by rewrite pnatr_eq0 -lt0n; apply/card_gt0P; exists v.
move=> h; split=> [y|]; first by rewrite ffunE invr_ge0 ler0n.
under eq_bigr do rewrite ffunE; by rewrite sumr_const -(mulr_natr (_ ^-1)) mulVf.
Qed.

Lemma uniform_law h s : law uniform h s = #|V|%:R^-1 ^+ size s.
Proof. by elim: s h => [|y s IH] h; rewrite ?expr0 //= IH ffunE exprS. Qed.

(* a sum over the children of a prefix, as a mean over the words that pass through it *)
Lemma child_sum (v : V) h (F : seq V -> R) : (size h < T)%N ->
  #|V|%:R^-1 ^+ (size h).+1 * (\sum_a F (rcons h a)) =
  \sum_(y : Om | pre (size h) y == h) #|V|%:R^-1 ^+ T * F (pre (size h).+1 y).
Proof.
move=> hT; rewrite (partition_big (fun y : Om => y (Ordinal hT)) xpredT) //= mulr_sumr; apply: eq_bigr => a _.
rewrite -(size_rcons h a) -(uniform_law [::]) (law_prefix (T := T) (uniform_model v)) ?size_rcons // mulr_suml.
apply: eq_big => [y|y /eqP ey]; first by rewrite word_next eqseq_rcons.
by rewrite /Law uniform_law size_tuple ey.
Qed.

Section Isomorphism.
Variables (D E : Om -> Om) (b b' : kernel) (p p' : I -> kernel) (v : V).
Hypotheses (DE : cancel D E) (ED : cancel E D) (cD : causal D) (cE : causal E).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)) (mb' : is_model b') (mp' : forall i, is_model (p' i)).
Hypothesis eb : forall z : Om, Law b' z = push D (Law b) z.
Hypothesis ep : forall i (z : Om), Law (p' i) z = push D (Law (p i)) z.

Lemma tree_agree l y y' : agree (upto l) (D y) (D y') = agree (upto l) y y'.
Proof. by apply/idP/idP => [/cE|/cD //]; rewrite !DE. Qed.

Lemma tree_sum l y (F : Om -> R) : \sum_(z | agree (upto l) z (D y)) F z = \sum_(u | agree (upto l) u y) F (D u).
Proof.
rewrite (reindex D) /=; last by exists E => u _; [apply: DE|apply: ED].
by apply: eq_bigl => u; apply: tree_agree.
Qed.

Lemma tree_law (q q' : kernel) l y : is_model q -> is_model q' -> (forall z : Om, Law q' z = push D (Law q) z) ->
  law q' [::] (pre l (D y)) = law q [::] (pre l y).
Proof.
move=> mq mq' e; rewrite -!Law_trunc // /marg tree_sum; apply: eq_bigr => u _.
by rewrite e (push_at (can_inj DE)).
Qed.

Lemma tree_W l y : W drop b' p' [::] (pre l (D y)) = W drop b p [::] (pre l y).
Proof.
rewrite !W_gW (tree_law l y mb mb' eb); congr (_ * _); apply: eq_bigr => i _.
by rewrite (tree_law l y (mp i) (mp' i) (ep i)).
Qed.

(* "kernels are relabelled, Z equal" *)
Lemma tree_Z l y : (l < T)%N -> W drop b p [::] (pre l y) != 0 -> Zk drop b' p' (pre l (D y)) = Zk drop b p (pre l y).
Proof.
move=> lT nz; apply: (mulfI nz); rewrite -{1}tree_W /Zk /Z !mulr_sumr.
have step (bb : kernel) pp (y0 : Om) : \sum_a W drop bb pp [::] (pre l y0) * drop (bb (pre l y0)) (fun i => pp i (pre l y0)) a =
    \sum_a W drop bb pp [::] (rcons (pre l y0) a).
  by apply: eq_bigr => a _; rewrite W_rcons.
rewrite !step; have n0 : #|V|%:R^-1 ^+ l.+1 != 0 :> R.
  by rewrite expf_neq0 // invr_eq0 pnatr_eq0 -lt0n; apply/card_gt0P; exists v.
apply: (mulfI n0); have sz (y0 : Om) : size (pre l y0) = l by rewrite size_word_take // ltnW.
have := child_sum v (h := pre l (D y)) (W drop b' p' [::]); rewrite sz => -> //.
have := child_sum v (h := pre l y) (W drop b p [::]); rewrite sz => -> //.
rewrite (eq_bigl (fun z : Om => agree (upto l) z (D y))) => [|z]; last by rewrite agree_pre.
rewrite tree_sum; apply: eq_big => [u|u _]; first by rewrite agree_pre.
by rewrite tree_W.
Qed.

Lemma tree_comp (y : Om) : Law (comp drop b' p') (D y) = Law (comp drop b p) y.
Proof.
have w0 (bb : kernel) (pp : I -> kernel) h a : is_model bb -> (forall i, is_model (pp i)) -> 0 <= wk drop bb pp h a.
  by move=> mbb mpp; apply: (wk_ge0 Drop).
have : forall l, (l <= T)%N -> law (comp drop b' p') [::] (pre l (D y)) = law (comp drop b p) [::] (pre l y).
  elim=> [|l IH] lT; first by rewrite !take0.
  rewrite !word_next !law_rcons IH ?(ltnW lT) //=.
  have [->|nz] := eqVneq (law (comp drop b p) [::] (pre l y)) 0; first by rewrite !mul0r.
  have Wn : W drop b p [::] (pre l y) != 0 by rewrite -reach_comp // => h a; apply: w0.
  congr (_ * _); rewrite !compE tree_Z //; congr (_ / _); apply: (mulfI Wn).
  have := tree_W l.+1 y; rewrite !word_next !W_rcons tree_W; exact.
by move/(_ T (leqnn T)); rewrite !word_take.
Qed.
End Isomorphism.

(* "(<=) kernels are relabelled, Z equal" *)
Theorem theorem_6_2_if c D : tree_isomorphism D -> commutes c D.
Proof.
case=> E [DE ED cD cE] b b' p p' mb mp mb' mp' fb fp fb' fp' eb ep z; have [v _] := model_inhabited mb.
have conv (bb : kernel) pp : full_support bb -> forall s, law (comp (@weight R V I c) bb pp) [::] s = law (comp drop bb pp) [::] s.
  move=> fbb s; apply: (law_eq_on_reach (T := size s)) => // h _ _; apply: comp_conv => i y b0.
  by have := fbb h y; rewrite b0 ltxx.
rewrite -[z]ED /Law conv // (push_at (can_inj DE)) conv //.
exact: (tree_comp v DE ED cD cE mb mp mb' mp' eb ep).
Qed.
End Trees.
