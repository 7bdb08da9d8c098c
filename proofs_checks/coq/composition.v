(* theory.md 1.1-1.3, the composition operator: null-token conventions, local and global composition; then 4.1, JF-pt and the
   switching model.
   One composition step is written for a weight `w` (`wdrop` or `wcancel` below), kernels and paths are built from it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Definition 1.3 (null-token conventions); capitals, because `cancel` and `drop` are words of MathComp *)
Inductive convention := Strict | Drop | Cancel.

Section Compose.
Variables (R : realFieldType) (V I : finType).
Local Notation dist := (dist R V).
Local Notation kernel := (kernel R V).

(* ---- one step: the background's row b and the experts' rows p at a prefix ---- *)
Section OneStep.
Implicit Types (b : dist) (p : I -> dist) (c : convention).

(* "At a token with p_b(y|h) = 0 let D = {i : p_i(y|h) > 0}" *)
Definition opening p y := [set i | p i y != 0%R].
(* the table of 1.3, literally; None is an error cell *)
Definition cell c b p y : option R :=
  if b y != 0 then Some (b y * \prod_i (p i y / b y))
  else match c, #|opening p y| with
  | _, 0%N => Some 0
  | Strict, _ => None
  | Drop, _ => Some 0
  | Cancel, 1%N => Some (\sum_(i in opening p y) p i y)
  | Cancel, _ => None
  end.
(* no error at this prefix *)
Definition valid c b p := forall y, cell c b p y.

(* AC: p_i << p_b for all i *)
Definition AC b p := forall i y, b y = 0 -> p i y = 0.

(* The weights as total functions.  As x / 0 = 0, this single formula is `drop`, and `strict` where that is valid. *)
Definition wdrop b p y : R := b y * \prod_i (p i y / b y).
(* `cancel`, with its error cells mapped to 0.  The other tokens of such a prefix keep their weights, and their edges: R^, and
   the reachable states of automata.v, can be larger here than where a prefix with an error has no successors (`valid`).  Whether
   JF-pt holds is the same, as two experts deviate where a cell is an error. *)
Definition wcancel b p y : R :=
  if b y == 0 then (if (#|[set i | p i y != 0%R]| <= 1)%N then \sum_i p i y else 0)
  else wdrop b p y.
Definition cancel_ok b p := forall y, b y = 0 -> (#|[set i | p i y != 0%R]| <= 1)%N.
Definition weight c := if c is Cancel then wcancel else wdrop.

(* at a null token that nobody opens, or one expert *)
Lemma opening0 p y : #|opening p y| = 0%N -> forall i, p i y = 0.
Proof.
by move/eqP; rewrite cards_eq0 => /eqP/setP e i; have := e i; rewrite !inE => /negbFE/eqP.
Qed.

Lemma sum_opening p y : \sum_(i in opening p y) p i y = \sum_i p i y.
Proof.
rewrite big_mkcond; apply: eq_bigr => i _; rewrite inE.
by case: eqP => // ->.
Qed.

(* the total functions are the table wherever the table has a value *)
Lemma cell_weight c b p y : valid c b p -> cell c b p y = Some (weight c b p y).
Proof.
move/(_ y); rewrite /cell; have [b0|bn] /= := eqVneq (b y) 0; last first.
  by case: c => //= _; rewrite /wcancel (negPf bn).
have wd0 : wdrop b p y = 0 by rewrite /wdrop b0 mul0r.
case: c => /=; rewrite ?wd0; try by case: #|_|.
rewrite /wcancel b0 eqxx -/(opening p y); case e: #|opening p y| => [|[|n]] //= _.
  by rewrite big1 // => i _; apply: (opening0 e).
by rewrite sum_opening.
Qed.

Lemma valid_strict b p : valid Strict b p <-> AC b p.
Proof.
split=> [v i y b0|ac y].
  have := v y; rewrite /cell b0 eqxx /=; case e: #|opening p y| => [|n] // _.
  exact: (opening0 e).
rewrite /cell; case: eqP => //= b0; suff -> : #|opening p y| = 0%N by [].
by apply/eqP; rewrite cards_eq0; apply/eqP/setP => i; rewrite !inE ac ?eqxx.
Qed.

Lemma valid_drop b p : valid Drop b p.
Proof. by move=> y; rewrite /cell; case: eqP => //= _; case: #|_|. Qed.

Lemma valid_cancel b p : valid Cancel b p <-> cancel_ok b p.
Proof.
split=> [v y b0|ok y].
  by have := v y; rewrite /cell b0 eqxx -/(opening p y) /=; case: #|opening p y| => [|[|n]].
rewrite /cell; case: eqP => //= b0; have := ok y b0.
by rewrite -/(opening p y); case: #|opening p y| => [|[|n]].
Qed.

(* under absolute continuity the three conventions are one *)
Lemma wcancel_AC b p : AC b p -> wcancel b p =1 wdrop b p.
Proof.
move=> ac y; rewrite /wcancel; case: eqP => // by0.
by rewrite /wdrop by0 mul0r big1 ?if_same // => i _; apply: ac.
Qed.

Lemma weight_AC c b p : AC b p -> weight c b p =1 wdrop b p.
Proof. by case: c => // /wcancel_AC. Qed.

Lemma wcancel_supp b p y : b y != 0 -> wcancel b p y = wdrop b p y.
Proof. by rewrite /wcancel => /negPf->. Qed.

Lemma wdrop_ge0 b p y : 0 <= b y -> (forall i, 0 <= p i y) -> 0 <= wdrop b p y.
Proof. by move=> b0 p0; rewrite mulr_ge0 // prodr_ge0 // => i _; rewrite divr_ge0. Qed.

Lemma weight_ge0 c b p y : is_dist b -> (forall i, is_dist (p i)) -> 0 <= weight c b p y.
Proof.
move=> [b0 _] dp; have p0 i : 0 <= p i y by case: (dp i).
have wd := wdrop_ge0 (b0 y) p0; case: c => //=; rewrite /wcancel.
by do 2![case: ifP => // _]; apply: sumr_ge0.
Qed.

(* sole deviator: no hypothesis at all under `cancel` *)
Lemma wcancel_sole b p i : (forall j, j != i -> p j = b) -> wcancel b p =1 p i.
Proof.
move=> sole y; rewrite /wcancel; case: eqP => [by0|/eqP byn0].
  rewrite (bigD1 i) //= big1 ?addr0 => [|j ji]; last by rewrite sole.
  rewrite ifT // -(cards1 i) subset_leq_card //; apply/subsetP => j.
  by rewrite !inE; apply: contraR => ji; rewrite sole // by0.
rewrite /wdrop (bigD1 i) //= big1 ?mulr1 => [|j ji]; last by rewrite sole ?divff.
by rewrite mulrCA divff ?mulr1.
Qed.

Lemma wcancel_none b p : (forall j, p j = b) -> wcancel b p =1 b.
Proof.
move=> none y; rewrite /wcancel; case: eqP => [by0|/eqP byn0].
  by rewrite by0 big1 ?if_same // => j _; rewrite none.
by rewrite /wdrop big1 ?mulr1 // => j _; rewrite none divff.
Qed.

Lemma wdrop_sole b p i : AC b p -> (forall j, j != i -> p j = b) -> wdrop b p =1 p i.
Proof. by move=> ac sole y; rewrite -(wcancel_AC ac) (wcancel_sole sole). Qed.

Lemma wdrop_none b p : (forall j, p j = b) -> wdrop b p =1 b.
Proof. by move=> none y; rewrite -(wcancel_AC _) ?wcancel_none // => i z; rewrite none. Qed.

(* what a sole deviator needs: nothing under `cancel`, absolute continuity under the other two (under `strict` it is
   validity: valid_strict) *)
Definition faithful c b p := if c is Cancel then True else AC b p.

Lemma weight_sole c b p i : faithful c b p -> (forall j, j != i -> p j = b) -> weight c b p =1 p i.
Proof. by case: c => [||_] /=; [apply: wdrop_sole|apply: wdrop_sole|apply: wcancel_sole]. Qed.

Lemma weight_none c b p : (forall j, p j = b) -> weight c b p =1 b.
Proof. by case: c => /=; [apply: wdrop_none|apply: wdrop_none|apply: wcancel_none]. Qed.

(* "`cancel` is the limit of setting p_b(y) and all other p_j(y) to a common eps -> 0": at every eps the weight is p_i(y) *)
Lemma cancel_limit b p y i eps : eps != 0 -> b y = eps -> (forall j, j != i -> p j y = eps) -> wdrop b p y = p i y.
Proof.
move=> en be pe; rewrite /wdrop be (bigD1 i) //= big1 ?mulr1 => [|j ji]; last by rewrite pe ?divff.
by rewrite mulrCA divff ?mulr1.
Qed.
(* ... and to 0 where nobody opens the token: there the weight is eps *)
Lemma cancel_limit0 b p y eps : eps != 0 -> b y = eps -> (forall j, p j y = eps) -> wdrop b p y = eps.
Proof. by move=> en be pe; rewrite /wdrop be big1 ?mulr1 // => j _; rewrite pe divff. Qed.

(* "k = 1: `cancel` gives p^ = p_1 always" (before normalisation; definition_1_3_single below) *)
Lemma wcancel_single b p i : (forall j, j = i) -> wcancel b p =1 p i.
Proof. by move=> one; apply: wcancel_sole => j; rewrite (one j) eqxx. Qed.

End OneStep.

(* ---- kernels ---- *)
Implicit Types (b : kernel) (p : I -> kernel).
Variable (w : dist -> (I -> dist) -> V -> R).   (* wdrop or wcancel *)
(* Definition 1.1 (local): w(y|h), Z(h) = sum_y w(y|h), p^(y|h) = w(y|h) / Z(h) *)
Definition Z (b : dist) (p : I -> dist) := \sum_y w b p y.
Definition norm (b : dist) (p : I -> dist) : dist := [ffun y => w b p y / Z b p].
Definition comp (b : kernel) (p : I -> kernel) : kernel :=
  fun h => norm (b h) (fun i => p i h).
Definition wk (b : kernel) (p : I -> kernel) h y := w (b h) (fun i => p i h) y.
Definition Zk (b : kernel) (p : I -> kernel) h := Z (b h) (fun i => p i h).

Lemma compE b p h y : comp b p h y = wk b p h y / Zk b p h. Proof. by rewrite ffunE. Qed.

(* "R^ = the smallest set with 0 in R^ and hy in R^ whenever h in R^, w(y|h) > 0, |hy| < T; it includes dead prefixes" *)
Inductive composition_reach T b p : seq V -> Prop :=
| empty_reached : (0 < T)%N -> composition_reach T b p [::]
| token_reached h y : composition_reach T b p h -> 0 < wk b p h y -> (size (rcons h y) < T)%N ->
    composition_reach T b p (rcons h y).
(* the same set, as a boolean: what the local sampler can reach (RhatP) *)
Definition Rhat T b p : pred (seq V) := fun h => (size h < T)%N && reach (comp b p) h.
Definition dead b p h := Zk b p h == 0.

(* Definition 1.2 (global): W is the product of the weights along the path, P_G = W / Z_G *)
Fixpoint W (b : kernel) (p : I -> kernel) (h s : seq V) : R :=
  if s is y :: s' then wk b p h y * W b p (rcons h y) s' else 1.
Definition ZG b p T := \sum_(y : T.-tuple V) W b p [::] y.
Definition PG b p T (y : seq V) := W b p [::] y / ZG b p T.
(* product of Z along the path: e^{S(y)} of Theorem 1.5 *)
Fixpoint pathZ (b : kernel) (p : I -> kernel) (h s : seq V) : R :=
  if s is y :: s' then Zk b p h * pathZ b p (rcons h y) s' else 1.

Lemma W_rcons b p h s y : W b p h (rcons s y) = W b p h s * wk b p (h ++ s) y.
Proof.
elim: s h => [|z s IH] h /=; first by rewrite mulr1 mul1r cats0.
by rewrite IH mulrA cat_rcons.
Qed.

Lemma W_cat b p h s t : W b p h (s ++ t) = W b p h s * W b p (h ++ s) t.
Proof.
elim: s h => [|z s IH] h /=; first by rewrite mul1r cats0.
by rewrite IH mulrA cat_rcons.
Qed.

Lemma pathZ_rcons b p h s y : pathZ b p h (rcons s y) = pathZ b p h s * Zk b p (h ++ s).
Proof. by elim: s h => [|z s IH] h /=; rewrite ?mulr1 ?mul1r ?cats0 // IH mulrA cat_rcons. Qed.

(* "evaluated up to its first zero factor": what comes after it does not count *)
Lemma W_zero b p s y u : wk b p s y = 0 -> W b p [::] (s ++ y :: u) = 0.
Proof. by move=> e; rewrite W_cat /= e mul0r mulr0. Qed.

Section Nonnegative.
Variables (b : kernel) (p : I -> kernel).
Hypothesis w0 : forall h y, 0 <= wk b p h y.

Lemma Zk_ge0 h : 0 <= Zk b p h. Proof. by apply: sumr_ge0 => y _; apply: w0. Qed.
Lemma W_ge0 h s : 0 <= W b p h s.
Proof. by elim: s h => [|y s IH] h /=; rewrite ?ler01 ?mulr_ge0. Qed.
Lemma comp_ge0 h y : 0 <= comp b p h y. Proof. by rewrite compE divr_ge0 ?Zk_ge0. Qed.

Lemma dead_weight h : Zk b p h = 0 -> wk b p h =1 fun=> 0.
Proof. by move=> z y; apply: (psumr_eq0P (fun u _ => w0 h u) z). Qed.

Lemma comp_neq0 h y : (comp b p h y != 0) = (wk b p h y != 0).
Proof.
rewrite compE mulf_eq0 invr_eq0 negb_or; have [z|] := eqVneq (Zk b p h) 0; last by rewrite andbT.
by rewrite dead_weight ?eqxx.
Qed.

Lemma reach_comp h : reach (comp b p) h = (W b p [::] h != 0).
Proof.
elim/last_ind: h => [|h y IH]; first by rewrite reach0 oner_neq0.
by rewrite reach_rcons W_rcons IH comp_neq0 mulf_eq0 negb_or.
Qed.

Lemma RhatP T h : reflect (composition_reach T b p h) (Rhat T b p h).
Proof.
apply: (iffP andP) => [[]|]; last first.
  elim=> [T0|g y _ [_ rg] wy gT]; first by rewrite reach0.
  by rewrite gT reach_rcons rg comp_neq0 gt_eqF.
elim/last_ind: h => [T0 _|h y IH hT]; first exact: empty_reached.
rewrite reach_rcons comp_neq0 => /andP[rh wy]; apply: token_reached => //; last by rewrite lt_def wy w0.
by apply: IH => //; apply: leq_trans hT; rewrite size_rcons.
Qed.

Lemma comp_alive h : Zk b p h != 0 -> is_dist (comp b p h).
Proof.
move=> zn; split=> [y|]; first exact: comp_ge0.
under eq_bigr do rewrite compE; by rewrite -mulr_suml divff.
Qed.

(* the mass that is still alive after n more steps, and the probability of meeting a dead prefix within them *)
Definition dead_mass n h := \sum_(l < n) \sum_(t : l.-tuple V | dead b p (h ++ t)) law (comp b p) h t.

Lemma dead_massS n h : dead_mass n.+1 h =
  if dead b p h then 1 else \sum_y comp b p h y * dead_mass n (rcons h y).
Proof.
pose F g t := if dead b p (g ++ t) then law (comp b p) g t else 0.
have E l g : \sum_(t : l.-tuple V | dead b p (g ++ t)) law (comp b p) g t = \sum_(t : l.-tuple V) F g t.
  exact: big_mkcond.
have S l : \sum_(t : l.+1.-tuple V) F h t = \sum_y comp b p h y * \sum_(t : l.-tuple V) F (rcons h y) t.
  rewrite (big_tuple_cons l (F h)); apply: eq_bigr => y _; rewrite mulr_sumr; apply: eq_bigr => t _.
  by rewrite /F cat_rcons /=; case: ifP => _; rewrite ?mulr0.
rewrite /dead_mass big_ord_recl E (sum_tuple0 (F h)) {1}/F cats0 /=.
under eq_bigr do rewrite E S.
rewrite exchange_big /=; under [X in _ + X]eq_bigr do rewrite -mulr_sumr -(eq_bigr _ (fun l _ => E _ _)).
case: ifP => [/eqP d|_]; last by rewrite add0r.
by rewrite big1 ?addr0 // => y _; rewrite compE dead_weight // mul0r mul0r.
Qed.

(* Definition 1.1: "its missing mass is the dead-prefix probability" *)
Theorem definition_1_1_missing_mass T :
  1 - \sum_(y : T.-tuple V) law (comp b p) [::] y = dead_mass T [::].
Proof.
elim: T [::] => [|n IH] h; first by rewrite (sum_tuple0 (law _ h)) subrr /dead_mass big_ord0.
rewrite dead_massS (big_tuple_cons n (law _ h)) /=; under eq_bigr do rewrite -mulr_sumr.
case: ifP => [/eqP d|/negbT zn].
  by rewrite big1 ?subr0 // => y _; rewrite compE dead_weight // mul0r mul0r.
rewrite -(comp_alive zn).2 -sumrB; apply: eq_bigr => y _.
by rewrite -IH mulrBr mulr1.
Qed.

(* Definition 1.1: "P_L is a law iff R^ has no dead prefix" *)
Theorem definition_1_1_law T : \sum_(y : T.-tuple V) law (comp b p) [::] y = 1 <->
  forall h, Rhat T b p h -> ~~ dead b p h.
Proof.
have law0 h : 0 <= law (comp b p) [::] h.
  by elim/last_ind: h => [|h y IH]; rewrite ?ler01 // law_rcons mulr_ge0 ?comp_ge0.
have -> : \sum_(y : T.-tuple V) law (comp b p) [::] y = 1 - dead_mass T [::].
  by rewrite -definition_1_1_missing_mass opprB addrC subrK.
split=> [/eqP|alive]; last first.
  rewrite [dead_mass _ _]big1 ?subr0 // => l _; apply: big1 => t dt; apply/eqP; apply: contraTT dt => rt.
  by apply: alive; rewrite /Rhat /reach size_tuple ltn_ord.
rewrite -subr_eq0 addrAC subrr add0r oppr_eq0 => /eqP e h /andP[hT rh].
  apply/negP => dh; move: rh; rewrite /reach; apply/negP; rewrite negbK.
  have inner l : 0 <= \sum_(t : l.-tuple V | dead b p ([::] ++ t)) law (comp b p) [::] t by apply: sumr_ge0.
  have el : \sum_(t : (size h).-tuple V | dead b p ([::] ++ t)) law (comp b p) [::] t = 0.
    exact: (psumr_eq0P (fun (l : 'I_T) _ => inner l) e (i := Ordinal hT) isT).
  have lh : law (comp b p) [::] (in_tuple h) = 0; first exact: (psumr_eq0P (fun t _ => law0 (tval t)) el (i := in_tuple h) dh).
  by rewrite /= in lh; rewrite lh eqxx.
Qed.

End Nonnegative.

(* 1.5 (1), unnormalised: W = P_L * prod Z *)
Lemma W_law b p h s :
  (forall t y u, s = t ++ y :: u -> Zk b p (h ++ t) != 0) ->
  W b p h s = law (comp b p) h s * pathZ b p h s.
Proof.
elim: s h => [|y s IH] h nz /=; first by rewrite mul1r.
rewrite IH => [|t z u es]; last first.
  by rewrite cat_rcons; apply: (nz (y :: t) z u); rewrite es.
rewrite mulrACA; congr (_ * _); rewrite /comp ffunE /wk divfK //.
by have := nz [::] y s erefl; rewrite cats0.
Qed.

(* Definition 4.1 (JF-pt), the switching model *)
Definition dev (b : kernel) (p : I -> kernel) i h := p i h != b h.
Definition jf_pt (b : kernel) (p : I -> kernel) (S : pred (seq V)) :=
  forall h, S h -> forall i j, dev b p i h -> dev b p j h -> i = j.
Definition assign (b : kernel) (p : I -> kernel) h := [pick i | dev b p i h].
Definition switch (b : kernel) (p : I -> kernel) : kernel :=
  fun h => if assign b p h is Some i then p i h else b h.

Lemma switch_model (b : kernel) (p : I -> kernel) :
  is_model b -> (forall i, is_model (p i)) -> is_model (switch b p).
Proof. by move=> mb mp h; rewrite /switch; case: assign => [i|]; [apply: mp|apply: mb]. Qed.

End Compose.

(* the weights are nonnegative, the composition's kernels sum to one where they are alive *)
Lemma wk_ge0 (R : realFieldType) (V I : finType) c (b : kernel R V) (p : I -> kernel R V) h y :
  is_model b -> (forall i, is_model (p i)) -> 0 <= wk (@weight R V I c) b p h y.
Proof. by move=> mb mp; apply: weight_ge0 => // i; apply: mp. Qed.

(* 1.3: "k = 1: `cancel` gives p^ = p_1 always" *)
Theorem definition_1_3_single (R : realFieldType) (V I : finType) (b : dist R V) (p : I -> dist R V) i :
  (forall j, j = i) -> is_dist (p i) -> norm (@wcancel R V I) b p = p i.
Proof.
move=> one [_ p1]; have e := wcancel_single b p one; apply/ffunP => y.
by rewrite ffunE /Z (eq_bigr _ (fun z _ => e z)) p1 divr1 e.
Qed.

(* 1.3: "`strict` and `drop` are invariant under logit shifts": rows may be scaled *)
Theorem definition_1_3_shift (R : realFieldType) (V I : finType) (b : dist R V) (p : I -> dist R V) (k0 : R) (k : I -> R) :
  k0 != 0 -> (forall i, k i != 0) ->
  norm (@wdrop R V I) [ffun y => k0 * b y] (fun i => [ffun y => k i * p i y]) = norm (@wdrop R V I) b p.
Proof.
move=> k0n kn; pose K := k0 * \prod_i (k i / k0).
have Kn : K != 0.
  by rewrite mulf_neq0 //; apply/prodf_neq0 => i _; rewrite mulf_neq0 ?invr_eq0.
have e y : wdrop [ffun y => k0 * b y] (fun i => [ffun y => k i * p i y]) y = K * wdrop b p y.
  rewrite /wdrop ffunE mulrACA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
  by rewrite !ffunE invfM mulrACA.
apply/ffunP => y; rewrite !ffunE /Z (eq_bigr _ (fun z _ => e z)) e -mulr_sumr invfM mulrACA divff ?mul1r //.
Qed.
