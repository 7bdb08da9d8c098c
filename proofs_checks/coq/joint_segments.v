From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition skills segments every_length.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Section S.
Variables (R : realFieldType) (V I : finType) (T : nat) (b : kernel R V) (p : I -> kernel R V).
Local Notation w := (@wcancel R V I).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Variable Sc : pred (seq V).
Hypothesis R_sub : forall h, reach (comp w b p) h -> Sc h.
(* JF-int on a scope containing R^ : no dead prefix, so segment_jf_int needs no side condition *)
Lemma jf_int_model : jf_int T (Dev b p Sc) -> model_from (comp w b p) [::] T.
Proof.
move=> jf t tT rt /=; have [v0 _] : exists v0 : V, predT v0.
  have [_ s1] := mb [::]; have [v _|nov] := pickP (@predT V); first by exists v.
  by move/eqP: s1; rewrite big1 1?eq_sym ?oner_eq0 // => v; have := nov v.
have one i j : dev b p i t -> dev b p j t -> i = j.
  have pt : pre (size t) (pad v0 T t) = t by rewrite pre_pad ?take_size // ltnW.
  by move=> di dj; apply: (jf_int_pt jf (y := pad v0 T t) tT); rewrite pt /Dev R_sub.
rewrite (comp_switch _ _ mb mp one); first exact: switch_model.
  by move=> *; apply: wcancel_sole.
by move=> *; apply: wcancel_none.
Qed.
Theorem segment_jf_int' i g s : jf_int T (Dev b p Sc) ->
  reach (comp w b p) g -> reach (p i) g ->
  let E := segev (s1 (T := T) (Dev b p Sc i)) (s2 (Dev b p Sc i)) g s in
  Pr (comp w b p) E / law (comp w b p) [::] g = Pr (p i) E / law (p i) [::] g.
Proof. by move=> jf; apply: segment_jf_int => //; apply: jf_int_model. Qed.
End S.
Print Assumptions segment_jf_int'.
