(* theory.md 7.3: small model.  A reachable bad state is reached by a word shorter than #states. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.

Section DFA.
Variables (Q V : finType) (delta : Q -> V -> Q) (ok : Q -> V -> bool) (q0 : Q).
(* ok q y : the edge is in supp p^ *)
Definition run := foldl delta.
Fixpoint legal q w := if w is y :: w' then ok q y && legal (delta q y) w' else true.
Definition edge : rel Q := fun q q' => [exists y, ok q y && (delta q y == q')].

Lemma path_word q s : path edge q s ->
  exists w, [/\ size w = size s, legal q w & run q w = last q s].
Proof.
elim: s q => [|q' s IH] q /=; first by exists [::].
case/andP => /existsP[y /andP[oky /eqP dy]] /IH [w [sw lw rw]].
by exists (y :: w); split; rewrite /= ?sw ?oky ?dy.
Qed.

Lemma word_path q w : legal q w -> connect edge q (run q w).
Proof.
elim: w q => [|y w IH] q /=; first by rewrite connect0.
case/andP => oky /IH; apply: connect_trans; apply: connect1.
by apply/existsP; exists y; rewrite oky eqxx.
Qed.

Theorem small_model (bad : pred Q) :
  (exists2 w, legal q0 w & bad (run q0 w)) ->
  exists w, [/\ legal q0 w, bad (run q0 w) & (size w < #|[set q | connect edge q0 q]|)%N].
Proof.
case=> w lw bw; have /connectP[s ps ls] := word_path lw.
rewrite ls in bw; case/shortenP: ps bw => s' ps' us' _ bw.
have [w' [sw' lw' rw']] := path_word ps'.
exists w'; split; rewrite ?rw' // sw' -[_.+1]/(size (q0 :: s')) -(card_uniqP us').
apply/subset_leq_card/subsetP => q; rewrite inE => /(path_connect ps') //.
Qed.
End DFA.

(* ---- 7.3: finite-state models.  One product automaton (Q, delta, q0); model j emits e j q. ---- *)
Section JFpt.
Variables (R : realFieldType) (V I Q : finType) (delta : Q -> V -> Q) (q0 : Q).
Variables (eb : Q -> dist R V) (ee : I -> Q -> dist R V).
Local Open Scope ring_scope.
Local Notation w := (@wcancel R V I).
Definition kb : kernel R V := fun h => eb (run delta q0 h).
Definition ke i : kernel R V := fun h => ee i (run delta q0 h).
Definition ec q : dist R V := norm w (eb q) (ee^~ q).           (* composed kernel of a state *)
Definition ok q y := ec q y != 0.
Local Notation conn := (connect (edge delta ok) q0).
Definition bad q := [exists i, [exists j, [&& i != j, ee i q != eb q & ee j q != eb q]]].

Lemma law_legal q h g : run delta q0 g = q ->
  (law (comp w kb ke) g h != 0) = legal delta ok q h.
Proof.
elim: h q g => [|y h IH] q g e /=; first by rewrite oner_neq0.
have cE : comp w kb ke g y = ec q y by rewrite /comp /ec /kb /ke e.
rewrite mulf_eq0 negb_or cE -(IH (delta q y) (rcons g y)) //.
by rewrite /run foldl_rcons -/(run _ _ _) e.
Qed.

(* JF-pt at horizon T, on R^ *)
Definition jfT T := jf_pt kb ke [pred h | (size h < T)%N & reach (comp w kb ke) h].

Theorem jf_all_T : (forall T, jfT T) <-> (forall q, conn q -> ~~ bad q).
Proof.
split=> [jf q cq|nb T h /andP[_ rh] i j di dj].
  apply/negP => /existsP[i /existsP[j /and3P[ij di dj]]].
  have /connectP[s ps ls] := cq; have [h [_ lh rh]] := path_word ps.
  have := jf (size h).+1 h; rewrite inE ltnSn /= /reach (law_legal h (g := [::]) erefl) lh.
  move/(_ isT i j); rewrite /dev /kb /ke rh -ls di dj => /(_ isT isT) eij.
  by rewrite eij eqxx in ij.
move: rh; rewrite /reach (law_legal h (g := [::]) erefl) => /word_path/nb.
apply: contraNeq => ij; apply/existsP; exists i; apply/existsP; exists j.
by apply/and3P; split; [exact: ij|exact: di|exact: dj].
Qed.

(* horizon |R| decides *)
Theorem jf_small : jfT #|[set q | conn q]| -> forall T, jfT T.
Proof.
move=> jf; apply/jf_all_T => q cq; apply/negP => bq.
have /connectP[s ps ls] := cq; have [h [_ lh rh]] := path_word ps.
have [|h' [lh' bh' sh']] := @small_model Q V delta ok q0 bad.
  by exists h => //; rewrite rh -ls.
have /existsP[i /existsP[j /and3P[ij di dj]]] := bh'.
have := jf h'; rewrite inE sh' /= /reach (law_legal h' (g := [::]) erefl) lh'.
move/(_ isT i j); rewrite /dev /kb /ke di dj => /(_ isT isT) eij.
by rewrite eij eqxx in ij.
Qed.
End JFpt.
