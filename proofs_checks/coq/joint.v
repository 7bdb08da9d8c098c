(* theory.md 4.1 and 4.2: JF-pt, JF-int, and the canonical active sets that decide JF-int. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition skills.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* ---- deviation sets ---- *)
Section Joint.
Variables (V I : finType) (T : nat) (Dev : I -> pred (seq V)).
Variable v0 : V.                                            (* the token set is not empty *)

(* Definition 4.1 on deviation sets: "JF-pt: Dev_i and Dev_j are disjoint" *)
Definition jf_point := forall h, size h < T -> forall i j, Dev i h -> Dev j h -> i = j.
(* "JF-int: there are certificates with pairwise disjoint intervals on every path" *)
Definition jf_int := exists t1 t2 : I -> T.-tuple V -> nat,
  (forall i, certifies (Dev i) (t1 i) (t2 i)) /\
  forall i j y l, t1 i y <= l < t2 i y -> t1 j y <= l < t2 j y -> i = j.

(* 4.2: "JF-int iff Act_i and Act_j are disjoint for all i <> j" *)
Theorem theorem_4_2_active : jf_int <-> forall h i j, act T (Dev i) h -> act T (Dev j) h -> i = j.
Proof.
split=> [[t1 [t2 [ct dis]]] h i j ai aj|dis].
  have hy := pad_through v0 (ltnW (act_size ai)); apply: (dis i j (pad T v0 h) (size h));
    by apply: (theorem_3_4_minimal (ct _)); rewrite -definition_3_3_act hy.
exists (fun i => s1 (T := T) (Dev i)), (fun i => s2 (Dev i)); split=> [i|i j y l].
  exact: theorem_3_4_certifies.
by rewrite -!definition_3_3_act; apply: dis.
Qed.

(* 4.2: "JF-int => JF-pt" *)
Theorem theorem_4_2_pointwise : jf_int -> jf_point.
Proof. by move/theorem_4_2_active => dis h hT i j di dj; apply: (dis h); apply: Dev_act. Qed.

(* 4.2: "JF-pt with every expert gap-free => JF-int" *)
Theorem theorem_4_2_gap_free : jf_point -> (forall i, gap_free T (Dev i)) -> jf_int.
Proof.
move=> pt gf; apply/theorem_4_2_active => h i j ai aj; have hT := act_size ai.
by apply: (pt h); rewrite -?gf.
Qed.
End Joint.

(* 4.2: "JF-pt alone does not imply JF-int" (the sets of CE 4.3) *)
Theorem theorem_4_2_not_conversely : exists Dev : bool -> pred (seq bool), jf_point 3 Dev /\ ~ jf_int 3 Dev.
Proof.
exists (fun i => if i then [pred h | h \in [:: [::]; [:: false; false]]] else [pred h | h == [:: false]]); split.
  move=> h _ [] [] //=; rewrite !inE => a b; move: a b; first by case/orP=> /eqP ->.
  by move=> /eqP-> .
move/(theorem_4_2_active _ _ false) => /(_ [:: false] true false) H; suff: true = false by [].
apply: H; apply/andP; split.
- by apply/aliveP; exists [:: false].
- by apply/startedP; exists 0.
- by apply/aliveP; exists [::].
- by apply/startedP; exists 1.
Qed.

(* ---- kernels ---- *)
Section Kernels.
Variables (R : realFieldType) (V I : finType) (b : kernel R V) (p : I -> kernel R V).

(* 0.1: "Dev_i = {h in R : p_i(.|h) <> p_b(.|h)}" *)
Definition Dev (S : pred (seq V)) i : pred (seq V) := fun h => S h && dev b p i h.

Lemma jf_pointP T S : jf_point T (Dev S) <-> jf_pt b p [pred h | (size h < T) && S h].
Proof.
split=> [jf h /andP[hT Sh] i j di dj|jf h hT i j /andP[Sh di] /andP[_ dj]].
  by apply: (jf h hT); rewrite /Dev Sh.
by apply: (jf h) => //; rewrite inE hT.
Qed.

(* JF-int is inherited by smaller scopes (3.7: "Act_i grows with R") *)
Lemma act_monotone (D D' : pred (seq V)) T T' h : T <= T' -> (forall u, D u -> D' u) -> act T D h -> act T' D' h.
Proof.
move=> TT DD /andP[/aliveP[t tT Dt] /startedP[m mh Dm]]; apply/andP; split.
  by apply/aliveP; exists t; [apply: leq_trans TT|apply: DD].
by apply/startedP; exists m => //; apply: DD.
Qed.
Lemma jf_int_scope (v0 : V) T T' (S S' : pred (seq V)) : T <= T' -> (forall h, S h -> S' h) ->
  jf_int T' (Dev S') -> jf_int T (Dev S).
Proof.
move=> TT SS /(theorem_4_2_active _ _ v0) dis; apply/(theorem_4_2_active _ _ v0) => h i j ai aj.
by apply: (dis h); [move: ai|move: aj]; apply: act_monotone => // u /andP[/SS Su du]; rewrite /Dev Su.
Qed.
End Kernels.
