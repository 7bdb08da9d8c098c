(* theory.md 4.5, last sentence: JF-int supplies the hypothesis of the segment law with the canonical Act_i. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition exactness skills segments joint.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section JointSegments.
Variables (R : realFieldType) (V I : finType) (T : nat) (c : convention) (b : kernel R V) (p : I -> kernel R V).
Local Notation w := (@weight R V I c).
Local Notation Rhat := (Rhat w T b p).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
(* `cancel`: nothing; `strict` without error on R^ and `drop`: absolute continuity on R^ *)
Hypothesis faithful_on : forall h, Rhat h -> faithful c (b h) (p^~ h).
Variable S : pred (seq V).
Hypothesis R_sub : forall h, Rhat h -> S h.                 (* a scope that contains R^ *)
Hypothesis jf : jf_int T (Dev b p S).

Lemma jf_int_reach : jf_pt b p Rhat.
Proof.
have [v0 _ _] := dist_support (mb [::]) => h Rh i j di dj.
by apply: (theorem_4_2_pointwise v0 jf (h := h)); rewrite /Dev ?R_sub //; case/andP: Rh.
Qed.

(* P^ is a law: no dead prefix *)
Lemma jf_int_law : model_from (comp w b p) [::] T.
Proof.
move=> h hT rh; have Rh : Rhat h by rewrite /composition.Rhat hT.
rewrite (comp_switched mb mp (faithful_on Rh)); first exact: switch_model.
exact: jf_int_reach.
Qed.

(* "p^(.|h) = p_i(.|h) for every h in R^, sigma_1 <= |h| < sigma_2", with the canonical times *)
Lemma jf_int_agree i (y : T.-tuple V) l :
  (s1 (Dev b p S i) y <= l < s2 (Dev b p S i) y)%N -> reach (comp w b p) (pre l y) ->
  comp w b p (pre l y) = p i (pre l y).
Proof.
rewrite -definition_3_3_act => ai rh; have hT := act_size ai.
have Rh : Rhat (pre l y) by rewrite /composition.Rhat hT.
have [v0 _ _] := dist_support (mb [::]).
apply: comp_sole => // [|j ji]; first exact: faithful_on.
apply/eqP; apply: contraNT ji => dj; apply/eqP.
apply: ((theorem_4_2_active _ _ v0).1 jf (pre l y)) ai; apply: Dev_act => //.
by rewrite /Dev R_sub.
Qed.

Theorem theorem_4_5_jf_int i g s : reach (comp w b p) g ->
  let E := segev (s1 (T := T) (Dev b p S i)) (s2 (T := T) (Dev b p S i)) g s in
  cond (comp w b p) g E = cond (p i) g E.
Proof.
have [st1 st2] := theorem_3_4_stopping T (Dev b p S i).
by move=> rg; apply: theorem_4_5 => //; [apply: jf_int_law|apply: jf_int_agree].
Qed.
End JointSegments.
