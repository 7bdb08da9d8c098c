(* theory.md Theorem 6.2, (=>): a bijection with which the local composition of all full-support models commutes, k >= 2, is an
   isomorphism of the prefix tree. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws histories features conditionals feature_trees.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Squares.
Variables (R : realFieldType) (V : finType).
Local Notation n := (#|V|%:R : R).

(* "Z = |V| sum p^2 >= 1, = 1 iff the kernel is uniform" *)
Lemma sum_squares (q : dist R V) : (0 < #|V|)%N -> is_dist q -> n * (\sum_a q a ^+ 2) = 1 + n * (\sum_a (q a - n^-1) ^+ 2).
Proof.
move=> V0 [_ q1]; have nn : n != 0 by rewrite pnatr_eq0 -lt0n.
have -> : \sum_a (q a - n^-1) ^+ 2 = \sum_a q a ^+ 2 - n^-1.
  rewrite (eq_bigr (fun a => q a ^+ 2 - (n^-1 * q a) *+ 2 + n^-1 ^+ 2)) => [|a _]; last by rewrite sqrrB mulrC.
  rewrite big_split sumrB /= sumrMnl -mulr_sumr q1 mulr1 sumr_const -(mulr_natr (_ ^+ 2)) expr2 -mulrA mulVf // mulr1.
  by rewrite mulr2n opprD -!addrA addNr addr0.
by rewrite mulrBr divff // addrC subrK.
Qed.

Lemma sum_squares_ge1 (q : dist R V) : (0 < #|V|)%N -> is_dist q -> 1 <= n * (\sum_a q a ^+ 2).
Proof.
move=> V0 dq; rewrite sum_squares // ler_addl mulr_ge0 ?ler0n // sumr_ge0 // => a _; exact: sqr_ge0.
Qed.

Lemma sum_squares_eq1 (q : dist R V) : (0 < #|V|)%N -> is_dist q -> n * (\sum_a q a ^+ 2) = 1 -> forall a, q a = n^-1.
Proof.
move=> V0 dq; rewrite sum_squares // => /eqP; rewrite -subr_eq0 addrAC subrr add0r mulf_eq0 pnatr_eq0 -[_ == 0%N]negbK -lt0n V0 /=.
move/eqP=> e a; have := psumr_eq0P (fun a _ => sqr_ge0 (q a - n^-1)) e (i := a) isT.
by move/eqP; rewrite expf_eq0 /= subr_eq0 => /eqP.
Qed.
End Squares.

Section Only.
Variables (R : realFieldType) (V I : finType) (T : nat) (c : convention).
Local Notation Om := {ffun 'I_T -> V}.
Local Notation kernel := (kernel R V).
Local Notation w := (@weight R V I c).
Local Notation pre l y := (take l (word y)).
Local Notation n := (#|V|%:R : R).
Local Notation uni := (@uniform R V).
Variables (D E : Om -> Om) (i1 i2 : I).
Hypotheses (DE : cancel D E) (ED : cancel E D) (i12 : i1 != i2) (comm : commutes R I c D).

(* two experts with the kernel q, the others and the background uniform *)
Definition both (q : kernel) i : kernel := if (i == i1) || (i == i2) then q else uni.

Section Step.
Variables (v : V) (l : nat) (y0 : Om) (lT : (l < T)%N) (b : V).
Local Notation a := (y0 (Ordinal lT)).
Hypothesis ba : b != a.
Hypothesis IH : forall y y' : Om, agree (upto l.+1) (D y) (D y') = agree (upto l.+1) y y'.
Local Notation h := (pre l y0).

Let V0 : (0 < #|V|)%N. Proof. by apply/card_gt0P; exists v. Qed.
Let n0 : 0 < n. Proof. by rewrite ltr0n. Qed.
Let nn : n != 0. Proof. by rewrite gt_eqF. Qed.
Let szh : size h = l. Proof. by rewrite size_word_take // ltnW. Qed.
Let mu : is_model uni. Proof. exact: uniform_model. Qed.
Let fu : full_support uni. Proof. by move=> g x; rewrite ffunE invr_gt0. Qed.

Definition bump (x : V) : R := ((x == a)%:R - (x == b)%:R) / 2%:R.
Definition q : kernel := fun g => if g == h then [ffun x => n^-1 * (1 + bump x)] else uni g.

Lemma bump_gt x : 0 < 1 + bump x.
Proof.
rewrite /bump; have h2 : (2%:R^-1 : R) < 1 by rewrite invf_lt1 ?ltr0n // ltr1n.
have h0 : (0 : R) < 2%:R^-1 by rewrite invr_gt0 ltr0n.
case: (x == a); case: (x == b); rewrite ?subrr ?subr0 ?sub0r ?mulN1r ?mul0r ?mul1r ?addr0 ?ltr01 //.
  by rewrite addr_gt0 // ltr01.
by rewrite subr_gt0.
Qed.

Lemma bump_le x : x != a -> 1 + bump x <= 1.
Proof.
move=> xa; rewrite /bump (negPf xa) sub0r ger_addl mulNr oppr_le0 divr_ge0 ?ler0n //.
Qed.

Lemma bump_a : 1 < 1 + bump a.
Proof. by rewrite /bump eqxx eq_sym (negPf ba) subr0 mul1r ltr_addl invr_gt0 ltr0n. Qed.

Lemma q_model : is_model q.
Proof.
move=> g; rewrite /q; case: ifP => [_|_]; last exact: mu.
split=> [x|]; first by rewrite ffunE mulr_ge0 ?invr_ge0 ?ler0n // ltW // bump_gt.
rewrite (eq_bigr (fun x => n^-1 * (1 + bump x))) => [|x _]; last by rewrite ffunE.
rewrite -mulr_sumr big_split /= /bump -mulr_suml sumrB sumr_const.
have ind y : \sum_x (x == y)%:R = 1 :> R.
  by rewrite (bigD1 y) //= eqxx big1 ?addr0 // => x /negPf->.
by rewrite !ind subrr mul0r addr0 mulVf.
Qed.

Lemma q_full : full_support q.
Proof.
by move=> g x; rewrite /q; case: ifP => _; [rewrite ffunE mulr_gt0 ?invr_gt0 // bump_gt|apply: fu].
Qed.

Lemma uni_law s : law uni [::] s = n^-1 ^+ size s. Proof. exact: uniform_law. Qed.

Let sz m (y : Om) : (m <= T)%N -> size (pre m y) = m. Proof. exact: size_word_take. Qed.

(* off h everything is uniform *)
Lemma off_h (k : kernel) (y : Om) m : (m <= T)%N -> (pre l y != h) || (m <= l)%N ->
  (forall g, g != h -> k g = uni g) -> law k [::] (pre m y) = n^-1 ^+ m.
Proof.
move=> mT off ek; rewrite -[in RHS](sz y mT) -uni_law; apply: law_eq_from => t x u es _; apply: ek => /=.
have tm : (size t < m)%N by rewrite -(sz y mT) es size_cat /= addnS ltnS leq_addr.
have et : t = pre (size t) y by rewrite -(take_take (ltnW tm)) es take_size_cat.
apply/eqP => th; case/orP: off => [/eqP|ml]; first by rewrite -th et th szh.
by move: tm; rewrite th szh ltnNge ml.
Qed.

(* in tokens the composition is uniform off h *)
Lemma comp_off g : g != h -> comp w uni (both q) g = uni g.
Proof.
move=> gh; have e : forall i, both q i g = uni g by move=> i; rewrite /both; case: ifP => // _; rewrite /q (negPf gh).
have we := @weight_none R V I c (uni g) (fun i => both q i g) e; apply/ffunP => x; rewrite compE /Zk /Z (eq_bigr _ (fun x _ => we x)).
by rewrite /wk we (mu g).2 divr1.
Qed.

Definition P' : Om -> R := push D (Law q).
Definition q' : kernel := conditional P' uni.
Let P'0 z : 0 < P' z.
Proof.
rewrite -[z]ED /P' (push_at (can_inj DE)) lt_def law_ge0 ?andbT; last exact: q_model.
by apply/law_neq0P => t x u _; rewrite gt_eqF // q_full.
Qed.
Let P'1 : \sum_z P' z = 1. Proof. by rewrite /P' push_sum; apply/Law_sum1/q_model. Qed.
Let mq' : is_model q'. Proof. by apply: conditional_model => // y; apply: ltW. Qed.
Let fq' : full_support q'. Proof. by move=> g x; apply: conditional_full => // y; apply: ltW. Qed.
Lemma q'_law z : Law q' z = P' z. Proof. by apply: conditional_law => // y; apply: ltW. Qed.

Lemma both_model k i : is_model k -> is_model (both k i). Proof. by rewrite /both; case: ifP. Qed.
Lemma both_full k i : full_support k -> full_support (both k i). Proof. by rewrite /both; case: ifP. Qed.

Lemma commuted (y : Om) : Law (comp w uni (both q')) (D y) = Law (comp w uni (both q)) y.
Proof.
rewrite (comm (b := uni) (p := both q)) //; [exact: push_at (can_inj DE) _ _| | | | | |].
- by move=> i; apply/both_model/q_model.
- by move=> i; apply: both_model.
- by move=> i; apply/both_full/q_full.
- by move=> i; apply: both_full.
- by move=> z; rewrite -[z]ED (push_at (can_inj DE)) /Law !uni_law !size_tuple.
move=> i z; rewrite /both; case: ifP => _; first exact: q'_law.
by rewrite -[z]ED (push_at (can_inj DE)) /Law !uni_law !size_tuple.
Qed.

(* Z of the experts in features *)
Lemma Z_squares g : Zk w uni (both q') g = n * (\sum_x q' g x ^+ 2).
Proof.
rewrite Zk_conv; last by move=> i x e; have := fu g x; rewrite e ltxx.
rewrite /Zk /Z mulr_sumr; apply: eq_bigr => x _; rewrite /wdrop (bigD1 i1) //= (bigD1 i2) 1?eq_sym //=.
rewrite big1 ?mulr1 => [|i /andP[ni1 ni2]]; last first.
  by rewrite /both (negPf ni1) (negPf ni2) /= divff // gt_eqF.
rewrite /both !eqxx orbT /= ffunE invrK expr2.
by rewrite [X in _ * X]mulrACA mulrCA mulKf // mulrC.
Qed.

Lemma pathZ1 s g : pathZ w uni (both q') g s = 1 ->
  forall t x u, s = t ++ x :: u -> Zk w uni (both q') (g ++ t) = 1.
Proof.
have Z1 f : 1 <= Zk w uni (both q') f by rewrite Z_squares sum_squares_ge1.
have P1 s' f : 1 <= pathZ w uni (both q') f s'.
  by elim: s' f => //= x s' IHs f; rewrite mulr_ege1.
elim: s g => [|x s IHs] g /=; first by move=> _ [].
move=> e; have [e1 e2] : Zk w uni (both q') g = 1 /\ pathZ w uni (both q') (rcons g x) s = 1.
  have le1 : Zk w uni (both q') g <= 1 by rewrite -e ler_pmulr // (lt_le_trans ltr01).
  have z1 : Zk w uni (both q') g = 1 by apply/eqP; rewrite eq_le le1 Z1.
  by split=> //; move: e; rewrite z1 mul1r.
move=> [|x' t] z u [ex es]; first by rewrite cats0.
by rewrite -cat_rcons -ex; apply: (IHs _ e2 t z u).
Qed.

(* "every path outside D(L_h) has uniform kernels" *)
Lemma uniform_outside (y : Om) m : pre l y != h -> (m < T)%N -> forall x, q' (pre m (D y)) x = n^-1.
Proof.
move=> off mT; have lawE (k : kernel) : (forall g, g != h -> k g = uni g) -> Law k y = n^-1 ^+ T.
  by move=> ek; rewrite /Law -word_take off_h // off.
have cE : Law (comp w uni (both q')) (D y) = n^-1 ^+ T by rewrite commuted lawE //; apply: comp_off.
have q'E : law q' [::] (word (D y)) = n^-1 ^+ T.
  by rewrite -/(Law q' (D y)) q'_law /P' (push_at (can_inj DE)) lawE // => g /negPf gh; rewrite /q gh.
have Zn g : Zk w uni (both q') g != 0.
  by rewrite gt_eqF // (lt_le_trans ltr01) // Z_squares sum_squares_ge1.
have nT : n^-1 ^+ T != 0 by rewrite expf_neq0 // invr_eq0.
have WE : W w uni (both q') [::] (word (D y)) = n^-1 ^+ T.
  rewrite (W_conv (T := T)) ?size_tuple //; last by move=> g _ _ i x e; have := fu g x; rewrite e ltxx.
  rewrite W_gW uni_law size_tuple big1 ?mulr1 // => i _; rewrite /both.
  by case: ifP => _; rewrite ?q'E ?uni_law ?size_tuple divff.
have := W_law (w := w) (b := uni) (p := both q') (h := [::]) (s := word (D y)) (fun t _ _ _ => Zn t).
rewrite WE -/(Law (comp w uni (both q')) (D y)) cE -[X in X = _ -> _]mulr1 => /(mulfI nT)/esym/pathZ1 e.
apply: sum_squares_eq1 => //; rewrite -Z_squares -[pre m (D y)]cat0s.
apply: (e _ (D y (Ordinal mT)) (drop m.+1 (word (D y)))).
by rewrite -cat_rcons -(word_next _ mT) cat_take_drop.
Qed.

(* the kernel at the prefix of D y0 is not uniform *)
Lemma not_uniform : exists x, q' (pre l (D y0)) x != n^-1.
Proof.
have [x xa] : exists x, x != D y0 (Ordinal lT).
  by case: (eqVneq a (D y0 (Ordinal lT))) ba => [<- ?|? _]; [exists b|exists a].
apply/existsP; apply: contraT; rewrite negb_exists => /forallP u.
have {}u z : q' (pre l (D y0)) z = n^-1 by have := u z; rewrite negbK => /eqP.
have lE z : law q' [::] (rcons (pre l (D y0)) z) = law q' [::] (pre l (D y0)) * n^-1 by rewrite law_rcons u.
have := lE x; rewrite -(lE (D y0 (Ordinal lT))) -word_next.
have q'P (z : Om) : law q' [::] (pre l.+1 z) = \sum_(u : Om | agree (upto l.+1) u z) P' u.
  by rewrite -Law_trunc // /marg; apply: eq_bigr => u' _; apply: q'_law.
rewrite [RHS]q'P (reindex D) /=; last by exists E => ? _; [apply: DE|apply: ED].
rewrite (eq_bigl (fun y => agree (upto l.+1) y y0)) => [|y]; last exact: IH.
rewrite (eq_bigr (fun y => Law q y)) => [|y _]; last by rewrite /P' (push_at (can_inj DE)).
rewrite -/(marg (Law q) (upto l.+1) y0) Law_trunc ?word_next; last exact: q_model.
rewrite [RHS]law_rcons [X in _ = X * _]off_h ?leqnn ?orbT ?(ltnW lT) //; last by move=> g /negPf gh; rewrite /q gh.
rewrite /= {1}/q eqxx ffunE -[rcons _ x](take_updS (D y0) x lT) q'P.
set z := upd _ _ _ => e; have : \sum_(u : Om | agree (upto l.+1) u z) P' u <= n^-1 ^+ l.+1.
  have -> : n^-1 ^+ l.+1 = \sum_(u : Om | agree (upto l.+1) u z) n^-1 ^+ T.
    rewrite -[in LHS](sz z lT) -uni_law -Law_trunc //; apply: eq_bigr => u' _; by rewrite /Law uni_law size_tuple.
  apply: ler_sum => u' uz; rewrite -[u']ED /P' (push_at (can_inj DE)) (law_chain (K := q)) //.
  have -> : n^-1 ^+ T = Law uni (E u') by rewrite /Law uni_law size_tuple.
  rewrite (law_chain (K := uni)) //; apply: ler_prod => t _; rewrite ltW ?q_full //= /q.
  case: ifP => [/eqP th|_]; last by rewrite lexx.
  rewrite !ffunE ler_pimulr ?invr_ge0 ?ler0n // bump_le //; apply: contraTneq uz => ta.
  have tl : t = Ordinal lT by apply: val_inj; rewrite /= -szh -th sz // ltnW.
  have : agree (upto l.+1) (E u') y0.
    by rewrite agree_take (word_next _ lT) (word_next y0 lT) -[in E u' _]tl ta -th tl.
  rewrite -IH ED => au; apply/negP => az.
  have := agree_eq au z; rewrite agree_sym az agree_sym => /esym/agreeP/(_ (Ordinal lT)).
  by rewrite /upto ltnSn upd_at => /(_ isT) ex; rewrite ex eqxx in xa.
rewrite e exprSr ler_pmul2l ?exprn_gt0 ?invr_gt0 // -[X in _ <= X]mulr1 ler_pmul2l ?invr_gt0 //.
by rewrite leNgt bump_a.
Qed.

Lemma step_inclusion (y : Om) : agree (upto l) (D y) (D y0) -> agree (upto l) y y0.
Proof.
rewrite !agree_take => /eqP e; apply: contraT => off; have [x] := not_uniform.
by rewrite -e uniform_outside ?eqxx.
Qed.
End Step.

Lemma card_through l (y y' : Om) : #|[set z : Om | agree (upto l) z y]| = #|[set z : Om | agree (upto l) z y']|.
Proof.
have [v _|noV] := pickP (@predT V); last first.
  apply/eq_card => z; rewrite !inE; apply/agreeP/agreeP => _ t; by have := noV (z t).
have nn : n^-1 ^+ T != 0 :> R by rewrite expf_neq0 // invr_eq0 pnatr_eq0 -lt0n; apply/card_gt0P; exists v.
have mu := uniform_model R v; have E' (x : Om) : #|[set z : Om | agree (upto l) z x]|%:R * n^-1 ^+ T = n^-1 ^+ minn l T :> R.
  have <- : size (pre l x) = minn l T by rewrite size_take size_tuple.
  rewrite -(uniform_law R [::]) -Law_trunc // /marg mulr_natl -sumr_const; apply: eq_big => [z|z _]; first by rewrite inE.
  by rewrite /Law uniform_law size_tuple.
apply/eqP; rewrite -(eqr_nat R); apply/eqP/(mulIf nn); by rewrite !E'.
Qed.

Lemma tree_levels l : (l <= T)%N -> forall y y' : Om, agree (upto l) (D y) (D y') = agree (upto l) y y'.
Proof.
move eqn: (T - l)%N => m; elim: m l eqn => [|m IHm] l el lT y y0.
  have all (z z' : Om) : agree (upto l) z z' = (z == z').
    rewrite -agree_all; apply: eq_forallb => t; suff -> : upto l t by [].
    by rewrite /upto (leq_trans (ltn_ord t)) // -subn_eq0 el.
  by rewrite !all (can_eq DE).
have {}lT : (l < T)%N by rewrite -subn_gt0 el.
have IH := IHm l.+1; rewrite subnS el in IH; have {}IH := IH erefl lT.
have incl (y1 y2 : Om) : agree (upto l) (D y1) (D y2) -> agree (upto l) y1 y2.
  have [b bn|same] := pickP (fun b => b != y2 (Ordinal lT)); first exact: (step_inclusion (y2 (Ordinal lT)) bn IH).
  by move=> _; apply/agreeP => t _; rewrite (eqP (negbFE (same (y1 t)))) (eqP (negbFE (same (y2 t)))).
apply/idP/idP => [|yy0]; first exact: incl.
have : [set z | agree (upto l) z (D y0)] == D @: [set y1 | agree (upto l) y1 y0].
  rewrite eqEcard (card_imset _ (can_inj DE)) (card_through l y0 (D y0)) leqnn andbT.
  apply/subsetP => z; rewrite inE -{1}[z]ED => az; apply/imsetP; exists (E z); rewrite ?ED // inE.
  exact: incl.
move/eqP/setP/(_ (D y)); rewrite inE => ->; apply/imsetP; exists y => //.
by rewrite inE.
Qed.
End Only.

(* "Take W = V^T with its own prefix order, k >= 2.  Local composition commutes with D for all full-support models iff D is a
   prefix-tree isomorphism" *)
Theorem theorem_6_2 (R : realFieldType) (V I : finType) (T : nat) (c : convention) (D : {ffun 'I_T -> V} -> {ffun 'I_T -> V}) :
  (1 < #|I|)%N -> bijective D -> commutes R I c D <-> tree_isomorphism D.
Proof.
move=> /card_gt1P[i1 [i2 [_ _ i12]]] [E DE ED]; split=> [comm|]; last exact: theorem_6_2_if.
have lev := tree_levels DE ED i12 comm.
have all l y y' : agree (upto l) (D y) (D y') = agree (upto l) y y'.
  have [lT|/ltnW Tl] := leqP l T; first exact: lev.
  have up (z z' : {ffun 'I_T -> V}) : agree (upto l) z z' = agree (upto T) z z'.
    by apply: eq_forallb => t; rewrite /upto ltn_ord (leq_trans (ltn_ord t)).
  by rewrite !up lev.
exists E; split=> // l y y'; first by rewrite all.
by rewrite -[agree _ (E y) _]all !ED.
Qed.
