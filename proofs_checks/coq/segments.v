(* theory.md 4.5: from an entry prefix on, two models whose kernels agree inside an interval of stopping times have the same
   segment law.  P(.|g) is the run of the kernels from g, so P_i(g) may vanish. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting skills.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Runs.
Variables (R : realFieldType) (V : finType).
Local Notation kernel := (kernel R V).
Implicit Types (p q : kernel) (g s : seq V).

Lemma sum_through T g (F : seq V -> R) : (size g <= T)%N ->
  \sum_(y : T.-tuple V | take (size g) y == g) F (drop (size g) y) = \sum_(t : (T - size g).-tuple V) F t.
Proof.
elim: g T F => [|x g IH] T F gT.
  case: T gT => [|T] _; apply: eq_big => t; rewrite ?take0 ?drop0 ?eqxx //.
case: T gT => // T gT; rewrite big_mkcond /=.
rewrite (big_tuple_cons _ (fun y => if take (size g).+1 y == x :: g then F (drop (size g).+1 y) else 0)) /=.
rewrite (bigD1 x) //= [X in _ + X]big1 ?addr0 => [|z zx]; last first.
  by rewrite big1 // => t _; rewrite eqseq_cons (negPf zx).
by rewrite subSS -IH // [RHS]big_mkcond; apply: eq_bigr => t _; rewrite eqseq_cons eqxx.
Qed.

Variable T : nat.
Local Notation path := (T.-tuple V).

Definition Pr p (E : pred path) := \sum_(y | E y) law p [::] y.
Definition through g : pred path := fun y => take (size g) y == g.
(* P(E|g): the kernels are run from g on *)
Definition cond p g (E : pred path) := \sum_(y | through g y && E y) law p g (drop (size g) y).

Lemma through_cat g s y : through (g ++ s) y -> through g y.
Proof.
rewrite /through => /eqP e; rewrite -(take_take (leq_addr (size s) (size g))) -size_cat e take_size_cat //.
Qed.

(* P(E, through g) = P(g) P(E|g) *)
Lemma Pr_cond p g E : Pr p (fun y => through g y && E y) = law p [::] g * cond p g E.
Proof.
rewrite /Pr /cond mulr_sumr; apply: eq_bigr => y /andP[/eqP e _].
by rewrite -{1}[tval y](cat_take_drop (size g)) law_cat e.
Qed.

Lemma cond_ge0 p g E : (forall h y, 0 <= p h y) -> 0 <= cond p g E.
Proof.
move=> p0; apply: sumr_ge0 => y _; move: (drop (size g) y) => s.
by elim: s (g) => [|v s IH] h /=; rewrite ?ler01 ?mulr_ge0.
Qed.

Lemma cond_through p g s : (size (g ++ s) <= T)%N -> model_from p g (T - size g) ->
  cond p g (through (g ++ s)) = law p g s.
Proof.
rewrite size_cat => gsT mp; have gT := leq_trans (leq_addr _ _) gsT.
have sT : (size s <= T - size g)%N by rewrite leq_subRL.
rewrite -(cylinder mp sT) big_mkcond /= -(sum_through (fun t => if take (size s) t == s then law p g t else 0) gT).
rewrite /cond big_mkcond [RHS]big_mkcond; apply: eq_bigr => y _; rewrite /through.
have [e|//] := eqVneq (take (size g) y) g; by rewrite size_cat takeD e eqseq_cat // eqxx.
Qed.

Lemma cond_total p g : (size g <= T)%N -> model_from p g (T - size g) -> cond p g predT = 1.
Proof.
move=> gT mp; have := cond_through (s := [::]) _ mp; rewrite cats0 /= => <- //.
by rewrite /cond; apply: eq_bigl => y; rewrite andbT andbb.
Qed.

Lemma model_from_cat p g n m : reach p g -> (size g + m <= n)%N -> model_from p [::] n -> model_from p g m.
Proof.
move=> rg gm mp t tm nz; apply: (mp (g ++ t)).
  by rewrite size_cat (leq_trans _ gm) // ltn_add2l.
by rewrite law_cat mulf_neq0.
Qed.
End Runs.

Section Segment.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation kernel := (kernel R V).
Local Notation path := (T.-tuple V).
Implicit Types (y z : path) (g s : seq V).

Variables t1 t2 : path -> nat.
Hypotheses (st1 : stopping t1) (st2 : stopping t2) (t12 : forall y, (t1 y <= t2 y)%N).

(* entry prefix g, then segment s: {y_{<=sigma_1} = g, sigma_2 = |gs|, y_{sigma_1+1:sigma_2} = s} *)
Definition segev g s : pred path := fun y =>
  [&& t1 y == size g, t2 y == size (g ++ s) & through (g ++ s) y].

Lemma segev_through g s y0 : segev g s y0 -> segev g s =1 through (g ++ s).
Proof.
case/and3P => /eqP e1 /eqP e2 e3 y; rewrite /segev; apply/and3P/idP => [[]//|e].
have ee : pre (size (g ++ s)) y0 = pre (size (g ++ s)) y by rewrite /pre (eqP e3) (eqP e).
rewrite (stopping_keep st1 ee) ?e1 ?(stopping_keep st2 ee) ?e2 //.
by rewrite size_cat leq_addr.
Qed.

Variables p q : kernel.                                     (* P^ and P_i *)
Hypotheses (mp : model_from p [::] T) (mq : is_model q).
(* "p^(.|h) = p_i(.|h) for every h in R^, sigma_1 <= |h| < sigma_2" *)
Hypothesis agree : forall y l, (t1 y <= l < t2 y)%N -> reach p (pre l y) -> p (pre l y) = q (pre l y).

(* 4.5: "for each entry prefix g (P^(g) > 0, ... kernels extended) the law of (sigma_2, y_{sigma_1+1:sigma_2}) given g is the
   same under P^ and P_i" *)
Theorem theorem_4_5 g s : reach p g -> cond p g (segev g s) = cond q g (segev g s).
Proof.
move=> rg; case: (pickP (segev g s)) => [y0 E0|E0]; last first.
  by rewrite /cond !big_pred0 // => y; rewrite E0 andbF.
have /and3P[/eqP e1 /eqP e2 /eqP e3] := E0.
have hT : (size (g ++ s) <= T)%N by rewrite -e2 st2.1.
have gT : (size g <= T)%N by rewrite -e1 st1.1.
have cyl (r : kernel) : cond r g (segev g s) = cond (T := T) r g (through (g ++ s)).
  by rewrite /cond; apply: eq_bigl => y; rewrite (segev_through E0).
have mpg : model_from p g (T - size g) by apply: model_from_cat mp => //; rewrite subnKC.
have mqg : model_from q g (T - size g) by apply: is_model_from.
rewrite !cyl !cond_through //.
apply: law_eq_from => t y u es lt.
have le : (size (g ++ t) <= size (g ++ s))%N by rewrite es !size_cat leq_add2l leq_addr.
have et : pre (size (g ++ t)) y0 = g ++ t by rewrite (pre_pre _ le) /pre e3 es catA take_size_cat.
have := agree (y := y0) (l := size (g ++ t)); rewrite et e1 e2; apply; last by rewrite /reach law_cat mulf_neq0.
by rewrite es !size_cat /= leq_addr ltn_add2l -addn1 leq_add2l.
Qed.

(* the same as a quotient, where P_i(g) > 0 *)
Corollary theorem_4_5_quotient g s : reach p g -> reach q g ->
  Pr p (segev g s) / law p [::] g = Pr q (segev g s) / law q [::] g.
Proof.
move=> rp rq; have E (r : kernel) : Pr r (segev g s) = law r [::] g * cond r g (segev g s).
  rewrite -Pr_cond /Pr; apply: eq_bigl => y; apply/idP/andP => [e|[]//].
  by split=> //; case/and3P: e => _ _ /through_cat.
by rewrite !E theorem_4_5 // ![_ * _ / _]mulrAC !divff.
Qed.

(* "for G in F_{sigma_2} depending on g and the segment" (5.1) *)
Definition decided (G : pred path) := forall y z, pre (t2 y) y = pre (t2 y) z -> G y = G z.
(* entry prefixes *)
Definition entry g := [exists y : path, (t1 y == size g) && through g y].

Lemma entry_time g y : entry g -> through g y -> t1 y = size g.
Proof.
case/existsP=> z /andP[/eqP tz ez] ey; have e : pre (size g) z = pre (size g) y by rewrite /pre (eqP ez) (eqP ey).
by rewrite -tz (stopping_keep st1 e) // tz.
Qed.

Lemma size_pre_bseq n y : (size (drop n (pre (t2 y) y)) <= T)%N.
Proof. by rewrite size_drop (leq_trans (leq_subr _ _)) // size_pre ?st2.1. Qed.

(* 4.5, for every event of the segment *)
Theorem theorem_4_5_event g (G : pred path) : entry g -> decided G -> reach p g -> cond p g G = cond q g G.
Proof.
move=> eg dG rg; pose sg y : T.-bseq V := Bseq (size_pre_bseq (size g) y).
have part (r : kernel) : cond r g G =
    \sum_(s : T.-bseq V | [exists y, [&& through g y, G y & sg y == s]]) cond r g (segev g s).
  rewrite /cond (partition_big sg (fun s : T.-bseq V => [exists y, [&& through g y, G y & sg y == s]])) /=; last first.
    by move=> y /andP[gy Gy]; apply/existsP; exists y; rewrite gy Gy eqxx.
  apply: eq_bigr => s /existsP[y0 /and3P[gy0 Gy0 /eqP sy0]]; apply: eq_bigl => y.
  have pre2 z : through g z -> sg z = s -> g ++ s = pre (t2 z) z.
    move=> gz <-; rewrite /= -{1}(eqP gz) -/(pre _ z) (pre_pre z (l := size g) (m := t2 z)) ?cat_take_drop //.
    by rewrite -(entry_time eg gz).
  have sz z : through g z -> sg z = s -> size (g ++ s) = t2 z.
    by move=> gz /(pre2 _ gz) ->; rewrite size_pre ?st2.1.
  have seg0 : segev g s y0.
    rewrite /segev (entry_time eg gy0) (sz _ gy0 sy0) !eqxx /= /through (sz _ gy0 sy0).
    by rewrite (pre2 _ gy0 sy0).
  apply/andP/andP => [[/andP[gy Gy] /eqP sy]|[gy sy]].
    split=> //; rewrite /segev (entry_time eg gy) (sz _ gy sy) !eqxx /= /through (sz _ gy sy).
    by rewrite (pre2 _ gy sy).
  have yy : pre (t2 y0) y0 = pre (t2 y0) y.
    by move: sy; rewrite (segev_through seg0) /through (sz _ gy0 sy0) => /eqP; rewrite (pre2 _ gy0 sy0).
  rewrite gy -(dG _ _ yy) Gy0; split=> //; apply/eqP/val_inj => /=.
  by rewrite (stopping_keep st2 yy) // -yy -sy0.
by rewrite !part; apply: eq_bigr => s _; apply: theorem_4_5.
Qed.
End Segment.
