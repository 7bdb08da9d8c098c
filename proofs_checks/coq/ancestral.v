(* theory.md 2.6a (mask agreement), Theorem 2.6b (conditional projectivity), Corollary 2.7 (ancestral projectivity).
   blk t is the block of step t (0-based): Some i for M_i, None for M_b; the step that follows h is step size h. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition exactness marginals laws histories.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* "On an ancestrally closed set the marginal is the product of its kernels": two models whose kernels coincide there have
   the same marginal there *)
Section Closed.
Variables (R : realFieldType) (V : finType) (M : pred nat).
Local Notation kernel := (kernel R V).

Definition Esum (p : kernel) h n (F : seq V -> R) := \sum_(t : n.-tuple V) law p h t * F (h ++ t).

Lemma EsumS (p : kernel) h n F : Esum p h n.+1 F = \sum_y p h y * Esum p (rcons h y) n F.
Proof.
rewrite /Esum (big_tuple_cons _ (fun t => law p h t * F (h ++ t))) /=.
apply: eq_bigr => y _; rewrite mulr_sumr; apply: eq_bigr => t _.
by rewrite mulrA cat_rcons.
Qed.

(* at steps of M the two models have the same kernel, which reads the history on M only *)
Variables (p q : kernel) (T : nat).
Hypothesis same : forall h g, (size h < T)%N -> size h = size g -> reach p h -> reach q g -> M (size h) ->
  proj M h = proj M g -> p h = q g.

Lemma ancestral_gen n h g (F : seq V -> R) : model_from p [::] T -> model_from q [::] T ->
  (size h + n = T)%N -> size h = size g -> reach p h -> reach q g -> proj M h = proj M g ->
  Esum p h n (fun t => F (proj M t)) = Esum q g n (fun t => F (proj M t)).
Proof.
move=> mp mq; elim: n h g => [|n IH] h g hT hg rh rg e.
  rewrite /Esum !(big_pred1 [tuple]) ?cats0 /= ?e // => t /=; apply/esym/eqP; exact: tuple0.
have hlt : (size h < T)%N by rewrite -hT -addSnnS leq_addr.
have glt : (size g < T)%N by rewrite -hg.
have [p0 p1] : is_dist (p h) by apply: (mp h).
have [q0 q1] : is_dist (q g) by apply: (mq g).
have rr (r : kernel) k y : reach r k -> r k y != 0 -> reach r (rcons k y).
  by move=> rk ry; rewrite /reach law_rcons mulf_neq0.
rewrite !EsumS; have [Mh|nM] := boolP (M (size h)).
  have ek : p h = q g by exact: same.
  apply: eq_bigr => y _; have [z|nz] := eqVneq (p h y) 0; first by rewrite -ek z !mul0r.
  have ny : q g y != 0 by rewrite -ek.
  rewrite -ek; congr (_ * _); apply: IH; [by rewrite size_rcons addSnnS|by rewrite !size_rcons hg| | |].
  - exact: rr.
  - exact: rr.
  - by rewrite !proj_rcons -hg Mh e.
have [y1 ny1] : exists y, q g y != 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP a.
  by move: q1; rewrite big1 => [/eqP|y _]; [rewrite eq_sym oner_eq0|have := a y; rewrite negbK => /eqP].
have [y2 ny2] : exists y, p h y != 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP a.
  by move: p1; rewrite big1 => [/eqP|y _]; [rewrite eq_sym oner_eq0|have := a y; rewrite negbK => /eqP].
have step y z : p h y != 0 -> q g z != 0 ->
    Esum p (rcons h y) n (fun t => F (proj M t)) = Esum q (rcons g z) n (fun t => F (proj M t)).
  move=> py qz; apply: IH; [by rewrite size_rcons addSnnS|by rewrite !size_rcons hg|exact: rr|exact: rr|].
  by rewrite !proj_rcons -hg (negPf nM).
set C := Esum p (rcons h y2) n (fun t => F (proj M t)).
transitivity C.
  rewrite -[RHS]mul1r -p1 mulr_suml; apply: eq_bigr => y _.
  have [->|ny] := eqVneq (p h y) 0; first by rewrite !mul0r.
  by rewrite (step y y1 ny ny1) /C (step y2 y1).
rewrite -[LHS]mul1r -q1 mulr_suml; apply: eq_bigr => y _.
have [->|ny] := eqVneq (q g y) 0; first by rewrite !mul0r.
by rewrite /C (step y2 y).
Qed.

Lemma closed_marginal (y : {ffun 'I_T -> V}) : model_from p [::] T -> model_from q [::] T ->
  marg (Law p) (fun t : 'I_T => M t) y = marg (Law q) (fun t : 'I_T => M t) y.
Proof.
move=> mp mq; have E r : marg (Law r) (fun t : 'I_T => M t) y = Esum r [::] T (fun s => (proj M s == proj M (word y))%:R).
  rewrite /Esum (eq_bigr (fun t : T.-tuple V => if proj M t == proj M (word y) then law r [::] t else 0)) => [|t _].
    by rewrite -big_mkcond (sum_word T (law r [::]) (fun t => proj M t == proj M (word y))); apply: eq_bigl => z; rewrite proj_word.
  by case: (_ == _); rewrite ?mulr1 ?mulr0.
rewrite !E; apply: (@ancestral_gen T [::] [::] (fun u => (u == proj M (word y))%:R)) => //; by rewrite /reach oner_neq0.
Qed.
End Closed.

Section Masks.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : nat -> option I).
Local Notation kernel := (kernel R V).
Local Notation Om := {ffun 'I_T -> V}.
Variables (b : kernel) (p : I -> kernel).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Variable cv : convention.
Local Notation w := (@weight R V I cv).
Local Notation c := (comp w b p).

(* the scope R, which contains R^ *)
Variable S : pred (seq V).
Hypothesis R_sub' : forall h, Rhat w T b p h -> S h.
(* 2.6a: "p_i(.|h) = p_b(.|h) for all h in R with next step t not in M_i" *)
Definition MA := forall h i, (size h < T)%N -> S h -> blk (size h) <> Some i -> p i h = b h.
(* "AC or cancel" *)
Definition AC_or_cancel := forall h, (size h < T)%N -> S h -> faithful cv (b h) (fun i => p i h).
Hypotheses (ma : MA) (ac : AC_or_cancel).

Lemma R_sub h : (size h < T)%N -> reach c h -> S h.
Proof. by move=> hT rh; apply: R_sub'; rewrite /Rhat hT. Qed.

(* p_{B(t)}, with p_0 = p_b *)
Definition assigned h := if blk (size h) is Some i then p i h else b h.

Lemma ma_step h : (size h < T)%N -> S h -> c h = assigned h /\ Zk w b p h = 1.
Proof.
move=> hT Sh; have one i j : dev b p i h -> dev b p j h -> i = j.
  rewrite /dev => /eqP di /eqP dj; apply/eqP; apply: contraT => ij.
  have [ib|ib] := eqVneq (blk (size h)) (Some i); last by case: di; apply: ma => //; apply/eqP.
  by case: dj; apply: ma => //; rewrite ib => -[e]; rewrite e eqxx in ij.
have f := ac hT Sh; split; last exact: Z_one.
rewrite comp_switched // /switch /assign /assigned; case: pickP => [i di|nd].
  suff -> : blk (size h) = Some i by [].
  by apply/eqP; apply: contraT => /eqP ni; move: di; rewrite /dev (ma hT Sh ni) eqxx.
by case: blk => // i; apply/esym/eqP; have := nd i; rewrite /dev => /negbFE.
Qed.

Lemma ma_model : model_from c [::] T.
Proof.
move=> t tT rt; have [-> _] : c t = assigned t /\ Zk w b p t = 1 by apply: ma_step => //; apply: R_sub.
by rewrite /assigned; case: blk => [i|]; [apply: mp|apply: mb].
Qed.

(* "Under MA (and AC or cancel): p^(.|h) = p_i(.|h) for t in M_i, = p_b(.|h) for t in M_b; Z = 1; P_L = P_G" *)
Theorem theorem_2_6b :
  (forall h, (size h < T)%N -> S h ->
     [/\ forall i, blk (size h) = Some i -> c h = p i h, blk (size h) = None -> c h = b h & Zk w b p h = 1]) /\
  (forall y : T.-tuple V, PG w b p T y = law c [::] y).
Proof.
split=> [h hT Sh|y].
  by have [-> ->] := ma_step hT Sh; split=> // [i|] e; rewrite /assigned e.
have Z1 h : Rhat w T b p h -> Zk w b p h = 1.
  by move=> rh; have /andP[hT _] := rh; case: (ma_step hT (R_sub' rh)).
rewrite /PG -(law_W Z1) ?size_tuple // (_ : ZG w b p T = 1) ?divr1 //.
by rewrite /ZG -(law_sum1_from ma_model); apply: eq_bigr => z _; rewrite (law_W Z1) ?size_tuple.
Qed.

(* "own-history experts (An(M_i) = M_i) are projective whatever p_b does elsewhere" *)
Corollary corollary_2_7_own i (kap : nat -> seq V -> dist R V) :
  (forall h, (size h < T)%N -> reach (p i) h -> S h) ->
  (forall h, (size h < T)%N -> S h -> blk (size h) = Some i ->
     p i h = kap (size h) (proj (fun t => blk t == Some i) h)) ->
  forall y : Om, marg (Law c) (fun t : 'I_T => blk t == Some i) y = marg (Law (p i)) (fun t : 'I_T => blk t == Some i) y.
Proof.
move=> Ri own y; apply: (closed_marginal (M := fun t => blk t == Some i)) => [h g hT hg rh rg /eqP bi e||].
- have gT : (size g < T)%N by rewrite -hg.
  have [-> _] := ma_step hT (R_sub hT rh); rewrite /assigned bi own //; last exact: R_sub.
  by rewrite (own g gT (Ri _ gT rg)) -?hg // e.
- exact: ma_model.
exact: is_model_from.
Qed.

(* ---- parents ---- *)
(* "let par(t) be a set of positions such that on R the kernel of p_{B(t)} at step t is a function of h_{par(t)}" (of those
   earlier than t, h having no others) *)
Variables (par : nat -> pred nat) (kap : nat -> seq V -> dist R V).
Hypothesis reads : forall h, (size h < T)%N -> S h -> assigned h = kap (size h) (proj (par (size h)) h).

(* "Let An(M) be the closure of M under par" *)
Definition An (M : pred nat) (t : 'I_T) := [exists u : 'I_T, M u && connect (fun x y : 'I_T => par x y) u t].
Definition block j : pred nat := fun t => blk t == j.

Lemma An_self (M : pred nat) (t : 'I_T) : M t -> An M t.
Proof. by move=> Mt; apply/existsP; exists t; rewrite Mt connect0. Qed.

Lemma An_par (M : pred nat) (t s : 'I_T) : An M t -> par t s -> An M s.
Proof.
case/existsP => u /andP[Mu ut] ts; apply/existsP; exists u; rewrite Mu /=.
exact: connect_trans ut (connect1 ts).
Qed.

Lemma reads_closed (A : pred nat) h g : (size h < T)%N -> size h = size g -> S h -> S g -> A (size h) ->
  (forall t s : 'I_T, A t -> par t s -> A s) -> proj A h = proj A g -> assigned h = assigned g.
Proof.
move=> hT hg Sh Sg Ah clA e; rewrite !reads -?hg //; congr (kap _ _).
apply: (proj_sub (M := A)) => // s sh ps.
exact: (clA (Ordinal hT) (Ordinal (ltn_trans sh hT))).
Qed.

(* "If An(M_i) ∩ M_j = ∅ for all j != i, j >= 1, then P^ and P_i agree on An(M_i)" *)
Theorem corollary_2_7 i : (forall h, (size h < T)%N -> reach (p i) h -> S h) ->
  (forall (t : 'I_T) j, An (block (Some i)) t -> blk t = Some j -> j = i) ->
  forall y : Om, marg (Law c) (An (block (Some i))) y = marg (Law (p i)) (An (block (Some i))) y.
Proof.
move=> Ri dis y; pose A n := [exists t : 'I_T, (t == n :> nat) && An (block (Some i)) t].
have AE (t : 'I_T) : A t = An (block (Some i)) t.
  apply/existsP/idP => [[s /andP[/eqP/val_inj-> //]]|At]; by exists t; rewrite eqxx.
have mE q : marg (Law q) (An (block (Some i))) y = marg (Law q) (fun t : 'I_T => A t) y.
  by apply: eq_bigl => z; apply: eq_forallb => t; rewrite AE.
rewrite !mE; apply: (closed_marginal (M := A)) => [h g hT hg rh rg Ah e||]; last exact: is_model_from.
  have gT : (size g < T)%N by rewrite -hg.
  have [-> _] := ma_step hT (R_sub hT rh).
  have -> : p i g = assigned g.
    rewrite /assigned -hg; case E: (blk (size h)) => [j|].
      by rewrite (dis (Ordinal hT) j) // -AE.
    by apply: ma => //; [apply: Ri|rewrite -hg E].
  apply: (reads_closed (A := A)) => //; [exact: R_sub|exact: Ri|].
  by move=> t s; rewrite !AE; apply: An_par.
exact: ma_model.
Qed.

(* "If An(M_b) ⊂ M_b and R ⊇ Reach(p_b) too, P^ = P_b on M_b" *)
Theorem corollary_2_7_background : (forall h, (size h < T)%N -> reach b h -> S h) ->
  (forall t : 'I_T, An (block None) t -> blk t = None) ->
  forall y : Om, marg (Law c) (fun t : 'I_T => blk t == None) y = marg (Law b) (fun t : 'I_T => blk t == None) y.
Proof.
move=> Rb cl y; apply: (closed_marginal (M := block None)) => [h g hT hg rh rg bh e||]; last exact: is_model_from.
  have [-> _] := ma_step hT (R_sub hT rh).
  have -> : b g = assigned g by rewrite /assigned -hg (eqP bh).
  apply: (reads_closed (A := block None)) => //; [exact: R_sub|by apply: Rb => //; rewrite -hg|].
  by move=> t s bt ts; apply/eqP/cl/(An_par _ ts)/An_self.
exact: ma_model.
Qed.

(* "If both hold (all i), the M_i are conditionally independent given M_b under P^" *)
Theorem corollary_2_7_independence :
  (forall (t : 'I_T) i j, An (block (Some i)) t -> blk t = Some j -> j = i) ->
  (forall t : 'I_T, An (block None) t -> blk t = None) ->
  let PMb := marg (Law c) (fun t : 'I_T => blk t == None) in
  let PMbi i := marg (Law c) (fun t : 'I_T => (blk t == None) || (blk t == Some i)) in
  forall y : Om, PMb y != 0 -> Law c y / PMb y = \prod_i (PMbi i y / PMb y).
Proof.
move=> dis cl PMb PMbi y.
pose K h := kap (size h) (proj (par (size h)) h).
have cK h : (size h < T)%N -> reach c h -> c h = K h.
  by move=> hT rh; have [-> _] := ma_step hT (R_sub hT rh); rewrite reads //; apply: R_sub.
pose F j (z : Om) := \prod_(t : 'I_T | blk t == j) K (take t (word z)) (z t).
have Fl j : local_to (fun t : 'I_T => (blk t == None) || (blk t == j)) (F j).
  move=> z u /agreeP a; apply: eq_bigr => t /eqP tj; rewrite (a t) ?tj ?eqxx ?orbT // /K !size_word_take ?(ltnW (ltn_ord t)) //.
  congr (kap t _ _); apply/eqP; rewrite proj_take 1?ltnW //; apply/agreeP => s /andP[_ ps]; apply: a.
  have As : An (block j) s by apply: An_par ps; apply: An_self; rewrite /block tj.
  case: j tj As => [i|] tj As; last by rewrite (cl s As).
  by case E: (blk s) => [k|] //=; rewrite (dis s i k As E) eqxx.
pose glue (z : Om) : Om := [ffun t : 'I_T => if blk t == None then y t else z t].
pose G j z := F j (glue z).
have Gl j : local_to (inb (fun t : 'I_T => blk t) j) (G j).
  move=> z u /agreeP a; apply: Fl; apply/agreeP => t; rewrite !ffunE; case: (blk t == None) => //= tj.
  exact: a.
pose m := mass (fun t : 'I_T => blk t) y G; pose N := F None y.
have LE z : agree (fun t : 'I_T => blk t == None) z y -> Law c z = N * \prod_i G (Some i) z.
  move=> a; have gz : glue z = z.
    by apply/ffunP => t; rewrite ffunE; case: ifP => // bt; have /agreeP -> := a.
  rewrite (law_chain cK) (partition_big (fun t : 'I_T => blk t) xpredT) //= big_option; congr (_ * _).
    by apply: Fl; apply/agreeP => t; rewrite orbb => bt; have /agreeP := a; apply.
  by apply: eq_bigr => i _; rewrite /G gz.
have eb : PMb y = N * \prod_i m (Some i).
  rewrite /PMb /marg (eq_bigr _ LE) -mulr_sumr; congr (_ * _).
  rewrite -prod_Some -(fubini y (predC1 None) Gl); apply: eq_big => [z|z _]; last by rewrite prod_Some.
  by apply: eq_forallb => t; rewrite /= negbK.
have ei i : PMbi i y = N * (G (Some i) y * \prod_(j | j != i) m (Some j)).
  have LE' z : agree (fun t : 'I_T => (blk t == None) || (blk t == Some i)) z y ->
      Law c z = N * (G (Some i) y * \prod_(j | j != i) G (Some j) z).
    move=> /agreeP a; rewrite LE; last by apply/agreeP => t bt; apply: a; rewrite bt.
    rewrite (bigD1 i) //=; congr (_ * (_ * _)); apply: Gl; apply/agreeP => t bt; apply: a.
    by move: bt; rewrite /inb => ->; rewrite orbT.
  rewrite /PMbi /marg (eq_bigr _ LE') -!mulr_sumr; congr (_ * (_ * _)).
  pose A j := (j != None) && (j != Some i).
  have AE (f : option I -> R) : \prod_(j | A j) f j = \prod_(j | j != i) f (Some j).
    by rewrite big_mkcond big_option /A /= mul1r [RHS]big_mkcond; apply: eq_bigr => j _.
  rewrite -AE -(fubini y A Gl); apply: eq_big => [z|z _]; last by rewrite AE.
  by apply: eq_forallb => t; rewrite /A negb_and !negbK.
rewrite eb mulf_eq0 negb_or => /andP[Nn /prodf_neq0 mn].
have ayy : agree (fun t : 'I_T => blk t == None) y y by apply/agreeP.
have pn : \prod_i m (Some i) != 0 by apply/prodf_neq0.
rewrite (LE y ayy) -mulf_div divff // mul1r -prodfV -big_split /=; apply: eq_bigr => i _.
rewrite ei -mulf_div divff // mul1r [X in _ = _ / X](bigD1 i) //= -mulf_div divff ?mulr1 //.
by apply/prodf_neq0 => j _; apply: mn.
Qed.
End Masks.
