(* theory.md 5.1(2): a guarantee uniform over entry prefixes is inherited by the composition. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition skills segments.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Guarantee.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation kernel := (kernel R V).
Local Notation path := (T.-tuple V).
Variables t1 t2 : path -> nat.
Hypotheses (st1 : stopping t1) (st2 : stopping t2) (t12 : forall y, (t1 y <= t2 y)%N).
Variables p q : kernel.                                     (* P^ and P_i *)
Hypotheses (mp : model_from p [::] T) (mq : model_from q [::] T).
Hypotheses (p0 : forall h y, 0 <= p h y) (q0 : forall h y, 0 <= q h y).
Hypothesis agree : forall (y : path) l, (t1 y <= l < t2 y)%N -> reach p (pre l y) -> p (pre l y) = q (pre l y).

Definition ent (y : path) := take (t1 y) y.
Definition seg (y : path) := drop (t1 y) (take (t2 y) y).
Lemma size_bs n (y : path) : (size (take n y) <= T)%N.
Proof. by rewrite size_take size_tuple; case: ltnP => // /ltnW. Qed.
Lemma size_bd n m (y : path) : (size (drop m (take n y)) <= T)%N.
Proof. by rewrite size_drop (leq_trans (leq_subr _ _)) // size_bs. Qed.
Definition bent y : T.-bseq V := Bseq (size_bs (t1 y) y).
Definition bseg y : T.-bseq V := Bseq (size_bd (t2 y) (t1 y) y).

Variable good : seq V -> seq V -> bool.                      (* G in F_{sigma_2}: depends on entry prefix and segment *)
Definition G y := good (ent y) (seg y).
Definition failg (g : seq V) : pred path := fun y => [&& (t1 y < T)%N, ent y == g & ~~ G y].

Lemma segevE g s y : segev t1 t2 g s y = (ent y == g) && (seg y == s).
Proof.
have sz1 : size (take (t1 y) y) = t1 y by rewrite size_takel // size_tuple; case: st1.
have sz2 : size (take (t2 y) y) = t2 y by rewrite size_takel // size_tuple; case: st2.
have cat : ent y ++ seg y = take (t2 y) y.
  by rewrite /ent /seg -(take_take (t12 y)) cat_take_drop.
apply/and3P/andP => [[/eqP e1 /eqP e2 /eqP e3]|[/eqP <- /eqP <-]].
  have ee : ent y = g by rewrite /ent -(take_take (t12 y)) e2 e3 e1 take_size_cat.
  split; apply/eqP => //; move: cat; rewrite e2 e3 ee => /eqP; rewrite eqseq_cat // => /andP[_ /eqP//].
by rewrite cat sz1 sz2 !eqxx.
Qed.

Lemma Pr_fail (r : kernel) g : (exists2 y0 : path, ent y0 == g & (t1 y0 < T)%N) ->
  Pr r (failg g) = \sum_(s : T.-bseq V | ~~ good g s) Pr r (segev t1 t2 g s).
Proof.
case=> y0 /eqP ey0 ty0; rewrite /Pr (partition_big bseg (fun s : T.-bseq V => ~~ good g s)) /=; last first.
  by move=> y /and3P[_ /eqP <-].
apply: eq_bigr => s gs; apply: eq_bigl => y; rewrite segevE /failg.
rewrite -(inj_eq val_inj) /= -/(seg y) /G.
have [ey|//] := eqVneq (ent y) g; last by rewrite andbF.
have [es|] := eqVneq (seg y) s; last by rewrite andbF.
rewrite ey es gs !andbT.
have sz (z : path) : size (ent z) = t1 z by rewrite size_takel // size_tuple; case: st1.
by rewrite -(sz y) ey -ey0 sz ty0.
Qed.

Theorem uniform_guarantee (dl : R) :
  (forall y0 : path, reach p (ent y0) -> (t1 y0 < T)%N ->
     reach q (ent y0) /\ Pr q (failg (ent y0)) <= dl * law q [::] (ent y0)) ->
  Pr p (fun y => (t1 y < T)%N && ~~ G y) <= dl * Pr p (fun y => (t1 y < T)%N).
Proof.
move=> H; have lp0 s h : 0 <= law p h s by elim: s h => [|y s IH] h /=; rewrite ?ler01 ?mulr_ge0.
have lq0 s h : 0 <= law q h s by elim: s h => [|y s IH] h /=; rewrite ?ler01 ?mulr_ge0.
rewrite /Pr (partition_big bent xpredT) //= [X in dl * X](partition_big bent xpredT) //= mulr_sumr.
apply: ler_sum => g _; have [y0 /andP[t0 /eqP e0]|none] := pickP (fun y => (t1 y < T)%N && (bent y == g)); last first.
  rewrite !big1 ?mulr0 // => y; first by rewrite none.
  by rewrite andbAC none.
have eg : ent y0 = g by rewrite -e0.
have sz (z : path) : size (ent z) = t1 z by rewrite size_takel // size_tuple; case: st1.
have cyl : \sum_(y | (t1 y < T)%N && (bent y == g)) law p [::] y = law p [::] g.
  rewrite -(@cylinder _ _ p [::] g T mp) ?size_bseq //; apply: eq_bigl => y.
  rewrite -(inj_eq val_inj) /= -/(ent y) -eg sz; apply/andP/eqP => [[_ /eqP e]|ey].
    by rewrite -e -(sz y0) -e sz.
  suff e1 : t1 y = t1 y0 by rewrite e1 t0 /ent e1 ey.
  apply: (stop_ext st1 (h := ent y0)); rewrite ?sz //; exact: ey.
have eF : \sum_(y | ((t1 y < T)%N && ~~ G y) && (bent y == g)) law p [::] y = Pr p (failg g).
  by apply: eq_bigl => y; rewrite /failg -andbA [~~ _ && _]andbC -(inj_eq val_inj).
rewrite eF cyl -eg.
have exy : exists2 y1 : path, ent y1 == ent y0 & (t1 y1 < T)%N by exists y0.
have [z|nz] := eqVneq (law p [::] (ent y0)) 0.
  rewrite z mulr0 /Pr big1 // => y /and3P[ty /eqP ey _].
  have := law_cat p [::] (ent y) (drop (t1 y) y); rewrite cat_take_drop => ->.
  by rewrite ey z mul0r.
have [rq Hq] := H y0 nz t0.
rewrite (Pr_fail p exy); rewrite (Pr_fail q exy) in Hq.
have lpg : 0 < law p [::] (ent y0) by rewrite lt_def nz lp0.
have lqg : 0 < law q [::] (ent y0) by rewrite lt_def lq0 andbT; exact: rq.
have E s : Pr p (segev t1 t2 (ent y0) s) =
    law p [::] (ent y0) / law q [::] (ent y0) * Pr q (segev t1 t2 (ent y0) s).
  have := segment_law st1 st2 s mp mq agree nz rq.
  move/(canRL (divfK nz)) => ->; by rewrite [RHS]mulrC [RHS]mulrA mulrAC.
under eq_bigr do rewrite E.
rewrite -mulr_sumr mulrAC ler_pdivr_mulr // -mulrA mulrCA ler_pmul2l //.
Qed.
End Guarantee.
