(* theory.md Theorem 2.3 (factorized conditionals, step by step) and Lemma 2.3b (EOS against FC).
   blk t is the block of step t (0-based): Some i for M_i, None for M_b; the step that follows h is step size h. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws masks histories.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Blocks.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : nat -> option I).
Local Notation Om := {ffun 'I_T -> V}.
Local Notation kernel := (kernel R V).
Local Notation bl := (fun t : 'I_T => blk t).
Implicit Types (q : kernel) (kap : nat -> seq V -> dist R V) (G : option I -> Om -> R).

(* "h restricted to B(t)", t the step that follows h *)
Definition own (h : seq V) := proj (fun t => blk t == blk (size h)) h.

Lemma own_take (y z : Om) l : (l < T)%N -> (own (take l (word y)) == own (take l (word z))) =
  agree (fun t : 'I_T => (t < l)%N && (blk t == blk l)) y z.
Proof. by move=> lT; rewrite /own !size_word_take ?(ltnW lT) // proj_take // ltnW. Qed.

(* ---- kernels that read their block's history make a law that is a product over blocks ---- *)
Definition factor kap j (y : Om) := \prod_(t : 'I_T | blk t == j) kap t (own (take t (word y))) (y t).

Lemma factor_local kap j : local_to (inb bl j) (factor kap j).
Proof.
move=> y z a; apply: eq_bigr => t /eqP tj; have /agreeP e := a.
rewrite (e t) ?/inb ?tj //; congr (kap t _ _); apply/eqP; rewrite own_take //.
by apply/agreeP => s /andP[_ /eqP ss]; apply: e; rewrite /inb ss tj.
Qed.

Lemma law_prod q kap : (forall h, (size h < T)%N -> reach q h -> q h = kap (size h) (own h)) ->
  forall y : Om, Law q y = \prod_j factor kap j y.
Proof.
move=> oq y; rewrite (law_chain oq) (partition_big (fun t : 'I_T => blk t) xpredT) //=.
by apply: eq_bigr => j _; apply: eq_bigr => t _; rewrite size_word_take // ltnW.
Qed.

(* ---- conversely a law that is a product over blocks has such kernels ---- *)
Lemma tr_local G j l : local_to (inb bl j) (G j) ->
  forall y z : Om, agree (fun t : 'I_T => (t < l)%N && (blk t == j)) y z ->
  tr bl (upto l) G j y = tr bl (upto l) G j z.
Proof.
move=> Gl y z /agreeP a; rewrite /tr.
pose put (x u : Om) : Om := [ffun t : 'I_T => if blk t == j then u t else x t].
rewrite (reindex_onto (put y) (put z)) /= => [|u /agreeP uy]; last first.
  by apply/ffunP => t; rewrite !ffunE; case E: (blk t == j) => //; rewrite uy // E orbT.
apply: eq_big => [u|u _]; last first.
  by apply: Gl; apply/agreeP => t tj; rewrite ffunE; move: tj; rewrite /inb => ->.
apply/andP/agreeP => [[/agreeP uy /eqP eu] t|uz]; last first.
  split; first apply/agreeP => t tA.
    rewrite ffunE; case: ifP => // tj; rewrite (uz t tA).
    by apply/esym/a; move: tA; rewrite tj orbF /upto => ->.
  by apply/eqP/ffunP => t; rewrite !ffunE; case E: (blk t == j) => //; rewrite uz // E orbT.
move=> tA; case tj: (blk t == j); last by rewrite -eu ffunE tj.
have := uy t tA; rewrite ffunE tj => ->; apply: a; move: tA.
by rewrite tj orbF /upto => ->.
Qed.

Lemma tr_next G j l (y : Om) : j != blk l -> tr bl (upto l.+1) G j y = tr bl (upto l) G j y.
Proof.
move=> jl; apply: eq_bigl => u; apply: eq_forallb => t; rewrite /upto ltnS leq_eqVlt.
by case: eqP => //= tl; rewrite tl [blk l == j]eq_sym jl orbT.
Qed.

(* the kernel that a product law must have: its block's mass after one more token, over the mass before *)
Definition block_kernel G (l : nat) (r : seq V) : dist R V :=
  if [pick y : Om | own (take l (word y)) == r] is Some y
  then [ffun v => tr bl (upto l.+1) G (blk l) (upd y l v) / tr bl (upto l) G (blk l) y] else [ffun=> 0].

Lemma block_kernel_ext G H l r : G (blk l) =1 H (blk l) -> block_kernel G l r = block_kernel H l r.
Proof.
by move=> e; rewrite /block_kernel; case: pickP => // y _; apply/ffunP => v; rewrite !ffunE /tr;
   congr (_ / _); apply: eq_bigr => u _; apply: e.
Qed.

Lemma product_kernel q G : is_model q -> (forall j, local_to (inb bl j) (G j)) ->
  (forall y, Law q y = \prod_j G j y) ->
  forall h, (size h < T)%N -> reach q h -> q h = block_kernel G (size h) (own h).
Proof.
move=> mq Gl e h hT rh; have [v0 _] := model_inhabited mq; have [y ey] := word_of v0 (ltnW hT).
have lawE l (z : Om) : law q [::] (take l (word z)) = \prod_j tr bl (upto l) G j z.
  by rewrite -Law_trunc // -marg_trunc //; apply: eq_bigr => u _; apply: e.
rewrite /block_kernel; case: pickP => [z zy|/(_ y)]; last by rewrite ey eqxx.
have {}zy : agree (fun t : 'I_T => (t < size h)%N && (blk t == blk (size h))) z y by rewrite -own_take // ey.
apply/ffunP => v; rewrite ffunE.
have -> : tr bl (upto (size h)) G (blk (size h)) z = tr bl (upto (size h)) G (blk (size h)) y by exact: tr_local.
have -> : tr bl (upto (size h).+1) G (blk (size h)) (upd z (size h) v) =
          tr bl (upto (size h).+1) G (blk (size h)) (upd y (size h) v).
  apply: tr_local => //; apply/agreeP => t /andP[]; rewrite ltnS leq_eqVlt !ffunE.
  by case: eqP => //= _ tl tb; have /agreeP := zy; apply; rewrite tl.
have := law_rcons q [::] h v; rewrite -{1 2}ey -(take_updS y v hT) !lawE.
have := rh; rewrite /reach -{1}ey lawE.
rewrite (bigD1 (blk (size h))) //= mulf_eq0 negb_or => /andP[bn on].
rewrite [X in X = _ -> _](bigD1 (blk (size h))) //= [in X in X = _ -> _](eq_bigr (fun j => tr bl (upto (size h)) G j y)); last first.
  move=> j jb; rewrite tr_next //; apply: tr_local => //; apply/agreeP => t /andP[tl _].
  by rewrite ffunE ltn_eqF.
by rewrite mulrAC => /(mulIf on) ->; rewrite mulrAC mulfV // mul1r.
Qed.
End Blocks.

Section Stepwise.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : nat -> option I).
Variables (b : kernel R V) (p : I -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation bl := (fun t : 'I_T => blk t).
Local Notation Pb := (Law (T := T) b).
Local Notation Pe := (fun i => Law (T := T) (p i)).
Local Notation own := (own blk).
Implicit Types (alpha beta : nat -> seq V -> dist R V).

(* "(B) on Reach(p_b), p_b(.|h) is a function beta_t of h restricted to B(t)" *)
Definition step_B beta := forall h, (size h < T)%N -> reach b h -> b h = beta (size h) (own h).
(* "on Reach(p_i): (I1) for t in M_i, p_i(.|h) is a function of h_{M_i}" *)
Definition step_I1 := forall i, exists alpha, forall h, (size h < T)%N -> reach (p i) h ->
  blk (size h) = Some i -> p i h = alpha (size h) (own h).
(* "(I2) for t not in M_i, p_i(.|h) = beta_t(.|h_{B(t)})" *)
Definition step_I2 beta := forall i h, (size h < T)%N -> reach (p i) h ->
  blk (size h) <> Some i -> p i h = beta (size h) (own h).

Lemma stepwise_FCa beta : step_B beta -> FCa bl Pb.
Proof.
by move=> B; apply: (product_marginals (factor_local beta)); [apply: law_prod|apply: Law_sum1].
Qed.

Lemma stepwise_FCb beta : step_B beta -> step_I1 -> step_I2 beta -> FCb bl Pb Pe.
Proof.
move=> B I1 I2 i y; have [alpha oi] := I1 i.
pose kap t r := if blk t == Some i then alpha t r else beta t r.
have eb := law_prod B; have ei : forall y, Pe i y = \prod_j factor blk kap j y.
  apply: law_prod => h hT rh; rewrite /kap; case: eqP => bi; [exact: oi|exact: I2].
have ek j : j != Some i -> factor blk kap j =1 factor (T := T) blk beta j.
  by move=> ji z; apply: eq_bigr => t /eqP tj; rewrite /kap tj (negPf ji).
exact: (product_replaced (factor_local beta) (factor_local kap) eb ei (Law_sum1 T mb) (Law_sum1 T (mp i)) ek).
Qed.

Lemma FC_stepwise : FCa bl Pb -> FCb bl Pb Pe -> exists beta, [/\ step_B beta, step_I1 & step_I2 beta].
Proof.
move=> a bb; pose G j := marg Pb (inb bl j).
pose Gi i j := if j == Some i then marg (Pe i) (inb bl (Some i)) else G j.
have Gl j : local_to (inb bl j) (G j) by exact: marg_local.
have Gil i j : local_to (inb bl j) (Gi i j) by rewrite /Gi; case: eqP => [->|_]; apply: marg_local.
have ei i y : Pe i y = \prod_j Gi i j y.
  rewrite bb (marg_off a (Law_sum1 T mb)) [RHS](bigD1 (Some i)) //= /Gi eqxx; congr (_ * _).
  by apply: eq_bigr => j /negPf->.
exists (block_kernel (T := T) blk G); split=> [h hT rh|i|i h hT rh bi].
- exact: (product_kernel mb Gl a).
- by exists (block_kernel (T := T) blk (Gi i)) => h hT rh _; apply: (product_kernel (mp i) (Gil i) (ei i)).
rewrite (product_kernel (mp i) (Gil i) (ei i)) //; apply: block_kernel_ext => y.
by rewrite /Gi; case: eqP.
Qed.

(* "Given (c), FC iff (B), (I1), (I2)" *)
Theorem theorem_2_3 : FCc bl Pb Pe ->
  FC bl Pb Pe <-> exists beta, [/\ step_B beta, step_I1 & step_I2 beta].
Proof.
move=> c; split=> [[a bb _]|[beta [B I1 I2]]]; first exact: FC_stepwise.
by split=> //; [apply: stepwise_FCa B|apply: stepwise_FCb I2].
Qed.

(* "If position t+1 lies in another block than t, and some EOS-free h in Reach(p_b), |h| = t-1, has 0 < p_b(EOS|h) < 1 and an
   EOS-free child hy in Reach(p_b) with p_b(EOS|hy) < 1, then FC (a) fails."  EOS is absorbing (0.1). *)
Theorem lemma_2_3b (eos : V) h y : (forall g, eos \in g -> b g eos = 1) ->
  ((size h).+1 < T)%N -> blk (size h).+1 <> blk (size h) ->
  eos \notin h -> reach b h -> 0 < b h eos < 1 ->
  y != eos -> reach b (rcons h y) -> b (rcons h y) eos < 1 ->
  ~ FCa bl Pb.
Proof.
move=> abs hT nb _ rh /andP[e0 _] _ ry lt1 a.
have own1 := product_kernel mb (fun j => @marg_local _ _ _ Pb (inb bl j)) a.
suff e : b (rcons h y) = b (rcons h eos).
  by move: lt1; rewrite e abs ?ltxx // mem_rcons inE eqxx.
have reos : reach b (rcons h eos) by rewrite /reach law_rcons mulf_neq0 // gt_eqF.
rewrite (own1 (rcons h y)) ?(own1 (rcons h eos)) ?size_rcons //.
congr (block_kernel _ _ _ _); rewrite /masks_stepwise.own !size_rcons !proj_rcons.
by case: eqP => // /esym.
Qed.
End Stepwise.
