(* theory.md 5.1 and 7.1: what an expert guarantees from every entry prefix, the composition keeps. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition exactness skills segments total_variation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma law_nonneg (R : realFieldType) (V : finType) (p : kernel R V) h s : (forall g y, 0 <= p g y) -> 0 <= law p h s.
Proof. by move=> p0; elim: s h => [|y s IH] h /=; rewrite ?ler01 ?mulr_ge0. Qed.

(* expectations of functions with values in [0,1] differ by at most TV *)
Lemma TV_mean (R : realFieldType) (O : finType) (P S f : O -> R) : \sum_o P o = \sum_o S o ->
  (forall o, 0 <= f o <= 1) -> `|\sum_o P o * f o - \sum_o S o * f o| <= TV P S.
Proof.
move=> ePS f01; have half (A B : O -> R) : \sum_o A o = \sum_o B o ->
    \sum_o B o * f o - \sum_o A o * f o <= TV A B.
  move=> e; rewrite TV_pos // -sumrB; apply: ler_sum => o _; have /andP[f0 f1] := f01 o.
  rewrite -mulrBl; apply: (@le_trans _ _ (pos (B o - A o) * f o)).
    by rewrite ler_wpmul2r // /pos le_maxr lexx.
  by rewrite ler_pimulr // /pos le_maxr lexx orbT.
rewrite ler_norml ler_oppl opprB; apply/andP; split; first exact: half.
by rewrite TVC; apply: half.
Qed.

Lemma le_sup (R : realFieldType) (O : finType) (A : pred O) (f : O -> R) o :
  A o -> f o <= \big[Num.max/0]_(x | A x) f x.
Proof.
move=> Ao; have : o \in index_enum O by rewrite mem_index_enum.
elim: (index_enum O) => // x s IH; rewrite inE big_cons => /orP[/eqP <-|/IH le].
  by rewrite Ao le_maxr lexx.
by case: ifP => // _; rewrite le_maxr le orbT.
Qed.
Lemma sup_ge0 (R : realFieldType) (O : finType) (A : pred O) (f : O -> R) : 0 <= \big[Num.max/0]_(x | A x) f x.
Proof.
elim: (index_enum O) => [|x s IH]; rewrite ?big_nil // big_cons.
by case: ifP => // _; rewrite le_maxr IH orbT.
Qed.

(* ---- entry prefixes ---- *)
Section Entries.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation kernel := (kernel R V).
Local Notation path := (T.-tuple V).
Variables t1 t2 : path -> nat.
Hypotheses (st1 : stopping t1) (st2 : stopping t2) (t12 : forall y, (t1 y <= t2 y)%N).
Implicit Types (r : kernel) (g : T.-bseq V) (E G : pred path).

Definition entered y := (t1 y < T)%N.
Lemma size_entry y : (size (pre (t1 y) y) <= T)%N. Proof. by rewrite size_pre ?st1.1. Qed.
Definition entry_prefix y : T.-bseq V := Bseq (size_entry y).
(* the entry prefix; "not entered" is a value, None *)
Definition entry_value y := if entered y then Some (entry_prefix y) else None.
Definition entry_law r o := Pr r (fun y : path => entry_value y == o).
(* the prefixes at which the skill is entered *)
Definition entries g := entry t1 g && (size g < T)%N.

Lemma entry_valueE g y : entries g -> (entry_value y == Some g) = through g y.
Proof.
case/andP=> eg gT; rewrite /entry_value; apply/eqP/idP => [|gy].
  case: ifP => // _ [<-]; by rewrite /through /= size_pre ?st1.1.
have ty := entry_time st1 eg gy; rewrite /entered ty gT; congr Some; apply: val_inj.
by rewrite /= ty; apply/eqP.
Qed.

Lemma entry_valueN g y : ~~ entries g -> (entry_value y == Some g) = false.
Proof.
apply: contraNF; rewrite /entry_value; case: ifP => // ey /eqP[<-].
rewrite /entries /= size_pre ?st1.1 //; apply/andP; split=> //; apply/existsP; exists y.
by rewrite /= size_pre ?st1.1 // eqxx /through size_pre ?st1.1 //=.
Qed.

Lemma Pr_value r (O : finType) (f : path -> O) (A : pred O) E :
  Pr r (fun y => A (f y) && E y) = \sum_(o | A o) Pr r (fun y => (f y == o) && E y).
Proof.
rewrite /Pr (partition_big f A) /=; last by move=> y /andP[].
by apply: eq_bigr => o Ao; apply: eq_bigl => y; rewrite andbC; case: eqP => // ->; rewrite Ao.
Qed.

(* total probability over the entry prefixes *)
Lemma Pr_entered r E :
  Pr r (fun y => entered y && E y) = \sum_(g | entries g) law r [::] g * cond r g E.
Proof.
transitivity (Pr r (fun y => isSome (entry_value y) && E y)).
  by apply: eq_bigl => y; rewrite /entry_value; case: ifP.
rewrite (Pr_value _ _ (fun o => isSome o)) (reindex_omap (@Some _) id) /=; last by case.
rewrite (bigID entries) /= [X in _ + X]big1 ?addr0 => [|g /andP[_ ng]]; last first.
  by rewrite /Pr big1 // => y; rewrite entry_valueN.
apply: eq_big => [g|g /andP[_ eg]]; first by rewrite eqxx.
by rewrite -Pr_cond; apply: eq_bigl => y; rewrite entry_valueE.
Qed.

Lemma entry_law_Some r g : model_from r [::] T -> entries g -> entry_law r (Some g) = law r [::] g.
Proof.
move=> mr eg; have gT := size_bseq g; rewrite -[RHS](cylinder mr gT).
by apply: eq_bigl => y; rewrite entry_valueE.
Qed.
Lemma entry_law_out r g : ~~ entries g -> entry_law r (Some g) = 0.
Proof. by move=> ng; rewrite /entry_law /Pr big1 // => y; rewrite entry_valueN. Qed.
Lemma entry_law_None r : entry_law r None = Pr r (fun y => ~~ entered y).
Proof. by apply: eq_bigl => y; rewrite /entry_value; case: ifP. Qed.

Lemma Pr_total r : model_from r [::] T -> Pr r (fun _ : path => true) = 1.
Proof. exact: law_sum1_from. Qed.
Lemma entry_law_sum r : model_from r [::] T -> \sum_o entry_law r o = 1.
Proof.
move=> mr; rewrite -(Pr_total mr) -[RHS]/(Pr r (fun y => xpredT (entry_value y) && true)) Pr_value.
by apply: eq_bigr => o _; apply: eq_bigl => y; rewrite andbT.
Qed.

Lemma decidedC G : decided t2 G -> decided t2 (fun y => ~~ G y).
Proof. by move=> dG y z /dG->. Qed.
End Entries.

Section Guarantee.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation kernel := (kernel R V).
Local Notation path := (T.-tuple V).
Variables t1 t2 : path -> nat.
Hypotheses (st1 : stopping t1) (st2 : stopping t2) (t12 : forall y, (t1 y <= t2 y)%N).
Variables p q : kernel.                                     (* P^ and P_i *)
Hypotheses (mp : model_from p [::] T) (p0 : forall h y, 0 <= p h y) (mq : is_model q).
(* the hypothesis of 4.5 *)
Hypothesis agree : forall y l, (t1 y <= l < t2 y)%N -> reach p (pre l y) -> p (pre l y) = q (pre l y).
Local Notation entered := (entered t1).
Local Notation entries := (entries t1).
Local Notation entry_law := (entry_law st1).
Local Notation entry_value := (entry_value st1).
Implicit Types (g : T.-bseq V) (G : pred path).
Let mq' : model_from q [::] T := is_model_from (h := [::]) (n := T) mq.
Let q0 h y : 0 <= q h y. Proof. by case: (mq h). Qed.

Lemma cond_agree g G : entries g -> decided t2 G -> law p [::] g * cond p g G = law p [::] g * cond q g G.
Proof.
case/andP=> eg _ dG; have [->|rg] := eqVneq (law p [::] g) 0; first by rewrite !mul0r.
by rewrite (theorem_4_5_event st1 st2 t12 mp mq agree eg dG rg).
Qed.

Lemma condC g G : (size g <= T)%N -> cond q g (fun y => ~~ G y) = 1 - cond q g G.
Proof.
move=> gT; have mg : model_from q g (T - size g) by apply: is_model_from.
have E : cond q g (predT : pred path) = cond q g G + cond q g (fun y => ~~ G y).
  by rewrite /cond [LHS](bigID G) /=; congr (_ + _); apply: eq_bigl => y; rewrite andbT.
by rewrite -(cond_total gT mg) E [_ - _]addrC addKr.
Qed.

Lemma cond_le1 g G : (size g <= T)%N -> 0 <= cond q g G <= 1.
Proof.
move=> gT; rewrite cond_ge0 //= -subr_ge0 -condC //; exact: cond_ge0.
Qed.

(* 5.1: "for G in F_{sigma_2} ...: P^(G, sigma_1 < T) = sum_g P^(g) P_i(G|g)" *)
Theorem theorem_5_1_composed G : decided t2 G ->
  Pr p (fun y => entered y && G y) = \sum_(g | entries g) law p [::] g * cond q g G.
Proof. by move=> dG; rewrite Pr_entered //; apply: eq_bigr => g eg; apply: cond_agree. Qed.

(* 5.1: "P_i(G, sigma_1 < T) = sum_g P_i(g) P_i(G|g)" *)
Theorem theorem_5_1_expert G :
  Pr q (fun y => entered y && G y) = \sum_(g | entries g) law q [::] g * cond q g G.
Proof. exact: Pr_entered. Qed.

(* 5.1 (1): "for G within {sigma_1 < T} or G containing {sigma_1 = T}: |P^(G) - P_i(G)| <= TV(law of entry prefix under P^,
   under P_i) (not entered counted as a value)" *)
Theorem theorem_5_1_1 G : decided t2 G ->
  (forall y, G y -> (t1 y < T)%N) \/ (forall y, t1 y = T -> G y) ->
  `|Pr p G - Pr q G| <= TV (entry_law p) (entry_law q).
Proof.
move=> dG side; pose never : R := ([exists y, G y && ~~ entered y])%:R.
pose f o := if o is Some g then (if entries g then cond q g G else 0) else never.
have f01 o : 0 <= f o <= 1.
  case: o => [g|] /=; last by rewrite /never ler0n lern1 leq_b1.
  case: ifP => [_|_]; last by rewrite lexx ler01.
  by rewrite cond_le1 // size_bseq.
have mean r : model_from r [::] T ->
    (forall g, entries g -> law r [::] g * cond r g G = law r [::] g * cond q g G) ->
    Pr r G = \sum_o entry_law r o * f o.
  move=> mr er; rewrite (bigD1 None) //= (reindex_omap (@Some _) id) /=; last by case.
  rewrite [X in _ + X](_ : _ = Pr r (fun y => entered y && G y)); last first.
    rewrite Pr_entered // (bigID entries) /= [X in _ + X]big1 ?addr0 => [|g /andP[_ /negPf->]]; last by rewrite mulr0.
    apply: eq_big => [g|g /andP[_ eg]]; first by rewrite eqxx.
    by rewrite eg entry_law_Some // er.
  rewrite entry_law_None /Pr (bigID entered) /= addrC; congr (_ + _); last by apply: eq_bigl => y; rewrite andbC.
  case: side => [inn|out]; last first.
    rewrite /never; case: existsP => [_|nx]; rewrite (mulr1, mulr0).
      apply: eq_bigl => y; apply/andP/idP => [[]//|ny]; split=> //; apply: out.
      by apply/eqP; rewrite eqn_leq st1.1 leqNgt.
    rewrite big1 // => y /andP[Gy ny]; case: nx; exists y; by rewrite Gy.
  rewrite big1 => [|y /andP[/inn]]; last by rewrite /guarantees.entered => ->.
  rewrite /never; case: existsP => [[y /andP[/inn]]|_]; last by rewrite mulr0.
  by rewrite /guarantees.entered => ->.
rewrite !mean // => [|g eg]; last exact: cond_agree.
by apply: TV_mean => //; rewrite !entry_law_sum.
Qed.

(* 5.1 (1): "0 if no other expert deviates at a prefix h in R^ with |h| < sigma_1": the kernels agree there (below) *)
Lemma no_drift G : decided t2 G -> (forall y, G y -> (t1 y < T)%N) \/ (forall y, t1 y = T -> G y) ->
  (forall y l, (l < t1 y)%N -> reach p (pre l y) -> p (pre l y) = q (pre l y)) -> Pr p G = Pr q G.
Proof.
move=> dG side early; apply/eqP; rewrite -subr_eq0 -normr_le0.
apply: le_trans (theorem_5_1_1 dG side) _.
have eS g : entry_law p (Some g) = entry_law q (Some g).
  have [eg|ng] := boolP (entries g); last by rewrite !entry_law_out.
  rewrite !entry_law_Some //; apply: law_eq_from => t y u es lt.
  have /andP[/existsP[y0 /andP[/eqP ty gy]] _] := eg.
  have et : pre (size t) y0 = t.
    have le : (size t <= size g)%N by rewrite es size_cat leq_addr.
    by rewrite (pre_pre _ le) /pre (eqP gy) es take_size_cat.
  by have := early y0 (size t); rewrite et ty es size_cat /= -addSnnS leq_addr; apply.
have eN : entry_law p None = entry_law q None.
  have := entry_law_sum st1 mp; rewrite -(entry_law_sum st1 mq') (bigD1 None) //= [RHS](bigD1 None) //=.
  by rewrite (eq_bigr (entry_law q)) => [/addIr//|[g|]].
by rewrite /TV big1 ?mulr0 // => -[g|] _; rewrite ?eS ?eN subrr normr0.
Qed.

(* 5.1 (2): "if P_i(G_i|g) >= 1 - delta_i for all entry g in R^ then P^(entered, not G_i) <= delta_i P^(entered)" *)
Theorem theorem_5_1_2 G (delta : R) : decided t2 G ->
  (forall g, entries g -> reach p g -> 1 - delta <= cond q g G) ->
  Pr p (fun y => entered y && ~~ G y) <= delta * Pr p entered.
Proof.
move=> dG H; rewrite theorem_5_1_composed; last exact: decidedC.
rewrite (_ : Pr p entered = \sum_(g | entries g) law p [::] g * cond q g (predT : pred path)); last first.
  by rewrite -theorem_5_1_composed //; apply: eq_bigl => y; rewrite andbT.
rewrite mulr_sumr; apply: ler_sum => g eg; have gT := size_bseq g.
have mg : model_from q g (T - size g) by apply: is_model_from.
rewrite condC // cond_total // mulr1 [leRHS]mulrC.
have [->|rg] := eqVneq (law p [::] g) 0; first by rewrite !mul0r.
by apply: ler_wpmul2l; [apply: law_nonneg|rewrite ler_subl_addr -ler_subl_addl; apply: H].
Qed.

(* 5.1 (4): "P_i(entered, not G_i) <= delta: only P^(entered, not G_i) <= delta sup_g P^(g)/P_i(g) over entry prefixes with
   P^(g) > 0 (infinite if some P_i(g) = 0)" *)
Theorem theorem_5_1_4 G (delta : R) : decided t2 G ->
  (forall g, entries g -> reach p g -> reach q g) ->
  Pr q (fun y => entered y && ~~ G y) <= delta ->
  Pr p (fun y => entered y && ~~ G y) <=
    delta * \big[Num.max/0]_(g | entries g && reach p g) (law p [::] g / law q [::] g).
Proof.
move=> dG ac le; set M := \big[_/_]_(g | _) _; have M0 : 0 <= M by apply: sup_ge0.
apply: le_trans (ler_wpmul2r M0 le); rewrite theorem_5_1_composed; last exact: decidedC.
rewrite theorem_5_1_expert mulr_suml; apply: ler_sum => g eg; rewrite mulrAC ler_wpmul2r ?cond_ge0 //.
have [->|rg] := eqVneq (law p [::] g) 0; first by rewrite mulr_ge0 // law_nonneg.
have qg : 0 < law q [::] g by rewrite lt_def law_nonneg // andbT; apply: ac.
rewrite mulrC -ler_pdivr_mulr //.
by apply: (le_sup (fun g : T.-bseq V => law p [::] g / law q [::] g)); rewrite eg.
Qed.

(* ---- (5) ---- *)
Definition segment y : T.-bseq V := Bseq (size_pre_bseq st2 (t1 y) y).
(* the segment; "not entered" is a value, None *)
Definition segment_value y := if entered y then Some (segment y) else None.
(* P^(g) / P_i(g) of the entry prefix of a path *)
Definition ratio y := entry_law p (entry_value y) / entry_law q (entry_value y).
Local Notation at_ s := (fun y => segment_value y == s).

Lemma segment_decided s : decided t2 (fun y => entered y && (Some (segment y) == s)).
Proof.
move=> y z e; have e1 : t1 z = t1 y by apply: (stopping_keep st1 e).
have e2 : t2 z = t2 y by apply: (stopping_keep st2 e).
rewrite /guarantees.entered e1; congr (_ && _); congr (Some _ == _); apply: val_inj.
by rewrite /= e1 e2 e.
Qed.

Lemma segment_sum (r : kernel) (A : pred (option (T.-bseq V))) :
  Pr r (fun y => A (segment_value y)) = \sum_(s | A s) Pr r (at_ s).
Proof.
transitivity (Pr r (fun y => A (segment_value y) && true)); first by apply: eq_bigl => y; rewrite andbT.
by rewrite Pr_value; apply: eq_bigr => s _; apply: eq_bigl => y; rewrite andbT.
Qed.

Lemma segment_SomeE s y : (segment_value y == Some s) = entered y && (Some (segment y) == Some s).
Proof. by rewrite /segment_value; case: ifP. Qed.

Hypothesis dominated : forall g, entries g -> reach p g -> reach q g.

(* E_{P_i}[ratio; segment = s] = P^(segment = s) *)
Lemma ratio_mean s : Pr q (at_ s) != 0 \/ s != None -> \sum_(y | at_ s y) law q [::] y * ratio y = Pr p (at_ s).
Proof.
case: s => [s _|[|//] nz]; last first.
  have nE : (at_ None) =1 (fun y => entry_value y == None).
    by move=> y; rewrite /segment_value /entry_value; case: ifP.
  have nz' : entry_law q None != 0 by apply: contraNneq nz => z; apply/eqP; rewrite -z; apply: eq_bigl.
  rewrite (eq_bigl _ _ nE) [RHS](eq_bigl _ _ nE) -[RHS]/(entry_law p None).
  rewrite (eq_bigr (fun y : path => law q [::] y * (entry_law p None / entry_law q None))) => [|y /eqP e]; last first.
    by rewrite /ratio e.
  by rewrite -mulr_suml -/(entry_law q None) mulrC divfK.
have dG : decided t2 (at_ (Some s)) by move=> y z e; rewrite !segment_SomeE; apply: segment_decided.
have sp (r : kernel) : Pr r (at_ (Some s)) = Pr r (fun y => entered y && at_ (Some s) y).
  by apply: eq_bigl => y; rewrite segment_SomeE andbA andbb.
rewrite sp theorem_5_1_composed //.
rewrite (partition_big (entry_prefix st1) entries) /= => [|y]; last first.
  rewrite segment_SomeE => /andP[ey _]; apply/negPn/negP => ny.
  by have := entry_valueN st1 y ny; rewrite /entry_value ey eqxx.
apply: eq_bigr => g eg.
have ev y : at_ (Some s) y && (entry_prefix st1 y == g) = through g y && at_ (Some s) y.
  rewrite -(entry_valueE st1 y eg) segment_SomeE /entry_value.
  by case: ifP => ey; rewrite /= ?andbF // andbC.
rewrite (eq_bigl _ _ ev).
rewrite (eq_bigr (fun y : path => law q [::] y * (law p [::] g / law q [::] g))) => [|y /andP[gy _]]; last first.
  by rewrite /ratio (eqP (_ : entry_value y == Some g)) ?entry_valueE // !entry_law_Some.
rewrite -mulr_suml -/(Pr q (fun y => through g y && at_ (Some s) y)) Pr_cond mulrAC [_ * (_ / _)]mulrC.
have [z|nz] := eqVneq (law p [::] g) 0; first by rewrite z !mul0r.
by rewrite divfK //; apply: dominated.
Qed.

(* 5.1 (5): "If P^(g) > 0 => P_i(g) > 0: equality for all segment events iff E_{P_i}[P^(g)/P_i(g) | segment] = 1" *)
Theorem theorem_5_1_5 :
  (forall A : pred (option (T.-bseq V)), Pr p (fun y => A (segment_value y)) = Pr q (fun y => A (segment_value y))) <->
  (forall s, Pr q (at_ s) != 0 -> (\sum_(y | at_ s y) law q [::] y * ratio y) / Pr q (at_ s) = 1).
Proof.
split=> [eq s nz|mean A].
  rewrite ratio_mean; last by left.
  by rewrite (eq (pred1 s)) divff.
have sq s : 0 <= Pr q (at_ s) by apply: sumr_ge0 => y _; apply: law_nonneg.
have eS s : Pr p (at_ (Some s)) = Pr q (at_ (Some s)).
  have [z|nz] := eqVneq (Pr q (at_ (Some s))) 0; last first.
    by have := mean _ nz; rewrite ratio_mean ?orbT; [move/(canRL (divfK nz)); rewrite mul1r|left].
  rewrite z -ratio_mean; last by right.
  rewrite big1 // => y sy; have := psumr_eq0P (fun y _ => law_nonneg [::] (tval y) q0) z.
  by move/(_ y sy) => ->; rewrite mul0r.
have eN : Pr p (at_ None) = Pr q (at_ None).
  have tot (r : kernel) : model_from r [::] T -> \sum_s Pr r (at_ s) = 1.
    by move=> mr; rewrite -(segment_sum r xpredT); apply: law_sum1_from.
  have := tot p mp; rewrite -(tot q mq') (bigD1 None) //= [RHS](bigD1 None) //=.
  by rewrite (eq_bigr (fun s => Pr q (at_ s))) => [/addIr//|[s|]].
by rewrite !segment_sum; apply: eq_bigr => -[s|] _.
Qed.
End Guarantee.

(* 5.1 (1): "0 if no other expert deviates at a prefix h in R^ with |h| < sigma_1", for the composition: under `cancel`, or
   with absolute continuity on R^ *)
Theorem theorem_5_1_1_no_drift (R : realFieldType) (V I : finType) (T : nat) (c : convention)
    (b : kernel R V) (p : I -> kernel R V) (t1 t2 : T.-tuple V -> nat) i (G : pred (T.-tuple V)) :
  let w := @weight R V I c in let P := comp w b p in
  is_model b -> (forall i, is_model (p i)) ->
  (forall h, Rhat w T b p h -> faithful c (b h) (p^~ h)) ->
  model_from P [::] T ->                                    (* no dead prefix on R^ *)
  stopping t1 -> stopping t2 -> (forall y, (t1 y <= t2 y)%N) ->
  (forall y l, (t1 y <= l < t2 y)%N -> reach P (pre l y) -> P (pre l y) = p i (pre l y)) ->
  (forall y l, (l < t1 y)%N -> Rhat w T b p (pre l y) -> forall j, j != i -> ~~ dev b p j (pre l y)) ->
  decided t2 G -> (forall y, G y -> (t1 y < T)%N) \/ (forall y, t1 y = T -> G y) ->
  Pr P G = Pr (p i) G.
Proof.
move=> w P mb mp fR mP st1 st2 t12 agree early dG side.
apply: (no_drift st1 st2 t12 mP (mp i) agree dG side) => y l lt rh.
have lT : (l < T)%N := leq_trans lt (st1.1 y).
have Rh : Rhat w T b p (pre l y) by rewrite /Rhat size_pre ?(ltnW lT) // lT.
apply: comp_sole => // [|j ji]; first exact: fR.
by have := early y l lt Rh j ji; rewrite /dev negbK => /eqP.
Qed.

(* ---- all experts ---- *)
Section AllSkills.
Variables (R : realFieldType) (V J : finType) (T : nat).
Local Notation kernel := (kernel R V).
Local Notation path := (T.-tuple V).
Variables (t1 t2 : J -> path -> nat) (G : J -> pred path) (delta : J -> R).
(* "all entered skills succeed" *)
Definition all_succeed : pred path := fun y => [forall i, entered (t1 i) y ==> G i y].

Variable s : kernel.
Hypotheses (ms : model_from s [::] T) (s0 : forall h y, 0 <= s h y).

Lemma union_bound (f : J -> R) : (forall i, Pr s (fun y => entered (t1 i) y && ~~ G i y) <= f i) ->
  1 - \sum_i f i <= Pr s all_succeed.
Proof.
move=> le; rewrite ler_subl_addr -(law_sum1_from ms) (bigID all_succeed) /= ler_add2l.
apply: (@le_trans _ _ (\sum_i Pr s (fun y => entered (t1 i) y && ~~ G i y))); last by apply: ler_sum.
rewrite /Pr (exchange_big_dep (fun y => ~~ all_succeed y)) /= => [|i y _ /andP[ey Gy]]; last first.
  by apply: contra Gy => /forallP/(_ i); rewrite ey.
apply: ler_sum => y; rewrite negb_forall => /existsP[i]; rewrite negb_imply => iy.
rewrite (bigD1 i) //= ler_addl; apply: sumr_ge0 => j _; exact: law_nonneg.
Qed.

Lemma Pr_le1 (E : pred path) : Pr s E <= 1.
Proof.
rewrite -(law_sum1_from ms) [leRHS](bigID E) /= ler_addl; apply: sumr_ge0 => y _; exact: law_nonneg.
Qed.

Lemma succeed_near (p : kernel) (f : R) : model_from p [::] T -> f <= Pr s all_succeed ->
  f - TV (fun y : path => law p [::] y) (fun y : path => law s [::] y) <= Pr p all_succeed.
Proof.
move=> mp fs; rewrite ler_subl_addr; apply: (le_trans fs).
rewrite -ler_subl_addl; apply: TV_event_le.
by rewrite !law_sum1_from.
Qed.

Section Uniform.
Variable q : J -> kernel.                                   (* the experts *)
Hypotheses (mq : forall i, is_model (q i)) (st1 : forall i, stopping (t1 i)) (st2 : forall i, stopping (t2 i)).
Hypothesis t12 : forall i y, (t1 i y <= t2 i y)%N.
(* every segment is its expert's (the hypothesis of 4.5) *)
Hypothesis agree : forall i y l, (t1 i y <= l < t2 i y)%N -> reach s (pre l y) -> s (pre l y) = q i (pre l y).
Hypotheses (dG : forall i, decided (t2 i) (G i)).
Hypothesis uniform : forall i (g : T.-bseq V), entries (t1 i) g -> reach s g -> 1 - delta i <= cond (q i) g (G i).

(* 5.1 (3): "With all experts: P^(all entered skills succeed) >= 1 - sum_i delta_i P^(enter_i)"  (s = P^) *)
Theorem theorem_5_1_3 : 1 - \sum_i delta i * Pr s (entered (t1 i)) <= Pr s all_succeed.
Proof.
apply: union_bound => i.
exact: (theorem_5_1_2 (st1 i) (st2 i) (t12 i) ms s0 (mq i) (@agree i) (@dG i) (@uniform i)).
Qed.

(* 5.1 (3): "for P^ near a switching law S: >= 1 - sum_i delta_i S(enter_i) - TV(P^, S)"  (s = S; p = P^) *)
Theorem theorem_5_1_3_near (p : kernel) : model_from p [::] T ->
  1 - \sum_i delta i * Pr s (entered (t1 i)) - TV (fun y : path => law p [::] y) (fun y : path => law s [::] y)
    <= Pr p all_succeed.
Proof. by move=> mp; apply: succeed_near mp theorem_5_1_3. Qed.
End Uniform.

(* Theorem 7.1, before its bounds on the TV: "Let S_T be a switching model for which 5.1 (2) holds with delta_i(T) (segments
   exact) ... Then P^_T(all entered skills succeed) >= 1 - sum delta_i(T) - [TV(P^_T, S_T)]"  (s = S_T; p = P^_T) *)
Theorem theorem_7_1 (p : kernel) : model_from p [::] T -> (forall i, 0 <= delta i) ->
  (forall i, Pr s (fun y => entered (t1 i) y && ~~ G i y) <= delta i * Pr s (entered (t1 i))) ->
  1 - \sum_i delta i - TV (fun y : path => law p [::] y) (fun y : path => law s [::] y) <= Pr p all_succeed.
Proof.
move=> mp d0 H; apply: succeed_near => //; apply: union_bound => i; apply: le_trans (H i) _.
by rewrite -[leRHS]mulr1 ler_wpmul2l ?Pr_le1.
Qed.
End AllSkills.

(* Theorem 7.1: "Exact JF at length T => kappa_T = 0": the composition is the switching law, nothing is subtracted *)
Theorem theorem_7_1_exact (R : realFieldType) (V I : finType) (T : nat) (c : convention)
    (b : kernel R V) (p : I -> kernel R V) (t1 : I -> T.-tuple V -> nat) (G : I -> pred (T.-tuple V)) (delta : I -> R) :
  let w := @weight R V I c in let S := switch b p in
  is_model b -> (forall i, is_model (p i)) ->
  (forall h, Rhat w T b p h -> faithful c (b h) (p^~ h)) -> jf_pt b p (Rhat w T b p) ->
  (forall i, 0 <= delta i) ->
  (forall i, Pr S (fun y => entered (t1 i) y && ~~ G i y) <= delta i * Pr S (entered (t1 i))) ->
  1 - \sum_i delta i <= Pr (comp w b p) (all_succeed t1 G).
Proof.
move=> w S mb mp fR jf d0 H; have [_ _ [_ lE] _ _] := exact_on_reach mb mp fR jf.
have mS : is_model S by apply: switch_model.
have -> : Pr (comp w b p) (all_succeed t1 G) = Pr S (all_succeed t1 G).
  by apply: eq_bigr => y _; rewrite lE ?size_tuple.
have mS' : model_from S [::] T by apply: is_model_from.
apply: union_bound => // [h y|i]; first by case: (mS h).
by apply: le_trans (H i) _; rewrite -[leRHS]mulr1 ler_wpmul2l ?Pr_le1 // => h y; case: (mS h).
Qed.
