(* theory.md 8: TV, the direct TV certificate, 8.2(2), 8.2(3), 8.2(5). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section TV.
Variables (R : realFieldType) (O : finType).
Implicit Types (P S : O -> R).

Definition TV P S := 2%:R^-1 * \sum_y `|P y - S y|.
Definition pos (x : R) := Num.max x 0.

Lemma normE x : `|x| = 2%:R * pos x - x.
Proof.
rewrite /pos; case: (lerP 0 x) => x0; first by rewrite ger0_norm // mulr_natl mulr2n addrK.
by rewrite ltr0_norm // mulr0 sub0r.
Qed.

Lemma TV_pos P S : \sum_y P y = \sum_y S y -> TV P S = \sum_y pos (S y - P y).
Proof.
move=> ePS; rewrite /TV; under eq_bigr do rewrite distrC normE.
rewrite sumrB sumrB ePS subrr subr0 -mulr_sumr mulKf //.
by rewrite pnatr_eq0.
Qed.

Lemma TVC P S : TV P S = TV S P.
Proof. by rewrite /TV; under eq_bigr do rewrite distrC. Qed.

(* certificate: E_S (1 - P/S)_+ = TV(P,S); no absolute continuity needed *)
Theorem TV_certificate P S :
  (forall y, 0 <= P y) -> (forall y, 0 <= S y) -> \sum_y P y = \sum_y S y ->
  \sum_y S y * pos (1 - P y / S y) = TV P S.
Proof.
move=> P0 S0 ePS; rewrite TV_pos //; apply: eq_bigr => y _.
have [->|nz] := eqVneq (S y) 0.
  by rewrite mul0r sub0r /pos max_r // oppr_le0 P0.
by rewrite /pos maxr_pmulr // mulr0 mulrBr mulr1 mulrCA divff // mulr1.
Qed.

(* 8.2(5) *)
Lemma TV_event P S (G : pred O) : \sum_y P y = \sum_y S y ->
  \sum_(y | G y) S y - \sum_(y | G y) P y <= TV P S.
Proof.
move=> ePS; rewrite TV_pos // -sumrB [leRHS](bigID G) /= -[leLHS]addr0 ler_add //.
  by apply: ler_sum => y _; rewrite le_maxr lexx.
by apply: sumr_ge0 => y _; rewrite le_maxr lexx orbT.
Qed.

(* 8.2(3), abstract: P = S off H *)
Lemma TV_off P S (H : pred O) :
  (forall y, 0 <= P y) -> (forall y, 0 <= S y) -> \sum_y P y = \sum_y S y ->
  (forall y, ~~ H y -> P y = S y) ->
  \sum_(y | H y) P y = \sum_(y | H y) S y /\ TV P S <= \sum_(y | H y) S y.
Proof.
move=> P0 S0 ePS eH; split.
  move: ePS; rewrite (bigID H) /= [RHS](bigID H) /=.
  by rewrite (eq_bigr (P := fun y => ~~ H y) S) //; apply: addIr.
rewrite TV_pos // (bigID H) /= [X in _ + X]big1 ?addr0 => [|y /eH->]; last first.
  by rewrite subrr /pos maxxx.
by apply: ler_sum => y _; rewrite /pos le_maxl S0 andbT ler_subl_addr ler_addl.
Qed.
End TV.

Section Seq.
Variables (R : realFieldType) (V : finType).
Local Notation kernel := (kernel R V).
Variables (q s : kernel).
Hypotheses (mq : is_model q) (ms : is_model s).

Definition seqTV n := TV (fun t : n.-tuple V => law q [::] t) (fun t => law s [::] t).

(* 8.2(3): kernels equal outside a set Ov of prefixes *)
Definition hits (Ov : pred (seq V)) (t : seq V) := has (fun l => Ov (take l t)) (iota 0 (size t)).

Lemma law_nohit Ov t : (forall h, ~~ Ov h -> q h = s h) ->
  ~~ hits Ov t -> law q [::] t = law s [::] t.
Proof.
move=> off; elim/last_ind: t => [//|t y IH]; rewrite /hits size_rcons => /hasPn nh.
rewrite !law_rcons IH.
  rewrite off //; have := nh (size t); rewrite mem_iota add0n ltnSn /= -cats1 take_size_cat //.
  exact.
apply/hasPn => l; rewrite mem_iota add0n /= => lt.
have := nh l; rewrite mem_iota add0n ltnS (ltnW lt) /= -cats1 takel_cat ?(ltnW lt) //.
exact.
Qed.

Theorem overlap_bound Ov n : (forall h, ~~ Ov h -> q h = s h) ->
  \sum_(t : n.-tuple V | hits Ov t) law q [::] t = \sum_(t : n.-tuple V | hits Ov t) law s [::] t
  /\ seqTV n <= \sum_(t : n.-tuple V | hits Ov t) law s [::] t.
Proof.
move=> off; apply: TV_off => [t|t||t]; try exact: law_ge0; first by rewrite !law_sum1.
exact: law_nohit.
Qed.

(* 8.2(2): TV <= E_S sum_t d, in recursive form *)
Definition d h := TV (q h) (s h).
Fixpoint Ed n h := if n is n'.+1 then d h + \sum_y s h y * Ed n' (rcons h y) else 0.
Definition m : kernel := fun h => [ffun y => Num.min (q h y) (s h y)].

Lemma min_pos (a b : R) : Num.min a b = b - pos (b - a).
Proof.
rewrite /pos; case: (lerP b a) => ba.
  by rewrite max_r ?subr_le0 // subr0.
by rewrite max_l ?subr_ge0 ?(ltW ba) // opprB addrC subrK.
Qed.

Lemma m_sum h : \sum_y m h y = 1 - d h.
Proof.
rewrite /d TV_pos ?(mq h).2 ?(ms h).2 // -(ms h).2 -sumrB.
by apply: eq_bigr => y _; rewrite ffunE min_pos.
Qed.

Lemma law_m h t : law m h t <= Num.min (law q h t) (law s h t).
Proof.
elim: t h => [|y t IH] h /=; first by rewrite le_minr lexx.
have q0 := (mq h).1 y; have s0 := (ms h).1 y.
have m0 : 0 <= m h y by rewrite ffunE le_minr q0.
have /andP[lq ls] : (law m (rcons h y) t <= law q (rcons h y) t) && (law m (rcons h y) t <= law s (rcons h y) t).
  by rewrite -le_minr.
have l0 : 0 <= law m (rcons h y) t.
  elim: (t) (rcons h y) => [|z u IHu] g /=; first exact: ler01.
  by rewrite mulr_ge0 // ffunE le_minr (mq g).1 (ms g).1.
by rewrite le_minr !ler_pmul //; rewrite ffunE le_minl lexx ?orbT.
Qed.

Lemma Ed_ge0 n h : 0 <= Ed n h.
Proof.
elim: n h => [|n IH] h //=; rewrite addr_ge0 //.
  by rewrite /d /TV mulr_ge0 ?invr_ge0 ?ler0n // sumr_ge0.
by rewrite sumr_ge0 // => y _; rewrite mulr_ge0 // (ms h).1.
Qed.

Lemma law_m_sum n h : 1 - \sum_(t : n.-tuple V) law m h t <= Ed n h.
Proof.
elim: n h => [|n IH] h /=.
  by rewrite (big_pred1 [tuple]) ?subrr // => t /=; apply/esym/eqP; rewrite (tuple0 t).
rewrite (big_tuple_cons _ (law m h)) /=.
under eq_bigr do rewrite -mulr_sumr.
rewrite ler_subl_addr -ler_subl_addl.
apply: (@le_trans _ _ (\sum_y m h y - \sum_y m h y * Ed n (rcons h y))).
  rewrite m_sum opprD addrA ler_add2l ler_opp2; apply: ler_sum => y _.
  by rewrite ler_wpmul2r ?Ed_ge0 // ffunE le_minl lexx orbT.
rewrite -sumrB; apply: ler_sum => y _; rewrite -[X in X - _]mulr1 -mulrBr ler_wpmul2l //.
  by rewrite ffunE le_minr (mq h).1 (ms h).1.
by rewrite ler_subl_addr -ler_subl_addl IH.
Qed.

Theorem TV_sum n : seqTV n <= Ed n [::].
Proof.
apply: le_trans (law_m_sum n [::]); rewrite /seqTV TV_pos; last by rewrite !law_sum1.
rewrite -(law_sum1 [::] n ms) -sumrB; apply: ler_sum => t _.
have := law_m [::] t; rewrite min_pos; set a := pos _ => H.
by rewrite ler_subr_addl -ler_subr_addr; exact: H.
Qed.
End Seq.
