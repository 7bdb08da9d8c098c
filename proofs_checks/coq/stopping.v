(* theory.md 10.1: how the composition stops; its boundary cases; the EOS-decoupled repair.  One prefix; the token eos. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import exponential setting composition interaction.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Stopping.
Variables (R : realFieldType) (V I : finType) (eos : V) (c : convention).
Local Notation dist := (dist R V).
Local Notation w := (@weight R V I c).

(* "e = p(EOS|h), q = content kernel given not EOS, odds = e/(1-e)" *)
Definition content (f : dist) : dist := [ffun y => if y == eos then 0 else f y / (1 - f eos)].
Definition odds (f : dist) := f eos / (1 - f eos).

Variables (b : dist) (p : I -> dist).
Hypotheses (db : is_dist b) (dp : forall i, is_dist (p i)).
Local Notation q := content.
Local Notation phat := (norm w b p).
(* "Z_q(h) = sum_{y != EOS} q_b prod q_i/q_b" *)
Definition Zq := \sum_(y | y != eos) q b y * \prod_i (q (p i) y / q b y).
(* "q_i << q_b" *)
Definition content_AC := forall i y, y != eos -> q b y = 0 -> q (p i) y = 0.

Lemma content_sum (f : dist) : is_dist f -> \sum_(y | y != eos) f y = 1 - f eos.
Proof. by case=> _ <-; rewrite [in RHS](bigD1 eos) //= addrAC subrr add0r. Qed.

Lemma content_dist (f : dist) : is_dist f -> f eos < 1 -> is_dist (q f).
Proof.
move=> df f1; have [f0 _] := df; have n : 0 < 1 - f eos by rewrite subr_gt0.
split=> [y|]; first by rewrite ffunE; case: ifP => // _; rewrite divr_ge0 // ltW.
rewrite (bigD1 eos) //= ffunE eqxx add0r (eq_bigr (fun y => f y / (1 - f eos))) => [|y yn].
  by rewrite -mulr_suml content_sum // divff // gt_eqF.
by rewrite ffunE (negPf yn).
Qed.

Lemma contentE (f : dist) y : f eos < 1 -> y != eos -> f y = (1 - f eos) * q f y.
Proof.
move=> f1 yn; have n : 1 - f eos != 0 by rewrite subr_eq0 eq_sym lt_eqF.
by rewrite ffunE (negPf yn) mulrCA divff // mulr1.
Qed.

Lemma content_eq0 (f : dist) y : f eos < 1 -> y != eos -> (q f y == 0) = (f y == 0).
Proof.
move=> f1 yn; have n : 1 - f eos != 0 by rewrite subr_eq0 eq_sym lt_eqF.
by rewrite ffunE (negPf yn) mulf_eq0 invr_eq0 (negPf n) orbF.
Qed.

Lemma Zq_content : Zq = Z (@wdrop R V I) (q b) (fun i => q (p i)).
Proof.
by rewrite /Zq big_mkcond; apply: eq_bigr => y _; case: eqP => //= ->; rewrite /wdrop ffunE eqxx mul0r.
Qed.

Lemma content_AC_full : content_AC -> AC (q b) (fun i => q (p i)).
Proof. by move=> ac i y; have [->|yn] := eqVneq y eos; [rewrite !ffunE eqxx|apply: ac]. Qed.

Section Odds.
(* "Let 0 < e_b, e_i < 1 and q_i << q_b" *)
Hypotheses (eb0 : 0 < b eos) (eb1 : b eos < 1) (ei1 : forall i, p i eos < 1) (ac : content_AC).

Lemma stopping_AC : AC b p.
Proof.
move=> i y b0; have yn : y != eos by apply/eqP => e; move: eb0; rewrite -e b0 ltxx.
by apply/eqP; rewrite -content_eq0 // ac // ; apply/eqP; rewrite content_eq0 // b0.
Qed.

Lemma wE : w b p =1 wdrop b p. Proof. exact: weight_AC stopping_AC. Qed.

Local Notation K := ((1 - b eos) * \prod_i ((1 - p i eos) / (1 - b eos))).

Lemma weight_content y : y != eos -> w b p y = K * (q b y * \prod_i (q (p i) y / q b y)).
Proof.
move=> yn; rewrite wE /wdrop mulrACA -big_split /= -contentE //; congr (_ * _).
by apply: eq_bigr => i _; rewrite mulrACA -invfM -!contentE.
Qed.

Lemma K_gt0 : 0 < K.
Proof. by rewrite mulr_gt0 ?subr_gt0 // prodr_gt0 // => i _; rewrite divr_gt0 ?subr_gt0. Qed.

Lemma Z_split : Z w b p = w b p eos + K * Zq.
Proof.
rewrite /Z (bigD1 eos) //=; congr (_ + _).
by rewrite /Zq mulr_sumr; apply: eq_bigr => y; apply: weight_content.
Qed.

Lemma weight_eos : w b p eos / K = odds b * \prod_i (odds (p i) / odds b).
Proof.
rewrite wE /wdrop invfM mulrACA -prodfV -big_split /=; congr (_ * _); apply: eq_bigr => i _.
by rewrite /odds !invfM !invrK mulrACA.
Qed.

Lemma Zq_ge0 : 0 <= Zq.
Proof.
have q0 f y : is_dist f -> f eos < 1 -> 0 <= q f y by move=> df f1; case: (content_dist df f1).
by apply: sumr_ge0 => y _; rewrite mulr_ge0 ?q0 // prodr_ge0 // => i _; rewrite divr_ge0 ?q0.
Qed.

(* 10.1: "odds^ = odds_b prod_i (odds_i/odds_b) / Z_q" *)
Theorem theorem_10_1 : Zq != 0 -> odds phat = odds b * \prod_i (odds (p i) / odds b) / Zq.
Proof.
move=> zn; have KZ : 0 < K * Zq by rewrite mulr_gt0 ?K_gt0 // lt_def zn Zq_ge0.
have w0 : 0 <= w b p eos by apply: weight_ge0.
have Zn : Z w b p != 0 by rewrite Z_split gt_eqF // ltr_paddl.
have e : 1 - phat eos = K * Zq / Z w b p.
  by rewrite ffunE -[X in X - _](divff Zn) -mulrBl {1}Z_split addrAC subrr add0r.
have cancel (x k z : R) : z != 0 -> x / z / (k / z) = x / k.
  by move=> n; rewrite [k / z]mulrC invfM invrK mulrA divfK.
by rewrite -weight_eos /odds e ffunE cancel // invfM mulrA.
Qed.

(* the logarithm of 10.1: "logit e^ = logit e_b + sum_i (logit e_i - logit e_b) - log Z_q" *)
Theorem theorem_10_1_logit (E : exponential R) (ln := loga E) :
  (forall i, 0 < p i eos) -> Zq != 0 ->
  ln (odds phat) = ln (odds b) + \sum_i (ln (odds (p i)) - ln (odds b)) - ln Zq.
Proof.
move=> ei0 zn.
have o0 (f : dist) : 0 < f eos -> f eos < 1 -> 0 < odds f by move=> f0 f1; rewrite divr_gt0 ?subr_gt0.
have z0 : 0 < Zq by rewrite lt_def zn Zq_ge0.
have ob : 0 < odds b by apply: o0.
have oi i : 0 < odds (p i) / odds b by rewrite divr_gt0 ?o0.
have op : 0 < \prod_i (odds (p i) / odds b) by apply: prodr_gt0.
rewrite /ln theorem_10_1 // (lnM E (mulr_gt0 ob op)) ?invr_gt0 // (lnM E ob op) lnV // ln_prod //.
congr (_ + _ - _); apply: eq_bigr => i _.
by rewrite (lnM E (o0 _ (ei0 i) (ei1 i))) ?invr_gt0 // lnV.
Qed.

(* 10.1, boundary: "if Z_q = 0, e^ = 1" *)
Theorem theorem_10_1_no_content : (forall i, 0 < p i eos) -> Zq = 0 -> phat eos = 1.
Proof.
move=> ei0 z; rewrite ffunE Z_split z mulr0 addr0 divff //.
by rewrite wE /wdrop mulf_neq0 ?gt_eqF // prodr_gt0 // => i _; rewrite divr_gt0.
Qed.

(* 10.1, boundary: "dead if also Z_q = 0" (some e_i = 0) *)
Theorem theorem_10_1_dead i : p i eos = 0 -> Zq = 0 -> Z w b p = 0.
Proof. by move=> e0 z; rewrite Z_split z mulr0 addr0 wE /wdrop (bigD1 i) //= e0 !mul0r mulr0. Qed.

(* M1: "Common EOS odds factor rho: odds^ = odds_b rho^k" where Z_q = 1 *)
Theorem theorem_10_M1 rho : Zq = 1 -> (forall i, odds (p i) = rho * odds b) -> odds phat = odds b * rho ^+ #|I|.
Proof.
move=> z e; rewrite theorem_10_1 z ?oner_neq0 // divr1; congr (_ * _).
rewrite -prodr_const; apply: eq_bigr => i _; rewrite e mulfK //.
by rewrite mulf_neq0 ?invr_eq0 ?gt_eqF // subr_gt0.
Qed.

(* 10.1: "Under JF-pt each prefix has at most one non-zero term and Z_q = 1" *)
Theorem theorem_10_1_one_deviator : (forall i j, p i != b -> p j != b -> i = j) ->
  [/\ Zq = 1, forall i j, odds (p i) / odds b != 1 -> odds (p j) / odds b != 1 -> i = j
    & phat = if [pick i | p i != b] is Some i then p i else b].
Proof.
move=> one; have on : odds b != 0 by rewrite mulf_neq0 ?invr_eq0 ?gt_eqF // subr_gt0.
have dq f : is_dist f -> f eos < 1 -> is_dist (q f) by apply: content_dist.
split.
- rewrite Zq_content; apply: (lemma_1_8_one_deviator (c := Drop)) => [||/=|i j di dj].
  + exact: dq.
  + by move=> i; apply: dq.
  + exact: content_AC_full.
  by apply: one; [apply: contraNneq di => ->|apply: contraNneq dj => ->].
- by move=> i j di dj; apply: one; [apply: contraNneq di => ->|apply: contraNneq dj => ->]; rewrite divff.
have f : faithful c b p by case: (c) => //=; apply: stopping_AC.
have z1 : Z w b p = 1 by apply: lemma_1_8_one_deviator.
apply/ffunP => y; rewrite ffunE z1 divr1; case: pickP => [i di|nd].
  by apply: weight_sole => // j; apply: contraNeq => dj; apply/eqP/one.
by apply: weight_none => j; apply/eqP; have := nd j; rewrite /= => /negbFE.
Qed.

End Odds.

(* 10.1, boundary: "if e_b > 0 and some e_i = 0, e^ = 0" *)
Theorem theorem_10_1_never_stops i : 0 < b eos -> p i eos = 0 -> phat eos = 0.
Proof.
move=> eb0 e0; have -> : phat eos = wdrop b p eos / Z w b p.
  by rewrite ffunE; congr (_ / _); case: (c) => //=; rewrite wcancel_supp ?gt_eqF.
by rewrite /wdrop (bigD1 i) //= e0 !mul0r mulr0 mul0r.
Qed.

(* 10.1, boundary: "if 0 < e_b < 1, some e_i = 1 and all e_j > 0, e^ = 1"; the content of the other experts is << p_b's *)
Theorem theorem_10_1_stops i : 0 < b eos -> (forall j, 0 < p j eos) -> p i eos = 1 ->
  (forall j y, y != eos -> b y = 0 -> p j y = 0) -> phat eos = 1.
Proof.
move=> eb0 ej0 e1 acy.
have ac : AC b p.
  by move=> j y by0; apply: acy => //; apply/eqP => e; move: eb0; rewrite -e by0 ltxx.
have pi0 y : y != eos -> p i y = 0.
  move=> yn; have s0 : \sum_(y | y != eos) p i y = 0 by rewrite content_sum // e1 subrr.
  by apply: (psumr_eq0P _ s0) => // z _; case: (dp i).
have wE y : w b p y = wdrop b p y by apply: weight_AC.
have Zw : Z w b p = w b p eos.
  rewrite /Z (bigD1 eos) //= big1 ?addr0 // => y yn.
  by rewrite wE /wdrop (bigD1 i) //= pi0 // !mul0r mulr0.
rewrite ffunE Zw divff // wE /wdrop mulf_neq0 ?gt_eqF // prodr_gt0 // => j _.
by rewrite divr_gt0.
Qed.

(* Repair: "EOS-decoupled composition: p^(EOS) = e_{a(h)}, content q^ by local composition", under the same convention *)
Definition decoupled (a : option I) : dist :=
  let e := if a is Some i then p i eos else b eos in
  [ffun y => if y == eos then e else (1 - e) * norm w (q b) (fun i => q (p i)) y].

(* "exact under JF-pt; changes nothing when at most one expert deviates": it is the deviator, a(h) *)
Theorem repair_exact (a : option I) : b eos < 1 -> (forall i, p i eos < 1) -> faithful c (q b) (fun i => q (p i)) ->
  (forall j, Some j != a -> p j = b) -> decoupled a = if a is Some i then p i else b.
Proof.
move=> eb1 ei1 f sole; set s := (X in _ = X).
have [ds s1] : is_dist s /\ s eos < 1 by rewrite /s; case: (a).
have qs : norm w (q b) (fun i => q (p i)) = q s.
  have e : w (q b) (fun i => q (p i)) =1 q s.
    rewrite /s; case: a sole {s ds s1} => [i|] sole.
      by apply: weight_sole => // j ji; rewrite sole // (inj_eq Some_inj).
    by apply: weight_none => j; rewrite sole.
  have [_ q1] := content_dist ds s1.
  by apply/ffunP => y; rewrite ffunE /Z (eq_bigr _ (fun z _ => e z)) q1 divr1 e.
apply/ffunP => y; rewrite /decoupled ffunE qs; have -> : (if a is Some i then p i eos else b eos) = s eos.
  by rewrite /s; case: (a).
have [->|yn] := eqVneq y eos; first by [].
by rewrite -contentE.
Qed.
End Stopping.
