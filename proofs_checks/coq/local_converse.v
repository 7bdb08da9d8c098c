(* theory.md Theorem 2.4' (local converse), in part: where Z = 1 for every composition of tilts, it is Theorem 2.4. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws masks conditionals converses.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* "P_b of full support" on V^T; "for all f_i > 0 the local composition of P_i ∝ P_b f_i(y_{M_i}) has P_L^{M_i} = P_i^{M_i}
   (all i) and P_L^{M_b} = P_b^{M_b}"; p i is any AR model with the law P_i *)
Section Projective.
Variables (R : realFieldType) (V I : finType) (c : convention) (b : kernel R V).
Hypothesis mb : is_model b.
Local Notation w := (@weight R V I c).

Definition tilted T (f : I -> {ffun 'I_T -> V} -> R) (p : I -> kernel R V) :=
  (forall i, is_model (p i)) /\ forall i y, Law (p i) y = tilt (Law b) (f i) y.
Definition locally_projective T (blk : 'I_T -> option I) := forall f p, tilts blk f -> tilted f p ->
  let PL := Law (T := T) (comp w b p) in
  (forall i y, marg PL (inb blk (Some i)) y = marg (Law (p i)) (inb blk (Some i)) y) /\
  (forall y, marg PL (inb blk None) y = marg (Law b) (inb blk None) y).

Variables (T : nat) (blk : 'I_T -> option I).
Hypothesis full : forall y : {ffun 'I_T -> V}, 0 < Law b y.

Lemma tilted_exists (f : I -> {ffun 'I_T -> V} -> R) : tilts blk f -> tilted f (fun i => conditional (tilt (Law b) (f i)) b).
Proof.
move=> [f0 _].
have N0 i : 0 < \sum_u Law b u * f i u.
  have [v _] := model_inhabited mb; exact: (mean_gt0 full [ffun=> v] (f0 i)).
have P0 i y : 0 <= tilt (Law b) (f i) y by rewrite ltW // divr_gt0 // mulr_gt0.
have P1 i : \sum_y tilt (Law b) (f i) y = 1 by rewrite -mulr_suml divff // gt_eqF.
by split=> i; [apply: conditional_model|apply: conditional_law].
Qed.

(* where every composition of tilts is, as a law, the global one, 2.4' is 2.4 *)
Lemma local_converse_global : locally_projective blk ->
  (forall f p, tilts blk f -> tilted f p ->
     forall y : {ffun 'I_T -> V}, Law (comp w b p) y = gcomp (Law b) (fun i => tilt (Law b) (f i)) y) ->
  FCa blk (Law b).
Proof.
move=> lp eG; apply: (theorem_2_4 full (Law_sum1 T mb)) => f tf.
have tp := tilted_exists tf; have [pi pN] := lp f _ tf tp; have e := eG f _ tf tp.
split=> [i y|y].
  transitivity (marg (Law (comp w b (fun i => conditional (tilt (Law b) (f i)) b))) (inb blk (Some i)) y).
    by apply: eq_bigr => z _; rewrite e.
  by rewrite pi; apply: eq_bigr => z _; rewrite tp.2.
by rewrite -pN; apply: eq_bigr => z _; rewrite e.
Qed.

(* 1.5 (1): so it is where Z = 1 on the prefixes shorter than T *)
Lemma local_converse_Z1 : locally_projective blk ->
  (forall f p, tilts blk f -> tilted f p -> forall h, Rhat w T b p h -> Zk w b p h = 1) -> FCa blk (Law b).
Proof.
move=> lp Z1; apply: local_converse_global => // f p tf tp y; have [mp lawp] := tp.
have bpos h : (size h <= T)%N -> law b [::] h != 0.
  move=> hT; have [v _] := model_inhabited mb; have [z ez] := word_of v hT.
  rewrite -ez -Law_trunc // gt_eqF // /marg (bigD1 z) /=; last by apply/agreeP.
  by rewrite ltr_paddr // sumr_ge0 // => u _; apply/ltW/full.
have ac h : (size h < T)%N -> AC (b h) (fun i => p i h).
  move=> hT i v b0; have := bpos (rcons h v); rewrite size_rcons law_rcons /= b0 mulr0 eqxx => /(_ hT).
  by [].
have eW (z : {ffun 'I_T -> V}) : Law (comp w b p) z = gW (Law b) (fun i => tilt (Law b) (f i)) z.
  rewrite /Law (law_W (Z1 f p tf tp)) ?size_tuple // (W_conv (T := T)) ?size_tuple //; last by move=> h hT _; apply: ac.
  by rewrite W_gW /gW; congr (_ * _); apply: eq_bigr => i _; rewrite -/(Law (p i) z) lawp.
have S1 : \sum_(z : {ffun 'I_T -> V}) Law (comp w b p) z = 1.
  transitivity (\sum_(t : T.-tuple V) law (comp w b p) [::] t).
    by rewrite (sum_word T (law (comp w b p) [::]) xpredT).
  rewrite law_sum1_from // => h hT rh.
  apply: comp_alive => [g v|]; first exact: wk_ge0.
  by rewrite (Z1 f p tf tp) ?oner_neq0 // /Rhat hT.
rewrite eW /gcomp /gZ (eq_bigr (Law (comp w b p))) ?S1 ?divr1 // => z _; by rewrite eW.
Qed.
End Projective.
