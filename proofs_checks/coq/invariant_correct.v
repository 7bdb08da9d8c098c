(* What invariant.v accepts holds for every length, and what it refutes fails (theory.md 7.3, 7.4). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition laws skills joint decision decision_correct invariant.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Correct.
Variables (V I : finType) (Q : eqType) (tokens : seq V) (experts : seq I).
Hypotheses (tokens_all : forall y, y \in tokens) (experts_all : forall i, i \in experts).
Variables (start : Q) (next : Q -> V -> option Q) (deviants : Q -> seq I).
Variable v0 : V.                                            (* the token set is not empty *)

Local Notation run_from := (run_from next).
Local Notation run := (run start next).
(* Dev_i on R^: the prefixes that lead to a state in which the expert deviates *)
Local Notation Dev := (fun i => deviates start next deviants i : pred (seq V)).

Lemma run_cat q h g : run_from q (h ++ g) = if run_from q h is Some q' then run_from q' g else None.
Proof. by elim: h q => [|y h IH] q //=; case: (next q y). Qed.
Lemma run_rcons q h y : run_from q (rcons h y) = if run_from q h is Some q' then next q' y else None.
Proof. by rewrite -cats1 run_cat; case: (run_from q h) => //= q'; case: (next q' y). Qed.

(* a property that the start has and every step keeps is had by every state that is reached *)
Lemma closedP X h q : closed tokens start next X -> run h = Some q -> q \in X.
Proof.
case/andP => sX step; elim/last_ind: h q => [q [<-] //|h y IH q].
rewrite /run run_rcons; case e: (run_from start h) => [q'|//] n.
by have /allP/(_ y (tokens_all y)) := allP step _ (IH _ e); rewrite n.
Qed.

(* 7.3, soundness: an invariant whose states have one deviator at most proves JF-pt at every length *)
Theorem proves_pointwise_sound X : proves_pointwise tokens start next deviants X -> forall T, jf_point T Dev.
Proof.
case/andP => cl /allP one T h _ i j; rewrite /deviates; case e: (run h) => [q|//] di dj.
have := one _ (closedP cl e); move: di dj; case: (deviants q) => [|k [|//]] //.
by rewrite !inE => /eqP-> /eqP->.
Qed.

Variables (gone : Q -> seq I) (P : seq (Q * seq I)).
Hypotheses (F : followed tokens experts start next deviants gone P)
  (G : forever tokens next deviants gone (map fst P)).
Local Notation advance := (advance experts deviants gone).

(* the state and who is active after a prefix, as the invariant follows them *)
Fixpoint follow (x : Q * seq I) h :=
  if h is y :: h' then (if next x.1 y is Some q' then follow (q', advance x.2 q') h' else None) else Some x.
Let first := (start, advance [::] start).

Lemma follow_rcons x h y : follow x (rcons h y) =
  if follow x h is Some x' then (if next x'.1 y is Some q' then Some (q', advance x'.2 q') else None) else None.
Proof. by elim: h x => [|z h IH] x //=; case: (next x.1 z). Qed.
Lemma follow_run h : run h = omap fst (follow first h).
Proof.
elim/last_ind: h => [//|h y]; rewrite /run run_rcons follow_rcons => ->.
by case: (follow first h) => [[q A]|//] /=; case: (next q y).
Qed.
Lemma follow_in h x : follow first h = Some x -> x \in P.
Proof.
case/andP: F => fP step; elim/last_ind: h x => [x [<-] //|h y IH x]; rewrite follow_rcons.
case e: (follow first h) => [x'|//]; have /allP/(_ y (tokens_all y)) := allP step _ (IH _ e).
by case: (next x'.1 y) => [q'|//] ? [<-].
Qed.

(* an expert that is gone after a prefix deviates after none of its extensions *)
Lemma gone_forever i h g q q' : run h = Some q -> run (h ++ g) = Some q' -> i \in gone q -> i \in gone q' /\ i \notin deviants q'.
Proof.
have inP k r : run k = Some r -> r \in map fst P.
  rewrite follow_run; case e: (follow first k) => [[r' A]|//] [<-].
  by apply/mapP; exists (r', A) => //; apply: follow_in e.
have dev k r : run k = Some r -> i \in gone r -> i \notin deviants r.
  by move=> e gi; have := allP G _ (inP _ _ e); move/allP/(_ i gi)/andP => -[].
move=> e; elim/last_ind: g q' => [|g y IH] q'; first by rewrite cats0 e => -[<-] gi; split=> //; apply: (dev h).
rewrite -rcons_cat => e' gi; move: (e'); rewrite /run run_rcons; case m: (run_from start (h ++ g)) => [r|//] n.
have [gr _] := IH _ m gi; have /allP/(_ i gr)/andP[_ /allP/(_ y (tokens_all y))] := allP G _ (inP _ _ m).
by rewrite n => gq; split=> //; exact: dev e' gq.
Qed.

(* who is active at some horizon is among those that the invariant says are active *)
Lemma act_followed T i h : act T (Dev i) h -> exists2 x, follow first h = Some x & i \in x.2.
Proof.
case/andP => /aliveP[t _ dt] /startedP[m mh dm].
have [n hn] : exists n, n = size h - m by exists (size h - m).
have live k : k <= size h -> exists2 q, run (take k h) = Some q & i \notin gone q.
  move=> kh; move: dt; rewrite /deviates; case e: (run (h ++ t)) => [q|//] di.
  move: (e); rewrite -{1}(cat_take_drop k h) -catA /run run_cat -/(run (take k h)); case e': (run (take k h)) => [r|//] _.
  exists r => //; apply/negP => gi; rewrite -(cat_take_drop k h) -catA in e.
  by have [_] := gone_forever e' e gi; rewrite di.
suff /(_ (size h)) : forall k, m <= k <= size h -> exists2 x, follow first (take k h) = Some x & i \in x.2.
  by rewrite mh leqnn take_size; apply.
elim=> [|k IH] /andP[mk kh].
  have m0 : m = 0 by apply/eqP; rewrite -leqn0.
  have [q] := live 0 kh; rewrite take0 => -[<-] gi; exists first => //=; rewrite mem_filter experts_all andbT gi andbT.
  by move: dm; rewrite m0 take0 /deviates /= => ->; rewrite ?orbT.
have [v _] : exists v : V, true by exists v0.
have tk : take k.+1 h = rcons (take k h) (nth v h k) by rewrite -take_nth.
have [q] := live k.+1 kh; rewrite tk follow_run follow_rcons; case f: (follow first (take k h)) => [x|//].
case n': (next x.1 _) => [q'|//] [<-] gi; exists (q', advance x.2 q') => //=.
rewrite mem_filter experts_all andbT gi andbT; move: mk; rewrite leq_eqVlt => /orP[/eqP mk|mk].
  move: dm; rewrite mk tk /deviates follow_run follow_rcons f n' /= => ->; exact: orbT.
have [|x' fx ix] := IH; first by rewrite -ltnS mk ltnW.
by move: fx ix; rewrite f => -[->] ->.
Qed.

(* 7.4, soundness: an invariant in which one expert is active at most proves JF-int at every length *)
Theorem proves_interval_sound : all (fun x : Q * seq I => size x.2 <= 1) P -> forall T, jf_int T Dev.
Proof.
move/allP => one T; apply/(theorem_4_2_active _ _ v0) => h i j /act_followed[x fx ix] /act_followed[x' fx' jx'].
move: fx'; rewrite fx => -[ex]; rewrite -ex in jx'; have := one _ (follow_in fx); move: ix jx'.
by case: (x.2) => [|k [|//]] //; rewrite !inE => /eqP-> /eqP->.
Qed.
End Correct.

Section Refutations.
Variables (V I : finType) (Q : eqType) (start : Q) (next : Q -> V -> option Q) (deviants : Q -> seq I).
Local Notation Dev := (fun i => deviates start next deviants i : pred (seq V)).

Theorem refutes_pointwise_sound i j h T : refutes_pointwise start next deviants i j h -> size h < T -> ~ jf_point T Dev.
Proof. by case/and3P => ij di dj hT /(_ h hT i j di dj) e; rewrite e eqxx in ij. Qed.

Theorem refutes_interval_sound (v0 : V) i j h u v T : refutes_interval start next deviants i j h u v ->
  size h + maxn (size u) (size v) < T -> ~ jf_int T Dev.
Proof.
case/and5P => ij bi bj du dv; rewrite addn_maxr gtn_max => /andP[uT vT] /(theorem_4_2_active _ _ v0) dis.
case/eqP: ij; apply: (dis h).
  by apply/andP; split=> //; apply/aliveP; exists u; rewrite ?size_cat.
by apply/andP; split=> //; apply/aliveP; exists v; rewrite ?size_cat.
Qed.
End Refutations.

(* ---- finite-state models: the invariant and the words speak of the kernels on R^, at every length ---- *)
Section Product.
Variables (R : realFieldType) (V I : finType) (Q N : eqType) (zero : N) (val : N -> R).
Hypotheses (val_inj : injective val) (val0 : val zero = 0%R).
Variables (tokens : seq V) (experts : seq I).
Hypotheses (tokens_all : forall y, y \in tokens) (experts_uniq : uniq experts) (experts_all : forall i, i \in experts).
Variables (start : Q) (lead : Q -> V -> Q) (background : Q -> V -> N) (expert : I -> Q -> V -> N).

Definition state h := foldl lead start h.
Let b : kernel R V := fun h => [ffun y => val (background (state h) y)].
Let p i : kernel R V := fun h => [ffun y => val (expert i (state h) y)].
Hypotheses (b_model : is_model b) (p_model : forall i, is_model (p i)).

Local Notation reached := (reach (comp (@wcancel R V I) b p)).
Local Notation next := (product_next zero tokens experts lead background expert).
Local Notation deviants := (product_deviants tokens experts background expert).
Local Notation level := (level zero tokens experts (fun h => background (state h)) (fun i h => expert i (state h))).
Local Notation Dev_Q := (deviates start next deviants : I -> pred (seq V)).
Local Notation Dev := (Dev b p reached).

Lemma run_level h : run start next h = if h \in level (size h) then Some (state h) else None.
Proof.
elim/last_ind: h => [|h y IH]; first by rewrite inE eqxx.
rewrite /run run_rcons size_rcons (level_rcons zero experts tokens_all) -/(run start next h) IH.
by case: ifP => //= _; rewrite /product_next /state foldl_rcons.
Qed.

Lemma Dev_QE i h : Dev_Q i h = (h \in level (size h)) && dev b p i h.
Proof.
rewrite /deviates run_level; case: ifP => //= _.
exact: (mem_deviating val_inj tokens_all experts_all (fun h => background (state h)) (fun i h => expert i (state h))).
Qed.

Lemma Dev_Q_sub i h : Dev_Q i h -> Dev i h.
Proof.
rewrite Dev_QE /joint.Dev => /andP[hl ->]; rewrite andbT.
exact: (level_reached val_inj val0 tokens_all experts_uniq experts_all b_model p_model).
Qed.

(* where at most one expert deviates, at every length, the words that lead to a state are R^ *)
Lemma Dev_Q_same : (forall T, jf_point T Dev_Q) -> forall i h, Dev i h -> Dev_Q i h.
Proof.
move=> jf i h /andP[r d]; rewrite Dev_QE d andbT.
rewrite (scope_reached (T := (size h).+1) val_inj val0 tokens_all experts_uniq experts_all b_model p_model) // => g gs.
apply/negP => /(undefined_two tokens_all experts_uniq)/(deviatingP val_inj tokens_all experts_uniq experts_all).
case=> k [l [kl dk dl]].
move: gs; rewrite (mem_scope zero tokens experts) => /andP[_ gl]; move/eqP: kl; apply.
by apply: (jf (size g).+1 g) => //; rewrite Dev_QE gl.
Qed.

Theorem invariant_pointwise X : proves_pointwise tokens start next deviants X -> forall T, jf_point T Dev.
Proof.
move=> ok T h hT i j di dj; have jf := proves_pointwise_sound tokens_all ok.
by apply: (jf T h hT); apply: Dev_Q_same.
Qed.

Theorem invariant_interval gone P : proves_interval tokens experts start next deviants gone P -> forall T, jf_int T Dev.
Proof.
have [v0 _] := model_inhabited b_model.
case/and3P => F G one T; have int T' := proves_interval_sound tokens_all experts_all v0 F G one T'.
have pt T' : jf_point T' Dev_Q := theorem_4_2_pointwise v0 (int T').
apply/(theorem_4_2_active _ _ v0) => h i j ai aj.
have sub k : act T (Dev k) h -> act T (Dev_Q k) h by apply: act_monotone => // u; apply: Dev_Q_same.
by move/(theorem_4_2_active _ _ v0): (int T) => /(_ h i j (sub i ai) (sub j aj)).
Qed.

Theorem word_refutes_pointwise i j h T : refutes_pointwise start next deviants i j h -> size h < T -> ~ jf_point T Dev.
Proof.
case/and3P => ij di dj hT jf; case/eqP: ij.
by apply: (jf h hT); apply: Dev_Q_sub.
Qed.

Theorem word_refutes_interval i j h u v T : refutes_interval start next deviants i j h u v ->
  size h + maxn (size u) (size v) < T -> ~ jf_int T Dev.
Proof.
have [v0 _] := model_inhabited b_model.
move=> ok hT jf; apply: (refutes_interval_sound v0 ok hT).
apply/(theorem_4_2_active _ _ v0) => g k l ak al; move/(theorem_4_2_active _ _ v0): jf; apply; [apply: act_monotone ak|apply: act_monotone al] => // w; exact: Dev_Q_sub.
Qed.
End Product.
