(* theory.md 8: total variation, the direct TV certificate, Theorem 8.2 (2), (3) and (5) for two kernels q and s, of which q
   need only be normalised where it reaches (a composition without dead prefixes). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section TV.
Variables (R : realFieldType) (O : finType).
Implicit Types (P S : O -> R).

(* "`TV` is half L1" (0.1) *)
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

Lemma TV_ge0 P S : 0 <= TV P S.
Proof. by rewrite mulr_ge0 ?invr_ge0 ?ler0n ?sumr_ge0. Qed.

Lemma TV_eq0 P S : P =1 S -> TV P S = 0.
Proof. by move=> e; rewrite /TV big1 ?mulr0 // => y _; rewrite e subrr normr0. Qed.

Lemma TV_event_le P S (G : pred O) : \sum_y P y = \sum_y S y ->
  \sum_(y | G y) S y - \sum_(y | G y) P y <= TV P S.
Proof.
move=> ePS; rewrite TV_pos // -sumrB [leRHS](bigID G) /= -[leLHS]addr0 ler_add //.
  by apply: ler_sum => y _; rewrite le_maxr lexx.
by apply: sumr_ge0 => y _; rewrite le_maxr lexx orbT.
Qed.

(* 8.2 (5): "|P^(G) - S(G)| <= TV" *)
Lemma TV_event P S (G : pred O) : \sum_y P y = \sum_y S y ->
  `|\sum_(y | G y) P y - \sum_(y | G y) S y| <= TV P S.
Proof.
move=> e; rewrite ler_norml ler_oppl opprB TV_event_le //= TVC TV_event_le //.
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

(* E_r sum_{t<n} D(y_<t), started at h *)
Definition Esteps (r : kernel) (D : seq V -> R) n h :=
  \sum_(t : n.-tuple V) law r h t * \sum_(l < n) D (h ++ take l t).

Lemma EstepsS (r : kernel) (D : seq V -> R) n h : model_from r h n.+1 ->
  Esteps r D n.+1 h = D h + \sum_y r h y * Esteps r D n (rcons h y).
Proof.
move=> mr; rewrite /Esteps.
rewrite (big_tuple_cons n (fun t => law r h t * \sum_(l < n.+1) D (h ++ take l t))) /=.
have -> : D h = \sum_y r h y * D h.
  have [_ s1] : is_dist (r h) by have := mr [::]; rewrite cats0; apply; rewrite ?oner_neq0.
  by rewrite -mulr_suml s1 mul1r.
rewrite -big_split; apply: eq_bigr => y _ /=; have [->|ry] := eqVneq (r h y) 0.
  by rewrite !mul0r addr0 big1 // => t _; rewrite !mul0r.
have s1 := law_sum1_from (model_fromS mr ry).
rewrite -{1}[D h]mul1r -s1 mulr_suml -mulrDr -big_split mulr_sumr /=; apply: eq_bigr => t _.
rewrite big_ord_recl take0 cats0 -mulrDr -mulrA; congr (_ * (_ * (_ + _))).
by apply: eq_bigr => l _; rewrite cat_rcons.
Qed.

Lemma Esteps_ge0 (r : kernel) (D : seq V -> R) n h : (forall h y, 0 <= r h y) -> (forall h, 0 <= D h) -> 0 <= Esteps r D n h.
Proof.
move=> r0 D0; apply: sumr_ge0 => t _; rewrite mulr_ge0 ?sumr_ge0 //.
by elim: (tval t) h => [|y u IH] h /=; rewrite ?ler01 ?mulr_ge0.
Qed.

Variables (q s : kernel) (n : nat).
Hypotheses (q0 : forall h y, 0 <= q h y) (mq : model_from q [::] n) (ms : is_model s).
Let s0 h y : 0 <= s h y. Proof. by case: (ms h). Qed.

Definition seqTV := TV (fun t : n.-tuple V => law q [::] t) (fun t => law s [::] t).

Lemma law_q_ge0 h t : 0 <= law q h t.
Proof. by elim: t h => [|y u IH] h /=; rewrite ?ler01 ?mulr_ge0. Qed.

Lemma laws_sum : \sum_(t : n.-tuple V) law q [::] t = \sum_(t : n.-tuple V) law s [::] t.
Proof. by rewrite (law_sum1_from mq) law_sum1. Qed.

(* ---- 8.2 (3): kernels equal outside a set Ov of prefixes ---- *)
Definition hits (Ov : pred (seq V)) (t : seq V) := has (fun l => Ov (take l t)) (iota 0 (size t)).

Lemma law_nohit Ov t : (size t <= n)%N ->
  (forall h, (size h < n)%N -> reach q h -> ~~ Ov h -> q h = s h) ->
  ~~ hits Ov t -> law q [::] t = law s [::] t.
Proof.
move=> + off; elim/last_ind: t => [//|t y IH]; rewrite /hits size_rcons => tn /hasPn nh.
have IHt : law q [::] t = law s [::] t.
  apply: (IH (ltnW tn)); apply/hasPn => l; rewrite mem_iota add0n /= => lt.
  have := nh l; rewrite mem_iota add0n ltnS (ltnW lt) /= -cats1 takel_cat ?(ltnW lt) //.
  exact.
rewrite !law_rcons -IHt; have [->|rt] := eqVneq (law q [::] t) 0; first by rewrite !mul0r.
rewrite off //; have := nh (size t); rewrite mem_iota add0n ltnSn /= -cats1 take_size_cat //.
exact.
Qed.

(* 8.2 (3): "if p^ = s outside a set O of prefixes, P^(hit O) = S(hit O) =: q and TV <= q" (asked on R^ only) *)
Theorem overlap_bound Ov : (forall h, (size h < n)%N -> reach q h -> ~~ Ov h -> q h = s h) ->
  \sum_(t : n.-tuple V | hits Ov t) law q [::] t = \sum_(t : n.-tuple V | hits Ov t) law s [::] t
  /\ seqTV <= \sum_(t : n.-tuple V | hits Ov t) law s [::] t.
Proof.
move=> off; apply: TV_off => [t|t||t]; [exact: law_q_ge0|exact: law_ge0|exact: laws_sum|].
by apply: law_nohit; rewrite ?size_tuple.
Qed.

(* ---- 8.2 (2) ---- *)
(* "at prefixes outside R^ d counts as 0" *)
Definition d h := if reach q h then TV (q h) (s h) else 0.
(* prod_t min(1, q/s) along the path *)
Fixpoint path_min h (t : seq V) : R :=
  if t is y :: t' then Num.min 1 (q h y / s h y) * path_min (rcons h y) t' else 1.
(* the kernel of minima, whose law is the mass that a coupling step by step keeps together *)
Definition m : kernel := fun h => [ffun y => Num.min (q h y) (s h y)].

Lemma min_pos (a b : R) : Num.min a b = b - pos (b - a).
Proof.
rewrite /pos; case: (lerP b a) => ba.
  by rewrite max_r ?subr_le0 // subr0.
by rewrite max_l ?subr_ge0 ?(ltW ba) // opprB addrC subrK.
Qed.

Lemma m_ge0 h y : 0 <= m h y. Proof. by rewrite ffunE le_minr q0 s0. Qed.
Lemma m_le_q h y : m h y <= q h y. Proof. by rewrite ffunE le_minl lexx. Qed.
Lemma m_le_s h y : m h y <= s h y. Proof. by rewrite ffunE le_minl lexx orbT. Qed.
Lemma law_m_ge0 h t : 0 <= law m h t.
Proof. by elim: t h => [|y u IH] h /=; rewrite ?ler01 ?mulr_ge0 ?m_ge0. Qed.

Lemma d_ge0 h : 0 <= d h. Proof. by rewrite /d; case: ifP => // _; apply: TV_ge0. Qed.

Lemma m_sum h : (size h < n)%N -> reach q h -> \sum_y m h y = 1 - d h.
Proof.
move=> hn rh; have [_ qs] := mq hn rh; have [_ ss] := ms h.
rewrite /d rh TV_pos ?qs ?ss //= -ss -sumrB.
by apply: eq_bigr => y _; rewrite ffunE min_pos.
Qed.

Lemma law_path_min h t : law s h t * path_min h t = law m h t.
Proof.
elim: t h => [|y t IH] h /=; first by rewrite mulr1.
rewrite mulrACA IH ffunE; congr (_ * _).
have [->|sn] := eqVneq (s h y) 0; first by rewrite mul0r min_r.
by rewrite minr_pmulr // mulr1 mulrCA divff // mulr1 minC.
Qed.

Lemma law_m h t : law m h t <= Num.min (law q h t) (law s h t).
Proof.
elim: t h => [|y t IH] h /=; first by rewrite le_minr lexx.
have /andP[lq ls] : (law m (rcons h y) t <= law q (rcons h y) t) && (law m (rcons h y) t <= law s (rcons h y) t).
  by rewrite -le_minr.
by rewrite le_minr !ler_pmul ?m_ge0 ?law_m_ge0 ?m_le_q ?m_le_s.
Qed.

Lemma law_m_sum (r : kernel) k h : (forall h y, 0 <= r h y) -> (forall h y, m h y <= r h y) ->
  (size h + k <= n)%N -> reach q h -> model_from r h k ->
  1 - \sum_(t : k.-tuple V) law m h t <= Esteps r d k h.
Proof.
move=> r0 mr; elim: k h => [|k IH] h hn rh modr.
  by rewrite (sum_tuple0 (law m h)) subrr; apply: Esteps_ge0 => // g; apply: d_ge0.
have hlt : (size h < n)%N by apply: leq_trans hn; rewrite addnS ltnS leq_addr.
rewrite EstepsS // (big_tuple_cons k (law m h)) /=.
under eq_bigr do rewrite -mulr_sumr.
rewrite ler_subl_addr -ler_subl_addl.
apply: (@le_trans _ _ (\sum_y m h y - \sum_y m h y * Esteps r d k (rcons h y))).
  rewrite (m_sum hlt rh) opprD addrA ler_add2l ler_opp2; apply: ler_sum => y _.
  by rewrite ler_wpmul2r // Esteps_ge0 // => g; apply: d_ge0.
rewrite -sumrB; apply: ler_sum => y _; rewrite -[X in X - _]mulr1 -mulrBr.
have [->|my] := eqVneq (m h y) 0; first by rewrite !mul0r.
rewrite ler_wpmul2l ?m_ge0 // ler_subl_addr -ler_subl_addl.
have m0 : 0 < m h y by rewrite lt_def my m_ge0.
apply: IH; first by rewrite size_rcons addSnnS.
  by rewrite reach_rcons rh gt_eqF // (lt_le_trans m0) // m_le_q.
by apply: model_fromS modr _; rewrite gt_eqF // (lt_le_trans m0).
Qed.

(* 8.2 (2): "TV(P^,S) = E_S (1 - P^/S)_+ <= 1 - E_S prod_t min(1, p^/s) <= E_S sum_t d, and <= E_{P^} sum_t d" *)
Theorem TV_mean : seqTV = \sum_(t : n.-tuple V) law s [::] t * pos (1 - law q [::] t / law s [::] t).
Proof. by rewrite TV_certificate ?laws_sum // => t; [apply: law_q_ge0|apply: law_ge0]. Qed.

Theorem TV_coupling : seqTV <= 1 - \sum_(t : n.-tuple V) law s [::] t * path_min [::] t.
Proof.
rewrite /seqTV TV_pos ?laws_sum // -{1}(law_sum1 [::] n ms) -sumrB; apply: ler_sum => t _.
have := law_m [::] t; rewrite law_path_min min_pos; set a := pos _ => H.
by rewrite ler_subr_addl -ler_subr_addr; exact: H.
Qed.

Theorem coupling_steps_s : 1 - \sum_(t : n.-tuple V) law s [::] t * path_min [::] t <= Esteps s d n [::].
Proof.
under eq_bigr do rewrite law_path_min; by apply: law_m_sum => //; rewrite ?reach0 // => *; apply: m_le_s.
Qed.

Theorem coupling_steps_q : 1 - \sum_(t : n.-tuple V) law s [::] t * path_min [::] t <= Esteps q d n [::].
Proof.
under eq_bigr do rewrite law_path_min; by apply: law_m_sum => //; rewrite ?reach0 // => *; apply: m_le_q.
Qed.

(* a bound on every step of R^ *)
Lemma TV_steps tau : (forall h, (size h < n)%N -> reach q h -> TV (q h) (s h) <= tau) ->
  seqTV <= n%:R * tau.
Proof.
move=> dt; apply: le_trans TV_coupling _; apply: le_trans coupling_steps_q _.
have -> : n%:R * tau = \sum_(t : n.-tuple V) law q [::] t * (n%:R * tau).
  by rewrite -mulr_suml (law_sum1_from mq) mul1r.
apply: ler_sum => t _; have [->|rt] := eqVneq (law q [::] t) 0; first by rewrite !mul0r.
rewrite ler_wpmul2l ?law_q_ge0 //; apply: (@le_trans _ _ (\sum_(l < n) tau)); last first.
  by rewrite sumr_const card_ord mulr_natl.
apply: ler_sum => l _ /=; have rl : reach q (take l t).
  by apply: (@reach_cat _ _ _ _ (drop l t)); rewrite cat_take_drop.
by rewrite /d rl dt // size_takel ?size_tuple ?ltn_ord // ltnW.
Qed.
End Seq.
