(* theory.md Theorem 6.4': for one background with independent feature blocks, the token sampler is exact for every tilt of
   the expert blocks where these stay independent given every prefix. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition interaction marginals laws conditionals masks features.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Posteriors.
Variables (R : realFieldType) (V I X V' : finType) (T : nat) (blk : X -> option I).
Local Notation Om := {ffun 'I_T -> V}.
Local Notation Fe := {ffun X -> V'}.
Variables (D : Om -> Fe) (b : kernel R V).
Hypotheses (mb : is_model b) (Di : injective D).
Local Notation Pb := (Law (T := T) b).
Local Notation inbl i := (inb blk (Some i)).

(* "pi^i_h the law of z_{M_i} given h under P_b", at the value u_{M_i} *)
Definition post h i (u : Fe) := joint_mass blk D b h i u / law b [::] h.
(* "pi_h the joint law of (z_{M_1}, .., z_{M_k})", at the value u off M_b *)
Definition joint_post h (u : Fe) :=
  (\sum_(y : Om | (take (size h) (word y) == h) && agree (off blk None) (D y) u) Pb y) / law b [::] h.

(* "(iii) sum_a p_b(a|h) ⊗_i pi^i_{ha} = ⊗_i pi^i_h", "for h in Reach(p_b)" *)
Definition mixes := forall h u, (size h < T)%N -> reach b h ->
  \sum_a b h a * \prod_i post (rcons h a) i u = \prod_i post h i u.
(* "(iv) pi_h = ⊗_i pi^i_h: the expert blocks stay independent given every prefix" *)
Definition stay_independent := forall h u, (size h <= T)%N -> reach b h -> joint_post h u = \prod_i post h i u.

Lemma sum_next (E : Om -> bool) h (F : Om -> R) : (size h < T)%N ->
  \sum_(y | (take (size h) (word y) == h) && E y) F y =
  \sum_a \sum_(y | (take (size h).+1 (word y) == rcons h a) && E y) F y.
Proof.
move=> hT; rewrite (partition_big (fun y : Om => y (Ordinal hT)) xpredT) //=; apply: eq_bigr => a _.
apply: eq_bigl => y; rewrite word_next eqseq_rcons -!andbA; congr (_ && _).
by rewrite andbC.
Qed.

Lemma zero_next h a (E : Om -> bool) : (size h < T)%N -> reach b h -> b h a = 0 ->
  \sum_(y | (take (size h).+1 (word y) == rcons h a) && E y) Pb y = 0.
Proof.
move=> hT rh z; have : law b [::] (rcons h a) = 0 by rewrite law_rcons z mulr0.
rewrite (law_prefix (T := T) mb (h := rcons h a)) ?size_rcons // => /eqP; rewrite psumr_eq0 => [/allP e|y _]; last exact: law_ge0.
apply: big1 => y /andP[ty _]; apply/eqP.
by have /implyP := e y (mem_index_enum y); apply.
Qed.

(* "sum_a p_b(a|h) pi_{ha} = pi_h" *)
Lemma joint_next h u : (size h < T)%N -> reach b h -> \sum_a b h a * joint_post (rcons h a) u = joint_post h u.
Proof.
move=> hT rh; rewrite /joint_post [in RHS]sum_next // mulr_suml; apply: eq_bigr => a _.
rewrite size_rcons; have [z|nz] := eqVneq (b h a) 0; first by rewrite zero_next // z !mul0r.
by rewrite law_rcons /= invfM mulrCA [b h a * (_ * _)]mulrCA divff // mulr1.
Qed.

Theorem theorem_6_4_prime_iv_iii : stay_independent -> mixes.
Proof.
move=> iv h u hT rh; rewrite -iv ?(ltnW hT) // -joint_next //; apply: eq_bigr => a _.
have [->|nz] := eqVneq (b h a) 0; first by rewrite !mul0r.
by rewrite iv // ?size_rcons // /reach law_rcons mulf_neq0.
Qed.

(* "backwards from the leaves, which are point masses" *)
Theorem theorem_6_4_prime_iii_iv : mixes -> stay_independent.
Proof.
move=> iii h u; move eqn: (T - size h)%N => n; elim: n h eqn => [|n IH] h en hT rh; last first.
  have lT : (size h < T)%N by rewrite -subn_gt0 en.
  rewrite -iii // -joint_next //; apply: eq_bigr => a _.
  have [->|nz] := eqVneq (b h a) 0; first by rewrite !mul0r.
  rewrite IH ?size_rcons //; first by rewrite subnS en.
  by rewrite /reach law_rcons mulf_neq0.
have hT' : size h = T by apply/eqP; rewrite eqn_leq hT -subn_eq0 en.
have [v _] := model_inhabited mb; have [y ey] := word_of v hT.
have one (E : pred Om) : (\sum_(z : Om | (take (size h) (word z) == h) && E z) Pb z) / law b [::] h = (E y)%:R.
  have yh : word y = h :> seq V by rewrite -[RHS]ey take_oversize // size_tuple hT'.
  rewrite (eq_bigl (fun z => (z == y) && E y)) => [|z]; last first.
    rewrite -{2}ey hT' -agree_take; have -> : agree (upto T) z y = (z == y).
      by rewrite -agree_all; apply: eq_forallb => t; rewrite /upto ltn_ord.
    by case: eqP => // ->.
  case: (E y); last by rewrite big_pred0 ?mul0r // => z; rewrite andbF.
  by rewrite (big_pred1 y) => [|z]; [rewrite /Law yh divff|rewrite andbT].
rewrite /joint_post one /post /joint_mass (eq_bigr (fun i => (agree (inbl i) (D y) u)%:R)) => [|i _]; last exact: one.
have [/agreeP a|na] := boolP (agree (off blk None) (D y) u).
  rewrite big1 // => i _; rewrite (_ : agree _ _ _) //; apply/agreeP => t /eqP bt; apply: a.
  by rewrite /off bt.
have [t /andP[bt nt]] : exists t, (blk t != None) && (D y t != u t).
  apply/existsP; apply: contraR na; rewrite negb_exists => /forallP e; apply/agreeP => t bt.
  by have := e t; rewrite -[blk t != None]/(off blk None t) bt /= negbK => /eqP.
case E: (blk t) bt => [i|] // _; rewrite (bigD1 i) //= (_ : agree _ _ _ = false) ?mul0r //.
by apply/negP => /agreeP/(_ t); rewrite /inb E eqxx => /(_ isT) e; rewrite e eqxx in nt.
Qed.

(* "(iii) <=> (iv)" *)
Theorem theorem_6_4_prime_iii_iff_iv : mixes <-> stay_independent.
Proof. by split; [apply: theorem_6_4_prime_iii_iv|apply: theorem_6_4_prime_iv_iii]. Qed.

(* ---- tilts ---- *)
Section Tilt.
Variable f : I -> Fe -> R.
Hypotheses (f0 : forall i u, 0 < f i u) (fl : forall i, local_to (inbl i) (f i)).

(* "phi_i(h) = E_b[f_i | h]" *)
Definition phi i h := (\sum_(y : Om | take (size h) (word y) == h) Pb y * f i (D y)) / law b [::] h.

Lemma post_local h i : local_to (inbl i) (post h i).
Proof.
move=> u u' e; congr (_ / _); apply: eq_bigl => y; congr (_ && _).
exact: (agree_eq e (D y)).
Qed.

Lemma phi_mass x0 i h : phi i h = mass blk x0 (fun j => if j is Some i then fun u => f i u * post h i u else fun=> 1) (Some i).
Proof.
pose can (y : Om) : Fe := [ffun t => if blk t == Some i then D y t else x0 t].
rewrite /phi /mass (partition_big can (fun u => agree (off blk (Some i)) u x0)) => [|y _]; last first.
  by apply/agreeP => t; rewrite /off ffunE => /negPf->.
rewrite mulr_suml; apply: eq_bigr => u /agreeP ux; rewrite /post /joint_mass mulrA mulr_sumr.
congr (_ / _); apply: eq_big => [y|y /andP[_ /eqP cu]].
  congr (_ && _); apply/eqP/agreeP => [<- t bt|e]; first by rewrite ffunE; move: bt; rewrite /inb => ->.
  by apply/ffunP => t; rewrite ffunE; case E: (blk t == Some i); [rewrite e|rewrite ux // /off E].
rewrite mulrC; congr (_ * _); apply: fl; apply/agreeP => t bt; rewrite -cu ffunE.
by move: bt; rewrite /inb => ->.
Qed.

Lemma prod_phi x0 h : \prod_i phi i h =
  \sum_(u | agree (inb blk None) u x0) \prod_i f i u * \prod_i post h i u.
Proof.
pose G (j : option I) : Fe -> R := if j is Some i then fun u => f i u * post h i u else fun=> 1.
have Gl j : local_to (inb blk j) (G j).
  by case: j => [i|] // u u' e; rewrite /G (fl e) (post_local h e).
rewrite (eq_bigr (fun i => mass blk x0 G (Some i))) => [|i _]; last exact: phi_mass.
rewrite -prod_Some -(fubini x0 (predC1 None) Gl); apply: eq_big => [u|u _]; last by rewrite prod_Some -big_split.
by apply: eq_forallb => t; rewrite /= negbK.
Qed.

(* N(h) = Phi(h) *)
Lemma mixes_phi h : mixes -> (size h < T)%N -> reach b h ->
  \sum_a b h a * \prod_i phi i (rcons h a) = \prod_i phi i h.
Proof.
have [v _] := model_inhabited mb; pose x0 := D [ffun=> v].
move=> iii hT rh; rewrite (prod_phi x0).
rewrite (eq_bigr (fun a => \sum_(u | agree (inb blk None) u x0) b h a * (\prod_i f i u * \prod_i post (rcons h a) i u))) => [|a _]; last first.
  by rewrite (prod_phi x0) mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => u _; rewrite -iii // mulr_sumr.
by apply: eq_bigr => a _; rewrite mulrCA.
Qed.

(* experts "P_i ∝ P_b f_i(z_{M_i})" *)
Variable p : I -> kernel R V.
Hypothesis mp : forall i, is_model (p i).
Let N i := \sum_(y : Om) Pb y * f i (D y).
Hypothesis tilted : forall i (y : Om), Law (p i) y = Pb y * f i (D y) / N i.

Lemma tilt_law i h : (size h <= T)%N -> reach b h -> law (p i) [::] h = law b [::] h * phi i h / N i.
Proof.
move=> hT rh; rewrite (law_prefix (mp i) hT) (eq_bigr _ (fun y _ => tilted i y)) -mulr_suml.
by congr (_ / _); rewrite /phi mulrC divfK.
Qed.

Lemma phi_gt0 i h : (size h <= T)%N -> reach b h -> 0 < phi i h.
Proof.
move=> hT rh; have lb : 0 < law b [::] h by rewrite lt_def law_ge0 ?andbT.
rewrite divr_gt0 // lt_def sumr_ge0 => [|y _]; last by rewrite mulr_ge0 ?law_ge0 // ltW.
rewrite andbT; apply: contraNneq rh => e; rewrite (law_prefix mb hT); apply/eqP/big1 => y ty.
have /eqP := psumr_eq0P (fun y _ => mulr_ge0 (law_ge0 [::] (word y) mb) (ltW (f0 i (D y)))) e ty.
by rewrite mulf_eq0 (gt_eqF (f0 _ _)) orbF => /eqP.
Qed.

Lemma tilt_N i : N i != 0.
Proof.
have /eqP := Law_sum1 T (mp i); apply: contraTneq => e.
by rewrite big1 ?(eq_sym 0) ?oner_eq0 // => y _; rewrite tilted e invr0 mulr0.
Qed.

Lemma tilt_AC i (y : Om) : Pb y = 0 -> Law (p i) y = 0.
Proof. by rewrite tilted => ->; rewrite !mul0r. Qed.

Lemma tilt_reach i h : (size h <= T)%N -> reach b h -> reach (p i) h.
Proof.
move=> hT rh; rewrite /reach tilt_law //; apply: mulf_neq0; last by rewrite invr_eq0 tilt_N.
by apply: mulf_neq0 => //; rewrite gt_eqF // phi_gt0.
Qed.

(* "Z(h) = N(h) / Phi(h)" *)
Lemma tilt_Z c h : (size h < T)%N -> reach b h ->
  Zk (@weight R V I c) b p h = (\sum_a b h a * \prod_i phi i (rcons h a)) / \prod_i phi i h.
Proof.
move=> hT rh; rewrite Zk_conv; last first.
  by apply: (reach_AC mb mp tilt_AC) => // i; apply: tilt_reach => //; apply: ltnW.
rewrite mulr_suml; apply: eq_bigr => a _; rewrite /wdrop -mulrA -prodf_div.
have [->|nz] := eqVneq (b h a) 0; first by rewrite !mul0r.
congr (_ * _); apply: eq_bigr => i _.
have rha : reach b (rcons h a) by rewrite /reach law_rcons mulf_neq0.
have pn : phi i h != 0 by rewrite gt_eqF // phi_gt0 // ltnW.
have := tilt_law i (h := rcons h a); rewrite size_rcons hT rha => /(_ isT isT).
move: (phi i (rcons h a)) => x; rewrite !law_rcons cat0s (tilt_law i (ltnW hT) rh) => e.
have {}e : law b [::] h / N i * (phi i h * p i h a) = law b [::] h / N i * (b h a * x).
  by rewrite mulrA [_ / N i * phi i h]mulrAC e [RHS]mulrAC mulrA.
have cn : law b [::] h / N i != 0 by rewrite mulf_neq0 ?invr_eq0 ?tilt_N.
have {}e := mulfI cn e; apply: (mulIf pn); rewrite divfK //; apply: (mulIf nz).
by rewrite mulrAC divfK // mulrC e mulrC.
Qed.

(* "(iii) => (ii): Z(h) = 1 on Reach(p_b)" *)
Theorem theorem_6_4_prime_iii_ii c : mixes -> forall h, (size h < T)%N -> reach b h -> Zk (@weight R V I c) b p h = 1.
Proof.
move=> iii h hT rh; rewrite tilt_Z // mixes_phi // divff //.
by apply/prodf_neq0 => i _; rewrite gt_eqF // phi_gt0 // ltnW.
Qed.

(* "(iv) => (i): for mutually independent feature blocks, D#P_L is the target (so P_L = P_G)" *)
Theorem theorem_6_4_prime_iv_i c : FCa blk (push D Pb) -> stay_independent ->
  (forall z, push D (Law (comp (@weight R V I c) b p)) z = target blk (push D Pb) (fun i => push D (Law (p i))) z) /\
  (forall y : Om, PG (@weight R V I c) b p T (word y) = Law (comp (@weight R V I c) b p) y).
Proof.
move=> a /theorem_6_4_prime_iv_iii iii; pose w := @weight R V I c.
have Z1R h : Rhat w T b p h -> Zk w b p h = 1.
  by case/andP=> hT rh; case: (reach_all mb mp tilt_AC (ltnW hT) rh) => rb _; apply: theorem_6_4_prime_iii_ii.
have acW h : (size h < T)%N -> W (@wdrop R V I) b p [::] h != 0 -> AC (b h) (fun i => p i h).
  by move=> hT nz; apply: (reach_AC mb mp tilt_AC) => //; case: (W_reach nz).
have eW (y : Om) : W w b p [::] (word y) = gW Pb (fun i => Law (p i)) y by rewrite (W_conv acW) ?size_tuple // W_gW.
have eL (y : Om) : Law (comp w b p) y = gW Pb (fun i => Law (p i)) y by rewrite -eW /Law (law_W Z1R) ?size_tuple.
have fc : FC blk (push D Pb) (fun i => push D (Law (p i))).
  have b1 : \sum_z push D Pb z = 1 by rewrite push_sum Law_sum1.
  have pE i z : push D (Law (p i)) z = push D Pb z * f i z / N i.
    have [/codomP[y ->]|nz] := boolP (z \in codom D); last by rewrite !push_off // !mul0r.
    by rewrite !push_at.
  have q1 i : \sum_z push D Pb z * f i z / N i = 1.
    by rewrite -(eq_bigr _ (fun z _ => pE i z)) push_sum Law_sum1.
  have [_ fb fcc] := tilt_FC a fl b1 q1.
  have mE i z : marg (push D (Law (p i))) (inbl i) z = marg (fun z => push D Pb z * f i z / N i) (inbl i) z.
    by apply: eq_bigr => u _; apply: pE.
  by split=> // i z; [rewrite pE fb mE|rewrite mE; apply: fcc].
have [eZ eT _] := theorem_6_1_FC Di (Law_sum1 T mb) (fun i => Law_sum1 T (mp i)) fc.
split=> [z|y].
  by rewrite -eT; apply: push_ext => y; rewrite eL /gcomp eZ divr1.
rewrite eL /PG eW; have -> : ZG w b p T = 1; last by rewrite divr1.
by rewrite /ZG (sum_word T (W w b p [::]) xpredT) -eZ; apply: eq_bigr => y' _; apply: eW.
Qed.
End Tilt.

(* ---- "(ii) => (iii): equality of coefficient tensors" ---- *)
Section Coefficients.
(* "for all tilts P_i ∝ P_b f_i(z_{M_i}), f_i > 0, Z(h) = 1 on Reach(p_b)", in phi: N(h) = Phi(h) (tilt_Z) *)
Definition balanced := forall f, (forall i u, 0 < f i u) -> (forall i, local_to (inbl i) (f i)) ->
  forall h, (size h < T)%N -> reach b h -> \sum_a b h a * \prod_i phi f i (rcons h a) = \prod_i phi f i h.

Lemma balanced_mixes : balanced -> mixes.
Proof.
move=> bal h x0 hT rh; apply/eqP; rewrite -subr_eq0; apply/eqP.
pose cf u := \sum_a b h a * \prod_i post (rcons h a) i u - \prod_i post h i u.
rewrite -/(cf x0).
pose ind i u : R := (agree (inbl i) u x0)%:R.
have total f : (forall i u, 0 < f i u) -> (forall i, local_to (inbl i) (f i)) ->
    \sum_(u | agree (inb blk None) u x0) (\prod_i f i u) * cf u = 0.
  move=> f0 fl; have := bal f f0 fl h hT rh.
  rewrite (prod_phi fl x0) (eq_bigr (fun a => \sum_(u | agree (inb blk None) u x0) b h a * (\prod_i f i u * \prod_i post (rcons h a) i u))) => [|a _]; last first.
    by rewrite (prod_phi fl x0) mulr_sumr.
  rewrite exchange_big /= => /eqP; rewrite -subr_eq0 -sumrB => /eqP e; rewrite -[RHS]e; apply: eq_bigr => u _.
  by rewrite /cf mulrBr mulr_sumr; congr (_ - _); apply: eq_bigr => a _; rewrite mulrCA.
pose m (A : {set I}) := \sum_(u | agree (inb blk None) u x0) (\prod_(i in A) ind i u) * cf u.
have m0 (A : {set I}) : m A = 0.
  move: {2}#|A| (leqnn #|A|) => k; elim: k A => [|k IHk] A cA.
    have /eqP -> : A == set0 by rewrite -cards_eq0 -leqn0.
    have one := total (fun _ _ => 1) (fun _ _ => @ltr01 R) (fun _ _ _ _ => erefl); rewrite -[RHS]one.
    by apply: eq_bigr => u _; rewrite big_set0 big1.
  pose x i u : R := if i \in A then ind i u else 0.
  have f0 i u : 0 < x i u + 1 by rewrite ltr_paddl ?ltr01 // /x; case: ifP => // _; rewrite ler0n.
  have fl i : local_to (inbl i) (fun u => x i u + 1).
    by move=> u u' e; rewrite /x /ind; case: ifP => // _; congr (_%:R + 1); rewrite !(agree_sym _ _ x0) (agree_eq e).
  have := total _ f0 fl; rewrite (eq_bigr (fun u => \sum_(B : {set I}) (\prod_(i in B) x i u) * cf u)) => [|u _]; last first.
    by rewrite prod_addr1 mulr_suml.
  rewrite exchange_big /= (bigD1 A) //= [X in _ + X]big1 ?addr0 => [e|B BA].
    by apply: (etrans _ e); rewrite /m; apply: eq_bigr => u _; congr (_ * _); apply: eq_bigr => i iA; rewrite /x iA.
  have [BsA|/subsetPn[i iB iA]] := boolP (B \subset A); last first.
    by apply: big1 => u _; rewrite (bigD1 i) //= /x (negPf iA) !mul0r.
  have ltB : (#|B| < #|A|)%N by apply: proper_card; rewrite properEneq BA.
  apply: (etrans _ (IHk B _)); last by rewrite -ltnS (leq_trans ltB).
  by rewrite /m; apply: eq_bigr => u _; congr (_ * _); apply: eq_bigr => i iB; rewrite /x (subsetP BsA).
have := m0 setT; rewrite /m (bigD1 x0) /=; last by apply/agreeP.
rewrite big1 ?mul1r => [|i _]; last by rewrite /ind (_ : agree _ _ _) //; apply/agreeP.
rewrite big1 ?addr0 // => u /andP[/agreeP uN ux].
have [t nt] : exists t, u t != x0 t.
  apply/existsP; apply: contraR ux; rewrite negb_exists => /forallP e; apply/eqP/ffunP => t.
  by apply/eqP; have := e t; rewrite negbK.
case E: (blk t) => [i|]; last by rewrite uN ?eqxx // /inb E in nt.
rewrite (bigD1 i) ?inE //= /ind (_ : agree _ _ _ = false) ?mul0r //.
by apply/negP => /agreeP/(_ t); rewrite /inb E eqxx => /(_ isT) e; rewrite e eqxx in nt.
Qed.

(* "(ii) for all such tilts Z(h) = 1 on Reach(p_b)" *)
Definition Z_one c := forall (f : I -> Fe -> R) (p : I -> kernel R V), (forall i u, 0 < f i u) ->
  (forall i, local_to (inbl i) (f i)) -> (forall i, is_model (p i)) ->
  (forall i (y : Om), Law (p i) y = Pb y * f i (D y) / \sum_(u : Om) Pb u * f i (D u)) ->
  forall h, (size h < T)%N -> reach b h -> Zk (@weight R V I c) b p h = 1.

(* "(ii) <=> (iii)" *)
Theorem theorem_6_4_prime_ii_iii c : Z_one c <-> mixes.
Proof.
split=> [Z1|iii f p f0 fl mp tilted h hT rh]; last exact: (theorem_6_4_prime_iii_ii f0 fl mp tilted).
apply: balanced_mixes => f f0 fl h hT rh.
pose N i := \sum_(u : Om) Pb u * f i (D u).
have g0 i (y : Om) : 0 <= Pb y * f i (D y) by rewrite mulr_ge0 ?law_ge0 // ltW.
have Nn i : N i != 0.
  apply/eqP => e; have /eqP := Law_sum1 T mb; rewrite big1 ?(eq_sym 0) ?oner_eq0 // => y _; apply/eqP.
  have /eqP := psumr_eq0P (fun y _ => g0 i y) e (i := y) isT.
  by rewrite mulf_eq0 (gt_eqF (f0 _ _)) orbF.
pose P i (y : Om) := Pb y * f i (D y) / N i.
have P0 i y : 0 <= P i y by rewrite divr_ge0 // sumr_ge0.
have P1 i : \sum_y P i y = 1 by rewrite -mulr_suml; apply: divff; apply: Nn.
pose p i := conditional (P i) b.
have mp i : is_model (p i) by apply: conditional_model => // y; apply: P0.
have tilted i (y : Om) : Law (p i) y = Pb y * f i (D y) / N i by apply: conditional_law => [z|]; [apply: P0|apply: P1].
have pn : \prod_i phi f i h != 0.
  by apply/prodf_neq0 => i _; rewrite gt_eqF // (phi_gt0 f0) // ltnW.
have := Z1 f p f0 fl mp tilted h hT rh; rewrite (tilt_Z f0 mp tilted) // => /(canRL (divfK pn)) ->.
by rewrite mul1r.
Qed.
End Coefficients.
End Posteriors.
