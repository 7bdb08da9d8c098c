(* theory.md 7.5: factorized conditionals at every length, for models whose state is a function of the prefix. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws histories masks masks_stepwise automata.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* ---- kernels: FC at every length, by pairs of prefixes ---- *)
Section EveryLength.
Variables (R : realFieldType) (V I : finType) (blk : nat -> option I) (b : kernel R V) (p : I -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation own := (own blk).
Definition FC_at T := FC (fun t : 'I_T => blk t) (Law (T := T) b) (fun i => Law (T := T) (p i)).
Definition FCc_at T := FCc (fun t : 'I_T => blk t) (Law (T := T) b) (fun i => Law (T := T) (p i)).

(* reachable prefixes of equal length and equal own-block history have equal kernels, at the steps of A *)
Definition reads_own (q : kernel R V) (A : pred nat) := forall h g, size h = size g -> A (size h) ->
  reach q h -> reach q g -> own h = own g -> q h = q g.
Definition pairs := reads_own b predT /\ forall i, reads_own (p i) (fun t => blk t == Some i).
Definition agrees := forall i h, reach (p i) h -> blk (size h) <> Some i -> p i h = b h.
Definition dominated := forall i h y, reach (p i) h -> p i h y != 0 -> b h y != 0.

Lemma function_of q A : reads_own q A ->
  exists beta : nat -> seq V -> dist R V, forall h, reach q h -> A (size h) -> q h = beta (size h) (own h).
Proof.
move=> ro; exists (fun n r => if [pick g : n.-tuple V | reach q g && (own g == r)] is Some g then q g else [ffun=> 0]).
move=> h rh Ah; case: pickP => [g /andP[rg /eqP og]|/(_ (in_tuple h))]; last by rewrite /= rh eqxx.
by apply: ro; rewrite ?size_tuple.
Qed.

Lemma dominated_reach i h : dominated -> reach (p i) h -> reach b h.
Proof.
move=> dom; elim/last_ind: h => [|h y IH]; first by rewrite !reach0.
by rewrite !reach_rcons => /andP[rh py]; rewrite IH // (dom i).
Qed.

Lemma dominated_c T : dominated -> FCc_at T.
Proof.
move=> dom i y /eqP; rewrite psumr_eq0 => [/allP z0|z _]; last exact: law_ge0.
rewrite /marg big1 // => z az; apply/eqP; apply: contraTT (z0 z (mem_index_enum z)) => pz.
rewrite az /=; exact: dominated_reach pz.
Qed.

Lemma words T (s : T.-tuple V) : exists y : {ffun 'I_T -> V}, word y = s.
Proof.
exists [ffun t => tnth s t]; apply: eq_from_tnth => t.
by rewrite tnth_mktuple ffunE.
Qed.

Lemma c_dominated : pairs -> agrees -> (forall T, FCc_at T) -> dominated.
Proof.
move=> [ob _] ag c i h y rh; suff [_] : reach b h /\ forall y, p i h y != 0 -> b h y != 0 by apply.
have step g : reach (p i) g -> reach b g -> forall y, p i g y != 0 -> b g y != 0.
  move=> rg bg v pv; have [bi|nb] := eqVneq (blk (size g)) (Some i); last first.
    by rewrite -(ag i) //; apply/eqP.
  have sz : size (rcons g v) == (size g).+1 by rewrite size_rcons.
  have [Y eY] := words (Tuple sz); have wY : word Y = rcons g v :> seq V by rewrite eY.
  have mn : marg (Law (p i)) (inb (fun t : 'I_(size g).+1 => blk t) (Some i)) Y != 0.
    rewrite gt_eqF // /marg (bigD1 Y) /=; last exact/agreeP.
    rewrite ltr_spaddl ?sumr_ge0 // => [|z _]; last exact: law_ge0.
    by rewrite lt_def law_ge0 // andbT /Law wY -/(reach _ _) reach_rcons rg.
  have : marg (Law b) (inb (fun t : 'I_(size g).+1 => blk t) (Some i)) Y != 0.
    by apply: contraNneq mn => /(c _ i) ->.
  rewrite /marg => s0; have [z /andP[az bz]] : exists z, agree (inb (fun t : 'I_(size g).+1 => blk t) (Some i)) z Y &&
      (Law b z != 0).
    apply/existsP; apply: contraNT s0; rewrite negb_exists => /forallP none; rewrite big1 // => z az.
    by have := none z; rewrite az negbK => /eqP.
  have [s es] : exists s, tval (word z) = s by exists (word z).
  have := size_tuple (word z); rewrite es; case/lastP: s es => // h' v' ez; rewrite size_rcons => -[sh].
  have := az; rewrite /inb -(proj_word (fun t => blk t == Some i)) wY ez.
  rewrite !proj_rcons sh bi eqxx => /eqP/rcons_inj[eo ev].
  move: bz; rewrite /Law ez -/(reach _ _) reach_rcons => /andP[rh' bv].
  rewrite (ob g h') // -?ev //; by rewrite /masks_stepwise.own sh bi.
elim/last_ind: h {y} rh => [_|h y IH]; first by rewrite !reach0; split=> //; apply: step; rewrite reach0.
move=> rhy; have rb : reach b (rcons h y); last by split=> //; apply: step.
by move: rhy; rewrite !reach_rcons => /andP[/IH[-> s] /s].
Qed.

Lemma pairs_FC T : pairs -> agrees -> dominated -> FC_at T.
Proof.
move=> [ob oi] ag dom; have [beta B] := function_of ob.
have sB : step_B T blk b beta by move=> h _ rh; apply: B.
have sI1 : step_I1 T blk p.
  by move=> i; have [alpha A] := function_of (oi i); exists alpha => h _ rh bi; apply: A => //; apply/eqP.
have sI2 : step_I2 T blk p beta.
  by move=> i h _ rh bi; rewrite (ag i) // B //; apply: dominated_reach rh.
by split; [apply: stepwise_FCa sB|apply: stepwise_FCb sI2|apply: dominated_c].
Qed.

Lemma FC_dominated : (forall T, FC_at T) -> dominated.
Proof.
move=> fc i h y rh py; have [a bb c] := fc (size h).+1.
have sz : size (rcons h y) == (size h).+1 by rewrite size_rcons.
have [Y eY] := words (Tuple sz); have wY : word Y = rcons h y :> seq V by rewrite eY.
have : Law b Y != 0.
  apply: contraTneq (_ : Law (p i) Y != 0) => [z|]; last by rewrite /Law wY -/(reach _ _) reach_rcons rh.
  by rewrite (fc_AC a bb c) ?eqxx //; apply: Law_sum1.
by rewrite /Law wY -/(reach _ _) reach_rcons => /andP[].
Qed.

Lemma FC_pairs : (forall T, FC_at T) -> pairs /\ agrees.
Proof.
move=> fc; have dom := FC_dominated fc.
have st T : exists beta, [/\ step_B T blk b beta, step_I1 T blk p & step_I2 T blk p beta].
  by have [a bb _] := fc T; apply: FC_stepwise.
split; [split=> [h g sg _ rh rg eo|i h g sg /eqP bi rh rg eo]|move=> i h rh bi].
- have [beta [B _ _]] := st (size h).+1.
  by rewrite (B h) ?(B g) -?sg // eo.
- have [_ [_ /(_ i)[alpha A] _]] := st (size h).+1.
  by rewrite (A h) ?(A g) -?sg // eo.
have [beta [B _ I2]] := st (size h).+1; rewrite (I2 i h) // (B h) //.
exact: dominated_reach rh.
Qed.

Lemma FC_iff : (forall T, FC_at T) <-> [/\ pairs, agrees & dominated].
Proof.
split=> [fc|[pa ag dom] T]; last exact: pairs_FC.
by have [pa ag] := FC_pairs fc; split=> //; apply: FC_dominated.
Qed.
Lemma FC_given_c : (forall T, FCc_at T) -> (forall T, FC_at T) <-> pairs /\ agrees.
Proof.
move=> c; split=> [|[pa ag] T]; first exact: FC_pairs.
by apply: pairs_FC => //; apply: c_dominated.
Qed.
Lemma c_iff : pairs -> agrees -> (forall T, FCc_at T) <-> dominated.
Proof. by move=> pa ag; split=> [c|dom T]; [apply: c_dominated|apply: dominated_c]. Qed.
End EveryLength.

(* ---- automata ---- *)
Section Twin.
Variables (R : realFieldType) (V Q C : finType).
(* a model, and a clock with the positions of a block *)
Variables (delta : Q -> V -> Q) (q0 : Q) (row : Q -> dist R V) (tick : C -> C) (c0 : C) (inB : pred C).
Local Notation model := (fun h : seq V => row (run delta q0 h)).
Definition clock n := iter n tick c0.
Local Notation M := (fun n => inB (clock n)).

(* "the twin automaton (two copies, same clock; equal symbols forced at positions of B, independent positive-probability
   symbols elsewhere; a forced symbol must have positive probability in both copies)" *)
Definition twin := (C * (Q * Q))%type.
Definition twin_step (x : twin) (a : V * V) : twin := (tick x.1, (delta x.2.1 a.1, delta x.2.2 a.2)).
Definition twin_ok (x : twin) (a : V * V) :=
  [&& inB x.1 ==> (a.1 == a.2), row x.2.1 a.1 != 0 & row x.2.2 a.2 != 0].
Definition twin_start : twin := (c0, (q0, q0)).
(* "both copies have equal kernels at each reachable twin state whose clock is in B" *)
Definition twin_equal := forall x, x \in reachable twin_step twin_ok twin_start -> inB x.1 -> row x.2.1 = row x.2.2.

Lemma run_twin s : run twin_step twin_start s =
  (clock (size s), (run delta q0 (unzip1 s), run delta q0 (unzip2 s))).
Proof.
elim/last_ind: s => // s a IH.
by rewrite run_rcons IH /unzip1 /unzip2 !map_rcons !run_rcons size_rcons.
Qed.

Lemma legal_rcons (A S : finType) (d : S -> A -> S) ok q (u : seq A) a :
  legal d ok q (rcons u a) = legal d ok q u && ok (run d q u) a.
Proof. by rewrite -cats1 legal_cat /= andbT. Qed.

(* "Twin reachability enumerates exactly the pairs of reachable prefixes of equal length and equal own-block history" *)
Lemma legal_twin s : legal twin_step twin_ok twin_start s =
  [&& reach model (unzip1 s), reach model (unzip2 s) & proj M (unzip1 s) == proj M (unzip2 s)].
Proof.
elim/last_ind: s => [|s a IH]; first by rewrite /= !reach0.
rewrite legal_rcons IH run_twin /unzip1 /unzip2 !map_rcons !reach_rcons !proj_rcons !size_map /twin_ok /=.
case: (reach _ _) => //=; case: (reach _ _) => /=; rewrite ?andbF //.
case: (inB _) => /=; rewrite ?eqseq_rcons.
  by rewrite [_ && (a.1 == a.2)]andbC !andbA; do 4!case: (_ == _) => //=; rewrite ?andbF.
by case: (row _ _ == 0) => /=; rewrite ?andbF // andbC.
Qed.

Lemma twin_equalP : twin_equal <-> forall h g, size h = size g -> inB (clock (size h)) ->
  reach model h -> reach model g -> proj M h = proj M g -> model h = model g.
Proof.
split=> [eq h g sz Bh rh rg eo|eq x].
  have u1 : unzip1 (zip h g) = h by rewrite unzip1_zip ?sz.
  have u2 : unzip2 (zip h g) = g by rewrite unzip2_zip ?sz.
  have := eq (run twin_step twin_start (zip h g)); rewrite run_twin u1 u2 /=.
  rewrite size_zip sz minnn -sz; apply=> //; rewrite -{2}u1 -{2}u2 -[size h](_ : size (zip h g) = _).
    by rewrite -run_twin inE word_path // legal_twin u1 u2 rh rg eo eqxx.
  by rewrite size_zip sz minnn.
rewrite inE => /connect_word[s]; rewrite legal_twin => /and3P[r1 r2 /eqP eo] <-; rewrite run_twin /= => Bs.
by apply: eq => //; rewrite ?size_map.
Qed.
End Twin.

Section Models.
Variables (R : realFieldType) (V I : finType).
Variables (Qb : finType) (delta_b : Qb -> V -> Qb) (start_b : Qb) (row_b : Qb -> dist R V).
Variables (Qe : I -> finType) (delta_e : forall i, Qe i -> V -> Qe i) (start_e : forall i, Qe i).
Variable row_e : forall i, Qe i -> dist R V.
Hypotheses (db : forall q, is_dist (row_b q)) (de : forall i (q : Qe i), is_dist (row_e q)).
(* "Masks given by an eventually periodic word (clock automaton)" *)
Variables (C : finType) (tick : C -> C) (c0 : C) (block : C -> option I).
Local Notation blk := (fun n => block (clock tick c0 n)).
Local Notation b := (model_b delta_b start_b row_b).
Local Notation p := (model_e delta_e start_e row_e).
Let mb : is_model b. Proof. exact: model_b_model. Qed.
Let mp i : is_model (p i). Proof. exact: model_e_model. Qed.

(* "(i) for p_b and every block B, and for p_i and M_i" *)
Definition condition_i :=
  (forall j, twin_equal delta_b start_b row_b tick c0 (fun c => block c == j)) /\
  (forall i, twin_equal (@delta_e i) (start_e i) (@row_e i) tick c0 (fun c => block c == Some i)).

(* "the product of p_i and p_b along supp p_i" *)
Definition both i := (C * (Qe i * Qb))%type.
Definition both_step i (x : both i) y : both i := (tick x.1, (delta_e x.2.1 y, delta_b x.2.2 y)).
Definition both_ok i (x : both i) y := row_e x.2.1 y != 0.
Definition both_start i : both i := (c0, (start_e i, start_b)).
Local Notation reached i := (reachable (@both_step i) (@both_ok i) (both_start i)).
(* "(ii) ... kernels agree at clocks outside M_i" *)
Definition condition_ii := forall i x, x \in reached i -> block x.1 <> Some i -> row_e x.2.1 = row_b x.2.2.
(* "supp p_i within supp p_b at every reachable state of the product in (ii)" *)
Definition condition_support := forall i x, x \in reached i -> forall y, row_e x.2.1 y != 0 -> row_b x.2.2 y != 0.

Lemma run_both i h : run (@both_step i) (both_start i) h =
  (clock tick c0 (size h), (run (@delta_e i) (start_e i) h, run delta_b start_b h)).
Proof. by elim/last_ind: h => // h y IH; rewrite run_rcons IH !run_rcons size_rcons. Qed.
Lemma legal_both i h : legal (@both_step i) (@both_ok i) (both_start i) h = reach (p i) h.
Proof.
elim/last_ind: h => [|h y IH]; first by rewrite reach0.
by rewrite legal_rcons reach_rcons IH run_both.
Qed.
Lemma reached_both i (P : both i -> Prop) : (forall x, x \in reached i -> P x) <->
  (forall h, reach (p i) h -> P (clock tick c0 (size h), (run (@delta_e i) (start_e i) h, run delta_b start_b h))).
Proof.
split=> [H h rh|H x]; first by rewrite -run_both; apply: H; rewrite inE word_path // legal_both.
by rewrite inE => /connect_word[h]; rewrite legal_both => rh <-; rewrite run_both; apply: H.
Qed.

Lemma condition_iE : condition_i <-> pairs blk b p.
Proof.
split=> -[ob oi]; split.
- move=> h g sz _ rh rg eo; have /twin_equalP H := ob (blk (size h)); apply: (H h g) => //.
  by move: eo; rewrite /own -sz.
- move=> i h g sz bi rh rg eo; have /twin_equalP H := oi i; apply: (H h g) => //.
  by move: eo; rewrite /own -sz (eqP bi).
- move=> j; apply/twin_equalP => h g sz /eqP bj rh rg eo; apply: (ob h g) => //.
  by rewrite /own -sz bj.
move=> i; apply/twin_equalP => h g sz bi rh rg eo; apply: (oi i h g) => //.
by rewrite /own -sz (eqP bi).
Qed.
Lemma condition_iiE : condition_ii <-> agrees blk b p.
Proof.
split=> H i; last by apply/(@reached_both i (fun x => block x.1 <> Some i -> row_e x.2.1 = row_b x.2.2)) => h; apply: H.
by move=> h; move: h; apply/(@reached_both i (fun x => block x.1 <> Some i -> row_e x.2.1 = row_b x.2.2)); apply: H.
Qed.
Lemma condition_supportE : condition_support <-> dominated b p.
Proof.
split=> H i; last first.
  by apply/(@reached_both i (fun x => forall y, row_e x.2.1 y != 0 -> row_b x.2.2 y != 0)) => h rh y; apply: (H i).
move=> h y rh; move: h rh y.
by apply/(@reached_both i (fun x => forall y, row_e x.2.1 y != 0 -> row_b x.2.2 y != 0)); apply: H.
Qed.

(* Theorem 7.5: "FC for all T iff (i) ... (ii) ...", (c) being given as in 2.3 *)
Theorem theorem_7_5 : (forall T, FCc_at blk b p T) -> (forall T, FC_at blk b p T) <-> condition_i /\ condition_ii.
Proof. by move=> c; rewrite condition_iE condition_iiE; apply: FC_given_c. Qed.

(* 7.5: "Given (i) and (ii), (c) holds iff supp p_i is within supp p_b at every reachable state of the product in (ii)" *)
Theorem theorem_7_5_support : condition_i -> condition_ii -> (forall T, FCc_at blk b p T) <-> condition_support.
Proof. by rewrite condition_iE condition_iiE condition_supportE; apply: c_iff. Qed.

(* 7.5, decided: nothing is given *)
Theorem theorem_7_5_decided : (forall T, FC_at blk b p T) <-> [/\ condition_i, condition_ii & condition_support].
Proof.
rewrite FC_iff //; split=> -[a1 a2 a3].
  by split; [apply/condition_iE|apply/condition_iiE|apply/condition_supportE].
by split; [apply/condition_iE|apply/condition_iiE|apply/condition_supportE].
Qed.
End Models.
