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
  have := size_tuple (word z); rewrite es; case/lastP: s es => // h' v' ez; rewrite size_rcons => -[sh]; have := az; rewrite /inb -(proj_word (fun t => blk t == Some i)) wY ez.
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
