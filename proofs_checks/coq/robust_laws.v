(* theory.md 8: Theorem 8.2 for the composition and any reference model, Lemma 8.4, and the TV bound of 1.5 (4).
   Logarithms are avoided as in robust.v: c = e^{o/2}. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition interaction local_global total_variation robust.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Laws.
Variables (R : realFieldType) (V I : finType) (cv : convention).
Local Notation w := (@weight R V I cv).
Variables (b : kernel R V) (p : I -> kernel R V) (T : nat).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation c := (comp w b p).
(* "no dead prefix" *)
Hypothesis alive : forall h, Rhat w T b p h -> Zk w b p h != 0.

Let c0 h y : 0 <= c h y. Proof. by apply: comp_ge0 => *; apply: wk_ge0. Qed.
Let mc : model_from c [::] T. Proof. exact: comp_model. Qed.

(* 1.5 (4), TV part: "TV <= tanh(osc(S)/4)"; e^S in [m, a^2 m] on supp P_L *)
Theorem theorem_1_5_4_tv m a : 0 < m -> 1 <= a ->
  (forall y : T.-tuple V, law c [::] y != 0 -> m <= pathZ w b p [::] y <= a * a * m) ->
  TV (fun y : T.-tuple V => law c [::] y) (fun y => PG w b p T y) <= (a - 1) / (a + 1).
Proof.
move=> m0 a1 Sb; have PL0 y := PL_ge0 cv mb mp y.
have -> : TV (fun y : T.-tuple V => law c [::] y) (fun y => PG w b p T y) =
    TV (fun y : T.-tuple V => law c [::] y) (tilted (fun y : T.-tuple V => law c [::] y) (fun y => pathZ w b p [::] y)).
  congr (_ * _); apply: eq_bigr => y _.
  by rewrite /tilted -(theorem_1_5_1_mean alive) (theorem_1_5_1 alive).
by apply: lemma_8_1_tv _ _ m0 a1 Sb => [y|]; [apply: PL0|apply: PL_sum1].
Qed.

Section Reference.
Variable s : kernel R V.
Hypothesis ms : is_model s.
(* d(h) = TV(p^(.|h), s(.|h)), 0 outside R^; laws on V^T *)
Local Notation d := (d c s).
Local Notation PhatS := (seqTV c s T).                (* TV(P^, S) *)

(* 8.2 (2): "TV(P^,S) = E_S(1-P^/S)_+ <= 1 - E_S prod_t min(1,p^/s) <= E_S sum_t d, and <= E_{P^} sum_t d" *)
Theorem theorem_8_2_2 :
  [/\ PhatS = \sum_(y : T.-tuple V) law s [::] y * pos (1 - law c [::] y / law s [::] y),
      PhatS <= 1 - \sum_(y : T.-tuple V) law s [::] y * path_min c s [::] y,
      1 - \sum_(y : T.-tuple V) law s [::] y * path_min c s [::] y <=
        \sum_(y : T.-tuple V) law s [::] y * \sum_(l < T) d (take l y)
    & PhatS <= \sum_(y : T.-tuple V) law c [::] y * \sum_(l < T) d (take l y)].
Proof.
split; [exact: TV_mean|exact: TV_coupling|exact: coupling_steps_s|].
apply: le_trans (TV_coupling c0 mc ms) _; exact: coupling_steps_q.
Qed.

(* 8.2 (3): "if p^ = s outside a set O of prefixes, P^(hit O) = S(hit O) =: q and TV <= q" *)
Theorem theorem_8_2_3 (O : pred (seq V)) : (forall h, Rhat w T b p h -> ~~ O h -> c h = s h) ->
  \sum_(y : T.-tuple V | hits O y) law c [::] y = \sum_(y : T.-tuple V | hits O y) law s [::] y /\
  PhatS <= \sum_(y : T.-tuple V | hits O y) law s [::] y.
Proof. by move=> off; apply: overlap_bound => // h hT rh; apply: off; rewrite /Rhat hT. Qed.

(* 8.2 (5): "|P^(G) - S(G)| <= TV" *)
Theorem theorem_8_2_5 (G : pred (T.-tuple V)) :
  `|\sum_(y | G y) law c [::] y - \sum_(y | G y) law s [::] y| <= PhatS.
Proof. by apply: (TV_event (P := fun y : T.-tuple V => law c [::] y)); apply: laws_sum. Qed.

(* 8.2 (1)/(4), oscillation part: f_h = log w - log s with osc f_h <= o on supp s(.|h) for h in R^, and P^ << S *)
Theorem theorem_8_2_oscillation h (m a : R) : Rhat w T b p h -> 0 < m -> 1 <= a ->
  (forall y, s h y = 0 -> wk w b p h y = 0) ->
  (forall y, s h y != 0 -> m <= wk w b p h y / s h y <= a * a * m) ->
  TV (c h) (s h) <= (a - 1) / (a + 1).
Proof.
move=> Rh m0 a1 ac f; have [s0 s1] := ms h; pose F y := wk w b p h y / s h y.
have e y : s h y * F y = wk w b p h y.
  rewrite /F; have [z|n] := eqVneq (s h y) 0; first by rewrite z mul0r ac.
  by rewrite mulrCA divff ?mulr1.
rewrite TVC; have -> : TV (s h) (c h) = TV (s h) (tilted (s h) F).
  congr (_ * _); apply: eq_bigr => y _; rewrite /tilted e compE; congr `|_ - _ / _|.
  by apply: eq_bigr => z _; rewrite e.
exact: (lemma_8_1_tv s0 s1 m0 a1).
Qed.
End Reference.

(* ---- 8.2 (4): a switching model along an assignment a : prefix -> b or an expert ---- *)
Variable a : seq V -> option I.
Definition component i : kernel R V := if i is Some j then p j else b.
Definition switching : kernel R V := fun h => component (a h) h.
Definition unassigned h := [pred j | Some j != a h].

Lemma switching_model : is_model switching.
Proof. by move=> h; rewrite /switching; case: (a h) => [i|]; [apply: mp|apply: mb]. Qed.

(* 0.1: r_{-a} = prod_{j != a} r_j where p_b > 0 *)
Lemma weight_component h y : b h y != 0 ->
  wk w b p h y = switching h y * \prod_(j | unassigned h j) (p j h y / b h y).
Proof.
move=> bn; have -> : wk w b p h y = wdrop (b h) (fun i => p i h) y.
  by rewrite /wk; case: (cv) => //=; rewrite wcancel_supp.
rewrite /wdrop /switching /unassigned; case: (a h) => [i|] /=; last by [].
by rewrite (bigD1 i) //= mulrA mulrCA divff // mulr1.
Qed.

(* no error on R^; "not under `drop` where the assigned expert opens a token" *)
Hypothesis validR : forall h, Rhat w T b p h -> valid cv (b h) (fun i => p i h).
Hypothesis not_dropped : cv = Drop -> forall h y, Rhat w T b p h -> b h y = 0 -> switching h y = 0.
(* "need P^ << S: automatic under strict/drop when s is a component" (abs_cont below) *)
Hypothesis absolutely_continuous : forall h y, Rhat w T b p h -> switching h y = 0 -> wk w b p h y = 0.
(* r_j.  Under `cancel` the assigned expert may open a null token, where the others are 0 as the background: there r_j = 1 *)
Definition ratio j h y := if b h y == 0 then 1 else p j h y / b h y.

(* bounds on all of supp p_b are bounds at null tokens too: E_{p_b} r_j = 1 lies between them *)
Lemma ratio_null h j m M : (forall y, b h y = 0 -> p j h y = 0) ->
  (forall y, b h y != 0 -> m <= p j h y / b h y <= M) -> forall y, m <= ratio j h y <= M.
Proof.
move=> ac mM y; rewrite /ratio; case: eqP => [_|/eqP]; last exact: mM.
have [b0 b1] := mb h; have one : \sum_z b h z * (p j h z / b h z) = 1.
  rewrite -(mp j h).2; apply: eq_bigr => z _; have [e|n] := eqVneq (b h z) 0; first by rewrite e mul0r ac.
  by rewrite mulrCA divff ?mulr1.
apply/andP; split.
  rewrite -one -[m]mul1r -b1 mulr_suml; apply: ler_sum => z _.
  have [->|n] := eqVneq (b h z) 0; first by rewrite !mul0r.
  by rewrite ler_wpmul2l //; case/andP: (mM z n).
rewrite -one -[M]mul1r -b1 mulr_suml; apply: ler_sum => z _.
have [->|n] := eqVneq (b h z) 0; first by rewrite !mul0r.
by rewrite ler_wpmul2l //; case/andP: (mM z n).
Qed.

(* "k experts with osc log r_j <= eps when not assigned", over supp s(.|h): e^eps = e * e *)
Variable e : R.
Hypothesis e1 : 1 <= e.
Hypothesis small : forall h j, Rhat w T b p h -> unassigned h j -> exists2 m, 0 < m &
  forall y, switching h y != 0 -> m <= ratio j h y <= e * e * m.

(* "for a switching model f_h = sum_{j != a(h)} log r_j" *)
Lemma weight_switching h y : Rhat w T b p h -> switching h y != 0 ->
  wk w b p h y / switching h y = \prod_(j | unassigned h j) ratio j h y.
Proof.
move=> Rh sy; have [b0|bn] := eqVneq (b h y) 0; last first.
  rewrite weight_component // mulrAC divff // mul1r; apply: eq_bigr => j _.
  by rewrite /ratio (negPf bn).
rewrite big1 => [|j _]; last by rewrite /ratio b0 eqxx.
rewrite (_ : wk _ _ _ _ _ = switching h y) ?divff //.
have kept : cv <> Drop by move=> d; rewrite (not_dropped d Rh b0) eqxx in sy.
move: sy; rewrite /switching; case: (a h) => [i|] /= sy; last by rewrite b0 eqxx in sy.
move: kept (validR Rh); rewrite /wk; case: (cv) => // _ v; last by apply: (@weight_opener _ _ _ Cancel) => //; apply/valid_cancel.
by have /valid_strict/(_ i y b0) p0 := v; rewrite p0 eqxx in sy.
Qed.

Lemma prod_between (P : pred I) (x : I -> R) (m : I -> R) (g : R) :
  (forall j, P j -> 0 < m j) -> (forall j, P j -> m j <= x j <= g * m j) -> 0 <= g ->
  0 < \prod_(j | P j) m j /\ \prod_(j | P j) m j <= \prod_(j | P j) x j <= g ^+ #|P| * \prod_(j | P j) m j.
Proof.
move=> m0 mx g0; split; first exact: prodr_gt0.
apply/andP; split.
  by apply: ler_prod => j Pj; rewrite ltW ?m0 //=; case/andP: (mx j Pj).
rewrite -prodr_const -big_split /=; apply: ler_prod => j Pj; have /andP[l u] := mx j Pj.
by rewrite u andbT (le_trans _ l) // ltW // m0.
Qed.

(* 8.2 (4), what follows from "o(h) <= k eps in background, (k-1) eps inside", through the number of experts not assigned *)
Theorem theorem_8_2_4_prefix h : Rhat w T b p h ->
  TV (c h) (switching h) <= (e ^+ #|unassigned h| - 1) / (e ^+ #|unassigned h| + 1).
Proof.
move=> Rh; have e0 : 0 <= e * e by rewrite mulr_ge0 // (le_trans ler01).
have [m mP] : exists m : I -> R, forall j, unassigned h j ->
    0 < m j /\ forall y, switching h y != 0 -> m j <= ratio j h y <= e * e * m j.
  have ex j : exists x, unassigned h j -> 0 < x /\ forall y, switching h y != 0 -> x <= ratio j h y <= e * e * x.
    have [uj|] := boolP (unassigned h j); last by exists 0.
    by have [x x0 xb] := small Rh uj; exists x.
  exact: fin_all_exists ex.
apply: (theorem_8_2_oscillation switching_model (m := \prod_(j | unassigned h j) m j)) => //.
- by apply: prodr_gt0 => j /mP[].
- exact: exprn_ege1.
- by move=> y; apply: absolutely_continuous.
move=> y sy; rewrite weight_switching //.
have := @prod_between (unassigned h) (fun j => ratio j h y) m (e * e).
by rewrite exprMn; case=> // [j /mP[]|j /mP[_]] //; apply.
Qed.

Lemma tanh_mono k l : (k <= l)%N -> (e ^+ k - 1) / (e ^+ k + 1) <= (e ^+ l - 1) / (e ^+ l + 1).
Proof.
move=> kl; have e0 : 0 < e by apply: lt_le_trans ltr01 e1.
have p0 n : 0 < e ^+ n + 1 by rewrite addr_gt0 ?ltr01 ?exprn_gt0.
have E n : (e ^+ n - 1) / (e ^+ n + 1) = 1 - 2%:R / (e ^+ n + 1).
  have -> : e ^+ n - 1 = e ^+ n + 1 - 2%:R by rewrite mulr2n opprD addrA addrK.
  by rewrite mulrBl divff // gt_eqF.
by rewrite !E ler_add2l ler_opp2 ler_pmul2l ?ltr0n // lef_pinv ?posrE // ler_add2r ler_weexpn2l.
Qed.

Lemma card_unassigned h : #|unassigned h| = (if a h is Some _ then #|I|.-1 else #|I|).
Proof.
by rewrite /unassigned; case: (a h) => [i|]; rewrite -?(cardC1 i); apply: eq_card.
Qed.

(* 8.2 (4), what follows from "o(h) <= k eps in background" *)
Theorem theorem_8_2_4_background h : Rhat w T b p h -> a h = None ->
  TV (c h) (switching h) <= (e ^+ #|I| - 1) / (e ^+ #|I| + 1).
Proof. by move=> Rh ah; have := theorem_8_2_4_prefix Rh; rewrite card_unassigned ah. Qed.

(* 8.2 (4), what follows from "(k-1) eps inside" *)
Theorem theorem_8_2_4_inside h i : Rhat w T b p h -> a h = Some i ->
  TV (c h) (switching h) <= (e ^+ #|I|.-1 - 1) / (e ^+ #|I|.-1 + 1).
Proof. by move=> Rh ah; have := theorem_8_2_4_prefix Rh; rewrite card_unassigned ah. Qed.

(* 8.2 (4): "TV <= T tanh(k eps / 4)" (the other term of the minimum needs the logarithm of KL) *)
Theorem theorem_8_2_4 : seqTV c switching T <= T%:R * ((e ^+ #|I| - 1) / (e ^+ #|I| + 1)).
Proof.
apply: TV_steps => //; first exact: switching_model.
move=> h hT rh; have Rh : Rhat w T b p h by rewrite /Rhat hT.
apply: le_trans (theorem_8_2_4_prefix Rh) _; apply: tanh_mono; exact: max_card.
Qed.
End Laws.

(* "P^ << S: automatic under strict/drop when s is a component at each prefix" *)
Lemma abs_cont (R : realFieldType) (V I : finType) cv (b : kernel R V) (p : I -> kernel R V) a h y :
  (if cv is Cancel then AC (b h) (fun i => p i h) else True) ->
  switching b p a h y = 0 -> wk (@weight R V I cv) b p h y = 0.
Proof.
move=> ac s0; have -> : wk (@weight R V I cv) b p h y = wdrop (b h) (fun i => p i h) y.
  by rewrite /wk; case: cv ac => //= ac; apply: wcancel_AC.
apply/eqP; rewrite /wdrop mulf_eq0; move: s0; rewrite /switching; case: (a h) => [i|] /= e0; last by rewrite e0 eqxx.
by apply/orP; right; apply/prodf_eq0; exists i; rewrite // e0 mul0r.
Qed.
