(* theory.md 1.4 (support) and 1.5 (1)-(3), (5) (local vs global composition), under each of the three conventions. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section LocalGlobal.
Variables (R : realFieldType) (V I : finType) (c : convention).
Local Notation w := (@weight R V I c).
Variables (b : kernel R V) (p : I -> kernel R V) (T : nat).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation PL y := (law (comp w b p) [::] y).
Local Notation PG y := (PG w b p T y).
Local Notation ZG := (ZG w b p T).
Local Notation e_S y := (pathZ w b p [::] y).       (* e^{S(y)} = prod_t Z(y_<t) *)
Local Notation Rhat h := (Rhat w T b p h).

Let w0 h y : 0 <= wk w b p h y. Proof. exact: wk_ge0. Qed.

(* Theorem 1.5: "Assume strict validity and Z > 0 on R^".  Validity says that the weights are those of 1.3
   (cell_weight); the proofs do not need it. *)
Hypothesis alive : forall h, Rhat h -> Zk w b p h != 0.

Lemma comp_model : model_from (comp w b p) [::] T.
Proof.
move=> h hT rh /=; apply: comp_alive => //; apply: alive.
by rewrite /composition.Rhat hT.
Qed.

Lemma W_PL (y : seq V) : (size y <= T)%N -> W w b p [::] y = PL y * e_S y.
Proof.
elim/last_ind: y => [_|y v IH]; first by rewrite /= mulr1.
rewrite size_rcons => yT; rewrite W_rcons law_rcons pathZ_rcons IH ?(ltnW yT) //= mulrACA.
have [->|rn] := eqVneq (PL y) 0; first by rewrite !mul0r.
by rewrite compE divfK // alive // /composition.Rhat yT.
Qed.

Lemma e_S_gt0 (y : seq V) : (size y <= T)%N -> PL y != 0 -> 0 < e_S y.
Proof.
elim/last_ind: y => [|y v IH]; first by rewrite ltr01.
rewrite size_rcons -/(reach _ _) reach_rcons pathZ_rcons => yT /andP[ry _]; rewrite mulr_gt0 ?IH ?(ltnW yT) //.
by rewrite lt_def Zk_ge0 // andbT alive // /composition.Rhat yT.
Qed.

Lemma PL_ge0 (y : seq V) : 0 <= PL y.
Proof. by elim/last_ind: y => [|y v IH]; rewrite ?ler01 // law_rcons mulr_ge0 ?comp_ge0. Qed.

Lemma PL_sum1 : \sum_(y : T.-tuple V) PL y = 1.
Proof. exact: law_sum1_from comp_model. Qed.

(* 1.5 (1): "Z_G = E_{P_L} e^S" *)
Theorem theorem_1_5_1_mean : ZG = \sum_(y : T.-tuple V) PL y * e_S y.
Proof. by apply: eq_bigr => y _; rewrite W_PL ?size_tuple. Qed.

(* 1.2: "Z_G > 0" *)
Lemma ZG_gt0 : 0 < ZG.
Proof.
rewrite theorem_1_5_1_mean.
have [y yn] : exists y : T.-tuple V, PL y != 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP a.
  have := PL_sum1; rewrite big1 => [/eqP|y _]; first by rewrite eq_sym oner_eq0.
  by have := a y; rewrite negbK => /eqP.
rewrite (bigD1 y) //= ltr_paddr //; last by rewrite mulr_gt0 ?e_S_gt0 ?size_tuple // lt_def yn PL_ge0.
apply: sumr_ge0 => z _; have [->|zn] := eqVneq (PL z) 0; first by rewrite mul0r.
by rewrite mulr_ge0 ?PL_ge0 // ltW // e_S_gt0 ?size_tuple.
Qed.

(* 1.5 (1): "P_G(y) = P_L(y) e^{S(y)} / Z_G" *)
Theorem theorem_1_5_1 (y : T.-tuple V) : PG y = PL y * e_S y / ZG.
Proof. by rewrite /composition.PG W_PL ?size_tuple. Qed.

(* 1.5 (2): "P_G = P_L iff S is constant on supp P_L" (multiplicatively: its exponential, the path product of Z) *)
Theorem theorem_1_5_2 : (forall y : T.-tuple V, PG y = PL y) <->
  (exists k, forall y : T.-tuple V, PL y != 0 -> e_S y = k).
Proof.
have Gn : ZG != 0 by rewrite gt_eqF ?ZG_gt0.
split=> [e|[k ek]].
  exists ZG => y yn; have := e y; rewrite theorem_1_5_1 => /(canRL (divfK Gn)).
  exact: mulfI.
have Gk : ZG = k.
  rewrite theorem_1_5_1_mean -[RHS]mul1r -PL_sum1 mulr_suml; apply: eq_bigr => y _.
  by have [->|yn] := eqVneq (PL y) 0; rewrite ?mul0r // ek.
move=> y; rewrite theorem_1_5_1.
by have [->|yn] := eqVneq (PL y) 0; rewrite ?mul0r // ek // -Gk mulfK.
Qed.

Lemma e_S_length (h g : seq V) : size h = size g -> (size h <= T)%N -> PL h != 0 -> PL g != 0 ->
  (forall h g, Rhat h -> Rhat g -> size h = size g -> Zk w b p h = Zk w b p g) -> e_S h = e_S g.
Proof.
move=> + + + + byl; elim/last_ind: h g => [|h y IH] g; first by case: g.
case/lastP: g => [|g z]; rewrite !size_rcons // => -[hg] hT.
rewrite -!/(reach _ _) !reach_rcons !pathZ_rcons => /andP[rh _] /andP[rg _].
by rewrite (IH g) ?(ltnW hT) //= (byl h g) // /composition.Rhat ?rh ?rg -?hg hT.
Qed.

(* 1.5 (2): "Sufficient: Z(h) depends on |h| only" (on R^) *)
Theorem theorem_1_5_2_sufficient :
  (forall h g, Rhat h -> Rhat g -> size h = size g -> Zk w b p h = Zk w b p g) ->
  forall y : T.-tuple V, PG y = PL y.
Proof.
move=> byl; apply/theorem_1_5_2; have [y yn|none] := pickP [pred y : T.-tuple V | PL y != 0]; last first.
  by exists 0 => y yn; have := none y; rewrite /= yn.
by exists (e_S y) => z zn; apply: e_S_length => //; rewrite !size_tuple.
Qed.

(* 1.5 (3): "B(h) = sum over continuations of products of w (B = 1 at leaves; B(h) = sum_y w(y|h) B(hy))", n steps left *)
Definition B n h := \sum_(t : n.-tuple V) W w b p h t.

Theorem theorem_1_5_3_leaf h : B 0 h = 1. Proof. exact: sum_tuple0. Qed.
Theorem theorem_1_5_3_step n h : B n.+1 h = \sum_y wk w b p h y * B n (rcons h y).
Proof. by rewrite /B (big_tuple_cons n (W w b p h)); apply: eq_bigr => y _; rewrite mulr_sumr. Qed.

(* the global law of a prefix, and its conditionals *)
Definition PG_prefix h := \sum_(t : T.-tuple V | take (size h) t == h) PG t.
Definition pG h y := PG_prefix (rcons h y) / PG_prefix h.

Lemma W_cylinder n h s : (size s <= n)%N ->
  \sum_(t : n.-tuple V | take (size s) t == s) W w b p h t = W w b p h s * B (n - size s) (h ++ s).
Proof.
elim: s n h => [|y s IH] n h sn.
  by rewrite (eq_bigl predT) ?mul1r ?cats0 ?subn0 // => t; rewrite take0 eqxx.
case: n sn => // n sn; rewrite big_mkcond /=.
rewrite (big_tuple_cons n (fun t => if take (size s).+1 t == y :: s then W w b p h t else 0)) /=.
rewrite (bigD1 y) //= [X in _ + X]big1 ?addr0 => [|z zy]; last first.
  by rewrite big1 // => t _; rewrite eqseq_cons (negPf zy).
rewrite subSS -mulrA -cat_rcons -IH // mulr_sumr [RHS]big_mkcond; apply: eq_bigr => t _.
by rewrite eqseq_cons eqxx.
Qed.

Lemma PG_prefixE h : (size h <= T)%N -> PG_prefix h = W w b p [::] h * B (T - size h) h / ZG.
Proof. by move=> hT; rewrite /PG_prefix /composition.PG -mulr_suml W_cylinder. Qed.

Lemma B_gt0 h : (size h <= T)%N -> PL h != 0 -> 0 < B (T - size h) h.
Proof.
move=> hT; move en : (T - size h)%N => n; elim: n h hT en => [|n IH] h hT en rh.
  by rewrite theorem_1_5_3_leaf ltr01.
have hlt : (size h < T)%N by rewrite -subn_gt0 en.
have [_ /(congr1 (fun x => x != 0))] := comp_model hlt rh; rewrite oner_neq0 /= => /eqP s1.
have [y yn] : exists y, comp w b p h y != 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP a.
  by move: s1; rewrite big1 ?eqxx // => y _; have := a y; rewrite negbK => /eqP.
have B0 k g : 0 <= B k g by apply: sumr_ge0 => t _; apply: W_ge0.
rewrite theorem_1_5_3_step (bigD1 y) //= ltr_paddr ?sumr_ge0 // => [z _|]; first by rewrite mulr_ge0.
rewrite mulr_gt0 //; first by rewrite lt_def w0 andbT -comp_neq0.
apply: IH; rewrite ?size_rcons //; first by rewrite subnS en.
by rewrite -/(reach _ _) reach_rcons; apply/andP.
Qed.

(* 1.5 (3): "p_G(y|h) = p^(y|h) Z(h) B(hy) / B(h)", at every prefix the global law reaches *)
Theorem theorem_1_5_3 h y : Rhat h ->
  PG_prefix h != 0 /\
  pG h y = comp w b p h y * Zk w b p h * B (T - (size h).+1) (rcons h y) / B (T - size h) h.
Proof.
move=> Rh; have /andP[hT rh] := Rh; have Wn : W w b p [::] h != 0 by rewrite -reach_comp.
have Bn : B (T - size h) h != 0 by rewrite gt_eqF // B_gt0 // ltnW.
have Gn : ZG != 0 by rewrite gt_eqF ?ZG_gt0.
rewrite /pG !PG_prefixE ?size_rcons ?(ltnW hT) //; split; first by rewrite !mulf_neq0 ?invr_eq0.
rewrite W_rcons compE divfK ?alive // [X in _ / X]mulrC invfM invrK mulrA divfK //.
by rewrite -(mulrA (W _ _ _ _ _)) invfM mulrACA divff // mul1r.
Qed.

(* 1.5 (3): "Equality iff B(hy) is constant in y in supp p^(.|h) for all h in R^" *)
Theorem theorem_1_5_3_equality : (forall y : T.-tuple V, PG y = PL y) <->
  (forall h, Rhat h -> forall y z, comp w b p h y != 0 -> comp w b p h z != 0 ->
     B (T - (size h).+1) (rcons h y) = B (T - (size h).+1) (rcons h z)).
Proof.
have Gn : ZG != 0 by rewrite gt_eqF ?ZG_gt0.
split=> [e h /andP[hT rh] y z yn zn|cst].
  have BZ g : (size g <= T)%N -> PL g != 0 -> B (T - size g) g = ZG / e_S g.
    move=> gT gn; have en : e_S g != 0 by rewrite gt_eqF ?e_S_gt0.
    have := cylinder comp_model gT; rewrite -(eq_bigr _ (fun t _ => e t)) -/(PG_prefix g) PG_prefixE //.
    rewrite W_PL // -[X in _ = X]mulr1 -!mulrA => /(mulfI gn) /(canRL (mulKf en)).
    by rewrite mulr1 => /(canRL (divfK Gn)) ->; rewrite mulrC.
  have r u : comp w b p h u != 0 -> PL (rcons h u) != 0 by rewrite -/(reach _ _) reach_rcons rh.
  rewrite -[(size h).+1](size_rcons h y) BZ ?size_rcons ?r //.
  by rewrite -(size_rcons h z) BZ ?size_rcons ?r // !pathZ_rcons.
suff G h : (size h <= T)%N -> PL h != 0 -> e_S h * B (T - size h) h = ZG.
  by apply/theorem_1_5_2; exists ZG => y yn; rewrite -(G y) ?size_tuple // subnn theorem_1_5_3_leaf mulr1.
elim/last_ind: h => [_ _|h u IH]; first by rewrite mul1r subn0.
rewrite size_rcons -/(reach _ _) reach_rcons pathZ_rcons => hT /andP[rh un].
rewrite -(IH (ltnW hT) rh) -mulrA; congr (_ * _).
have -> : (T - size h = (T - (size h).+1).+1)%N by rewrite subnSK.
rewrite theorem_1_5_3_step (_ : Zk _ _ _ _ = \sum_v wk w b p h v) // mulr_suml; apply: eq_bigr => v _.
have [->|vn] := eqVneq (wk w b p h v) 0; first by rewrite !mul0r.
by congr (_ * _); apply: cst; [rewrite /composition.Rhat hT|apply: un|rewrite comp_neq0].
Qed.

End LocalGlobal.

Section Truncations.
Variables (R : realFieldType) (V I : finType) (c : convention).
Local Notation w := (@weight R V I c).
Variables (b : kernel R V) (p : I -> kernel R V) (T : nat).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Hypothesis alive : forall h, Rhat w T b p h -> Zk w b p h != 0.

Lemma Rhat_le n h : (n <= T)%N -> Rhat w n b p h -> Rhat w T b p h.
Proof. by move=> nT /andP[hn rh]; rewrite /Rhat rh (leq_trans hn nT). Qed.

(* 1.5 (2): "Equality at every truncation horizon T' <= T iff Z(h) depends on |h| only on R^" *)
Theorem theorem_1_5_2_truncations :
  (forall n, (n <= T)%N -> forall y : n.-tuple V, PG w b p n y = law (comp w b p) [::] y) <->
  (forall h g, Rhat w T b p h -> Rhat w T b p g -> size h = size g -> Zk w b p h = Zk w b p g).
Proof.
have al n : (n <= T)%N -> forall h, Rhat w n b p h -> Zk w b p h != 0.
  by move=> nT h /(Rhat_le nT)/alive.
split=> [e h g Rh Rg hg|byl n nT]; last first.
  by apply: theorem_1_5_2_sufficient (al n nT) _ => // h g /(Rhat_le nT) Rh /(Rhat_le nT); apply: byl.
have /andP[hT rh] := Rh; have /andP[_ rg] := Rg.
have [k kh] := (theorem_1_5_2 mb mp (al _ (ltnW hT))).1 (e _ (ltnW hT)).
have [k' kh'] := (theorem_1_5_2 mb mp (al _ hT)).1 (e _ hT).
have next f : Rhat w T b p f -> size f = size h -> pathZ w b p [::] f = k /\ k * Zk w b p f = k'.
  move=> Rf fh; have /andP[fT rf] := Rf.
  have pk : pathZ w b p [::] f = k.
    have /eqP sf := fh; exact: (kh (Tuple sf) rf).
  split=> //; have [y yn _] := dist_support (comp_model mb mp alive fT rf).
  have /eqP sy : size (rcons f y) = (size h).+1 by rewrite size_rcons fh.
  have := kh' (Tuple sy); rewrite /= -/(reach _ _) reach_rcons rf yn pathZ_rcons pk => <- //.
have kn : k != 0 by rewrite -(next h Rh erefl).1 gt_eqF // (e_S_gt0 mb mp alive) // ltnW.
by apply: (mulfI kn); rewrite (next h Rh erefl).2 (next g Rg (esym hg)).2.
Qed.
End Truncations.

(* 1.5 (5): "T = 1, or k = 1 under `strict` or `cancel`: always equal" *)
Theorem theorem_1_5_5_one_step (R : realFieldType) (V I : finType) c (b : kernel R V) (p : I -> kernel R V) T :
  is_model b -> (forall i, is_model (p i)) -> (T <= 1)%N ->
  (forall h, Rhat (@weight R V I c) T b p h -> Zk (@weight R V I c) b p h != 0) ->
  forall y : T.-tuple V, PG (@weight R V I c) b p T y = law (comp (@weight R V I c) b p) [::] y.
Proof.
move=> mb mp T1 alive; apply: theorem_1_5_2_sufficient => // h g /andP[hT _] /andP[gT _] _.
by move: hT gT => /leq_trans/(_ T1); case: h => // _ /leq_trans/(_ T1); case: g.
Qed.

Theorem theorem_1_5_5_one_expert (R : realFieldType) (V I : finType) c (b : kernel R V) (p : I -> kernel R V) (i : I) T :
  is_model b -> (forall j, is_model (p j)) -> (forall j, j = i) ->
  (forall h, Rhat (@weight R V I c) T b p h -> faithful c (b h) (fun j => p j h)) ->
  forall y : T.-tuple V, PG (@weight R V I c) b p T y = law (comp (@weight R V I c) b p) [::] y /\
                         law (comp (@weight R V I c) b p) [::] y = law (p i) [::] y.
Proof.
move=> mb mp one f; set w := @weight R V I c.
have wE h : Rhat w T b p h -> wk w b p h =1 p i h.
  by move=> Rh y; apply: weight_sole (f h Rh) _ _ => j; rewrite (one j) eqxx.
have ZE h : Rhat w T b p h -> Zk w b p h = 1.
  by move=> Rh; rewrite -(mp i h).2; apply: eq_bigr => y _; apply: wE.
have alive h : Rhat w T b p h -> Zk w b p h != 0 by move/ZE->; apply: oner_neq0.
move=> y; split; first by apply: theorem_1_5_2_sufficient => // h g /ZE-> /ZE->.
apply: (law_eq_on_reach (T := T)); last by rewrite size_tuple.
move=> h hT rh; have Rh : Rhat w T b p h by rewrite /Rhat hT.
by apply/ffunP => u; rewrite compE ZE // wE // divr1.
Qed.

(* ---- Lemma 1.4 (support) ---- *)
Section Support.
Variables (R : realFieldType) (V I : finType).

(* one prefix: the weights under `drop` (and `strict`, where valid) *)
Lemma wdrop_neq0 (b : dist R V) (p : I -> dist R V) y :
  (wdrop b p y != 0) = (b y != 0) && [forall i, p i y != 0].
Proof.
rewrite mulf_eq0 negb_or; have [b0|bn] /= := eqVneq (b y) 0; first by [].
apply/prodf_neq0/forallP => [pn i|pn i _]; last by rewrite mulf_neq0 ?invr_eq0 ?pn.
by have := pn i isT; rewrite mulf_eq0 negb_or => /andP[].
Qed.

Variables (c : convention) (b : kernel R V) (p : I -> kernel R V) (T : nat).
Hypothesis not_cancel : if c is Cancel then False else True.
Local Notation w := (@weight R V I c).

Let wE : w = @wdrop R V I. Proof. by case: c not_cancel. Qed.

(* 1.4: "Under `strict`/`drop`, supp p^(.|h) = supp p_b ∩ ⋂ supp p_i" where Z(h) > 0 *)
Theorem lemma_1_4_kernel h y : Zk w b p h != 0 ->
  (comp w b p h y != 0) = (b h y != 0) && [forall i, p i h y != 0].
Proof. by move=> zn; rewrite compE mulf_eq0 invr_eq0 (negPf zn) orbF wE; apply: wdrop_neq0. Qed.

(* 1.4: "hence R^ = Reach(p_b) ∩ ⋂_i Reach(p_i)"; prefixes of length < T, dead ones included *)
Theorem lemma_1_4_reach h : is_model b -> (forall i, is_model (p i)) ->
  Rhat w T b p h = [&& (size h < T)%N, reach b h & [forall i, reach (p i) h]].
Proof.
move=> mb mp; rewrite /Rhat reach_comp; last by move=> *; apply: wk_ge0.
congr (_ && _); elim/last_ind: h => [|h y IH].
  by rewrite oner_neq0 reach0; apply/esym/forallP => i; apply: reach0.
rewrite W_rcons mulf_eq0 negb_or IH /wk wE wdrop_neq0 reach_rcons andbACA; congr (_ && _).
apply/andP/forallP => [[/forallP rh /forallP pn] i|r]; first by rewrite reach_rcons rh pn.
by split; apply/forallP => i; have := r i; rewrite reach_rcons => /andP[].
Qed.
End Support.
