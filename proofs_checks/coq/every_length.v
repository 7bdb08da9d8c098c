(* theory.md 7.4: JF-int at every length. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition skills joint automata.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.

Section Extended.
Variables (V I Q : finType) (delta : Q -> V -> Q) (ok : Q -> V -> bool) (q0 : Q) (D : I -> pred Q) (v0 : V).
Local Notation rn h := (run delta q0 h).
Local Notation legal := (legal delta ok).
(* the scope: legal words; Dev_i: those that lead to a state of D_i *)
Definition deviates i : pred (seq V) := fun h => legal q0 h && D i (rn h).

(* "CanReach(D_i) (infinite-horizon)" *)
Definition can_reach i q := [exists q', connect (edge delta ok) q q' && D i q'].
(* "phases pre/act/post per expert: pre -> act on first D_i, act -> post on leaving CanReach(D_i)" *)
Definition phase := option bool.
Definition Pre : phase := None.
Definition Act : phase := Some true.
Definition Post : phase := Some false.
Definition next (f : phase) i q : phase := match f with
  | None => if D i q then Act else Pre
  | Some true => if can_reach i q then Act else Post
  | Some false => Post
  end.
(* extended states *)
Definition extended := (Q * {ffun I -> phase})%type.
Definition xdelta (x : extended) y : extended :=
  (delta x.1 y, [ffun i => next (x.2 i) i (delta x.1 y)]).
Definition xok (x : extended) y := ok x.1 y.
Definition x0 : extended := (q0, [ffun i => next Pre i q0]).
Definition acts (x : extended) i := x.2 i == Act.
Local Notation X_ := (reachable xdelta xok x0).
Local Notation R_ := (reachable delta ok q0).

Lemma can_reachP q i : reflect (exists2 u, legal q u & D i (run delta q u)) (can_reach i q).
Proof.
apply: (iffP existsP) => [[q' /andP[/connect_word[u lu <-] iu]]|[u lu iu]]; first by exists u.
by exists (run delta q u); rewrite (word_path lu).
Qed.

(* "a deviation reachable from h is reached in finitely many (< |R|) steps" *)
Lemma can_reach_small h i : legal q0 h -> can_reach i (rn h) ->
  exists u, [/\ legal (rn h) u, D i (run delta (rn h) u) & size u < #|R_|].
Proof.
move=> lh /can_reachP[u lu iu].
have [|w [lw iw sw]] := @small_model _ V delta ok (rn h) (D i); first by exists u.
exists w; split=> //; apply: leq_trans sw _; apply/subset_leq_card/subsetP => q; rewrite !inE.
by apply: connect_trans; apply: word_path.
Qed.

Definition begun i h := has (fun m => D i (rn (take m h))) (iota 0 (size h).+1).
Lemma begun_rcons i h y : begun i (rcons h y) = begun i h || D i (rn (rcons h y)).
Proof.
rewrite /begun size_rcons -[(size h).+2]addn1 iotaD has_cat; congr (_ || _).
  apply: eq_in_has => m; rewrite mem_iota add0n ltnS => /= ml.
  by rewrite -cats1 takel_cat.
by rewrite has_seq1 add0n -(size_rcons h y) take_size.
Qed.

Lemma run_extended h : legal q0 h -> run xdelta x0 h =
  (rn h, [ffun i => if begun i h then if can_reach i (rn h) then Act else Post else Pre]).
Proof.
elim/last_ind: h => [_|h y IH].
  congr pair; apply/ffunP => i; rewrite !ffunE /next /begun /= orbF; case: ifP => // iq.
  by rewrite ifT //; apply/can_reachP; exists [::].
rewrite -{1}cats1 legal_cat /= andbT => /andP[lh oky]; rewrite run_rcons IH // /xdelta run_rcons.
congr pair; apply/ffunP => i; rewrite !ffunE begun_rcons run_rcons /=.
have now : D i (delta (rn h) y) -> can_reach i (delta (rn h) y) by move=> d; apply/can_reachP; exists [::].
case: (begun i h) => /=; last by rewrite /next; case: ifP => // /now ->.
case: ifP => // /negbT/negP nc; rewrite /next ifF //; apply/negbTE/negP => /can_reachP[u lu iu]; case: nc.
by apply/can_reachP; exists (y :: u) => //=; rewrite oky.
Qed.

Lemma acts_run h i : legal q0 h -> acts (run xdelta x0 h) i = begun i h && can_reach i (rn h).
Proof. by move=> lh; rewrite /acts run_extended // ffunE; case: (begun i h) (can_reach i _) => [] []. Qed.

Lemma xlegal x h : automata.legal xdelta xok x h = legal x.1 h.
Proof. by elim: h x => [|y h IH] x //=; rewrite IH. Qed.

Lemma reached_word x : x \in X_ -> exists2 h, legal q0 h & run xdelta x0 h = x.
Proof. by rewrite inE => /connect_word[h]; rewrite xlegal; exists h. Qed.
Lemma word_reached h : legal q0 h -> run xdelta x0 h \in X_.
Proof. by move=> lh; rewrite inE word_path // xlegal. Qed.

(* "Finite-horizon Act_{i,T}(h) increases with T to the infinite-horizon one" *)
Lemma act_acts T i h : act T (deviates i) h -> legal q0 h /\ acts (run xdelta x0 h) i.
Proof.
case/andP => /aliveP[t _ /andP[lt it]] /startedP[m mh /andP[_ im]].
move: lt it; rewrite legal_cat run_cat => /andP[lh lt] it; split=> //; rewrite acts_run //; apply/andP; split.
  by apply/hasP; exists m; rewrite ?mem_iota.
by apply/can_reachP; exists t.
Qed.

Lemma acts_act T i h : legal q0 h -> acts (run xdelta x0 h) i -> size h + #|R_| <= T -> act T (deviates i) h.
Proof.
move=> lh; rewrite acts_run // => /andP[/hasP[m mh im] /(can_reach_small lh)[u [lu iu su]]] hT.
rewrite mem_iota add0n ltnS /= in mh; apply/andP; split.
  apply/aliveP; exists u; last by rewrite /deviates legal_cat lh lu run_cat.
  by rewrite size_cat -addnS (leq_trans _ hT) // leq_add2l.
apply/startedP; exists m => //; rewrite /deviates im andbT.
by move: lh; rewrite -{1}(cat_take_drop m h) legal_cat => /andP[].
Qed.

(* 7.4: "JF-int for every T iff no reachable extended state has two act" *)
Theorem theorem_7_4 : (forall T, jf_int T deviates) <->
  (forall x, x \in X_ -> forall i j, acts x i -> acts x j -> i = j).
Proof.
split=> [jf x /reached_word[h lh <-] i j ai aj|one T].
  apply: ((theorem_4_2_active _ _ v0).1 (jf (size h + #|R_|)) h); exact: acts_act.
apply/(theorem_4_2_active _ _ v0) => h i j /act_acts[lh ai] /act_acts[_ aj].
exact: one (word_reached lh) _ _ ai aj.
Qed.

(* 7.4: "JF-int is monotone (failure at T persists for T' > T)" *)
Theorem theorem_7_4_monotone T T' : T <= T' -> ~ jf_int T deviates -> ~ jf_int T' deviates.
Proof.
move=> TT nj /(theorem_4_2_active _ _ v0) dis; apply: nj; apply/(theorem_4_2_active _ _ v0) => h i j ai aj.
by apply: (dis h); [move: ai|move: aj]; apply: act_monotone.
Qed.

(* 7.4: "horizon |X| + |R| - 1 decides (X extended states)" *)
Theorem theorem_7_4_horizon : jf_int (#|X_| + #|R_|).-1 deviates -> forall T, jf_int T deviates.
Proof.
move=> jf; apply/theorem_7_4 => x /reached_word[h lh eh] i j ai aj; apply/eqP; apply: contraT => ij.
pose bad (x : extended) := acts x i && acts x j.
have [|u [lu /andP[ui uj] su]] := @small_model _ V xdelta xok x0 bad.
  by exists h; [rewrite xlegal|rewrite eh /bad ai].
rewrite xlegal /= in lu; suff: i = j by move/eqP; rewrite (negPf ij).
have le : size u + #|R_| <= (#|X_| + #|R_|).-1.
  by rewrite -ltnS prednK ?addn_gt0 ?(leq_ltn_trans _ su) // -addSn leq_add2r.
by apply: ((theorem_4_2_active _ _ v0).1 jf u); apply: acts_act.
Qed.
End Extended.

(* ---- connected to kernels: finite-state models (automata.v), edges along supp w or along every token ---- *)
Section Models.
Variables (R : realFieldType) (V I : finType).
Variables (Qb : finType) (delta_b : Qb -> V -> Qb) (start_b : Qb) (row_b : Qb -> dist R V).
Variables (Qe : I -> finType) (delta_e : forall i, Qe i -> V -> Qe i) (start_e : forall i, Qe i).
Variable row_e : forall i, Qe i -> dist R V.
Hypotheses (db : forall q, is_dist (row_b q)) (de : forall i (q : Qe i), is_dist (row_e q)).
Local Notation b := (model_b delta_b start_b row_b).
Local Notation p := (model_e delta_e start_e row_e).
Local Notation delta := (@delta V I Qb delta_b Qe delta_e).
Local Notation start := (start start_b start_e).
Local Notation D := (D row_b row_e).
Local Notation supp := (supp_w row_b row_e).

Section Edges.
Variable ok : state Qb Qe -> V -> bool.
Local Notation legal := (legal delta ok start).
Local Notation X_ := (reachable (xdelta delta ok D) (xok (I := I) ok) (x0 delta ok start D)).
Local Notation R_ := (reachable delta ok start).
(* JF-int at T on the scope of the legal prefixes *)
Definition joint_at T := jf_int T (Dev b p legal).

Lemma joint_atE T : joint_at T <-> jf_int T (deviates delta ok start D).
Proof.
have [v0 _ _] := dist_support (db start_b).
have e i h : Dev b p legal i h = deviates delta ok start D i h by rewrite /Dev /deviates D_dev.
by split=> /(theorem_4_2_active _ _ v0) dis; apply/(theorem_4_2_active _ _ v0) => h i j ai aj;
   apply: (dis h); [move: ai|move: aj|move: ai|move: aj]; apply: act_monotone => // u; rewrite e.
Qed.

Theorem theorem_7_4_models : (forall T, joint_at T) <->
  (forall x, x \in X_ -> forall i j, acts x i -> acts x j -> i = j).
Proof. have [v0 _ _] := dist_support (db start_b); by rewrite -(theorem_7_4 _ _ _ _ v0); split=> jf T; apply/joint_atE. Qed.

Theorem theorem_7_4_models_monotone T T' : T <= T' -> ~ joint_at T -> ~ joint_at T'.
Proof. have [v0 _ _] := dist_support (db start_b); by move=> TT; rewrite !joint_atE; apply: theorem_7_4_monotone. Qed.

Theorem theorem_7_4_models_horizon : joint_at (#|X_| + #|R_|).-1 -> forall T, joint_at T.
Proof. have [v0 _ _] := dist_support (db start_b); by move/joint_atE/(theorem_7_4_horizon v0) => jf T; apply/joint_atE. Qed.
End Edges.

(* along supp w the scope is R^ *)
Variable c : convention.
Theorem theorem_7_4_scope T :
  joint_at (supp c) T <-> jf_int T (Dev b p (Rhat (@weight R V I c) T b p)).
Proof.
have [v0 _ _] := dist_support (db start_b).
have e i h : size h < T -> Dev b p (legal delta (supp c) start) i h = Dev b p (Rhat (@weight R V I c) T b p) i h.
  by move=> hT; rewrite /Dev legal_reach // /Rhat hT.
have a i h : act T (Dev b p (legal delta (supp c) start) i) h = act T (Dev b p (Rhat (@weight R V I c) T b p) i) h.
  rewrite /act; apply/andP/andP => -[/aliveP[t tT dt] /startedP[m mh dm]];
  have hT := leq_ltn_trans (leq_addr (size t) (size h)) _;
  rewrite -size_cat in hT; have mT : size (take m h) < T by rewrite size_takel // (leq_ltn_trans mh) ?hT.
  - by split; [apply/aliveP; exists t; rewrite -?e|apply/startedP; exists m; rewrite -?e].
  - by split; [apply/aliveP; exists t; rewrite ?e|apply/startedP; exists m; rewrite ?e].
by split=> /(theorem_4_2_active _ _ v0) dis; apply/(theorem_4_2_active _ _ v0) => h i j;
   [rewrite -!a|rewrite !a]; apply: dis.
Qed.
End Models.
