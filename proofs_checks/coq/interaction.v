(* theory.md 1.8: Z is an interaction. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import identities setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Moments.
Variables (R : realFieldType) (V : finType).
Implicit Types (b : V -> R) (f g : V -> R).
(* mean and covariance under b; chi^2(p||b) = E_b (p/b - 1)^2 *)
Definition mean b f := \sum_y b y * f y.
Definition cov b f g := mean b (fun y => f y * g y) - mean b f * mean b g.
Definition chi2 (p b : V -> R) := mean b (fun y => (p y / b y - 1) * (p y / b y - 1)).

(* (E_b fg)^2 <= E_b f^2 E_b g^2: 0 <= E_b (F g - H f)^2 = F (F G - H^2) *)
Lemma cauchy_schwarz b f g : (forall y, 0 <= b y) ->
  mean b (fun y => f y * g y) * mean b (fun y => f y * g y) <=
  mean b (fun y => f y * f y) * mean b (fun y => g y * g y).
Proof.
move=> b0; rewrite /mean; set F := \sum_y _ * (f _ * f _); set G := \sum_y _ * (g _ * g _); set H := \sum_y _.
have f0 y : 0 <= b y * (f y * f y) by rewrite mulr_ge0 // -expr2 sqr_ge0.
have q : 0 <= F * (F * G - H * H).
  have -> : F * (F * G - H * H) = \sum_y b y * ((F * g y - H * f y) * (F * g y - H * f y)).
    by rewrite (eq_bigr _ (fun y _ => cs_term_id _ _ _ _ _)) big_split sumrB /= -!mulr_sumr -cs_id.
  by apply: sumr_ge0 => y _; rewrite mulr_ge0 // -expr2 sqr_ge0.
have [F0|Fn] := eqVneq F 0; last first.
  by rewrite -subr_ge0 -(pmulr_rge0 _ (_ : 0 < F)) // lt_def Fn sumr_ge0.
suff -> : H = 0 by rewrite F0 !mul0r.
apply: big1 => y _; have /eqP := psumr_eq0P (fun y _ => f0 y) F0 (i := y) isT.
by rewrite !mulf_eq0 orbb => /orP[/eqP->|/eqP->]; rewrite ?mul0r ?mulr0.
Qed.
End Moments.

Section Interaction.
Variables (R : realFieldType) (V I : finType).
Local Notation dist := (dist R V).
Implicit Types (b : dist) (p : I -> dist) (c : convention).

Lemma prod_addr1 (x : I -> R) : \prod_i (x i + 1) = \sum_(A : {set I}) \prod_(i in A) x i.
Proof.
rewrite (eq_bigr (fun i => \sum_(t : bool) if t then x i else 1)) => [|i _]; last by rewrite big_bool.
rewrite bigA_distr_bigA (reindex (fun A : {set I} => [ffun i => i \in A])) /=.
  by apply: eq_bigr => A _; rewrite [RHS]big_mkcond; apply: eq_bigr => i _; rewrite ffunE.
exists (fun f : {ffun I -> bool} => [set i | f i]) => [A _|f _].
  by apply/setP => i; rewrite inE ffunE.
by apply/ffunP => i; rewrite ffunE inE.
Qed.

(* no mass is lost at null tokens: p_i << p_b for all i, or under `cancel` only that no cell is an error *)
Definition lossless c b p := if c is Cancel then cancel_ok b p else AC b p.

Lemma lossless_AC c b p : AC b p -> lossless c b p.
Proof.
case: c => //= ac y b0; rewrite (_ : [set i | p i y != 0] = set0) ?cards0 //.
by apply/setP => i; rewrite !inE ac ?eqxx.
Qed.

Lemma weight_null c b p y : lossless c b p -> b y = 0 -> weight c b p y = \sum_i p i y.
Proof.
case: c => /= [ac|ac|ok] b0; last by rewrite /wcancel b0 eqxx ok.
  by rewrite /wdrop b0 mul0r big1 // => i _; apply: ac.
by rewrite /wdrop b0 mul0r big1 // => i _; apply: ac.
Qed.

(* the expert that opens a null token is alone in it *)
Lemma weight_opener c b p y i : lossless c b p -> b y = 0 -> p i y != 0 -> weight c b p y = p i y.
Proof.
move=> l b0 pn; rewrite weight_null // (bigD1 i) //= big1 ?addr0 // => j ji; apply/eqP; apply: contraNT ji => jn.
case: c l => /= [ac|ac|ok]; try by rewrite (ac i y b0) eqxx in pn.
by apply/eqP; apply: (card_le1_eqP (ok y b0)); rewrite inE.
Qed.

(* 1.8: "If p_i << p_b: Z = 1 + sum_{|A|>=2} E_{p_b}[prod_{i in A} (r_i - 1)]"; "holds under `cancel` too; fails under `drop`" *)
Theorem lemma_1_8 c b p : is_dist b -> (forall i, is_dist (p i)) -> lossless c b p ->
  Z (@weight R V I c) b p =
  1 + \sum_(A : {set I} | (2 <= #|A|)%N) mean b (fun y => \prod_(i in A) (p i y / b y - 1)).
Proof.
move=> [b0 b1] dp l; pose t y (A : {set I}) := b y * \prod_(i in A) (p i y / b y - 1).
(* at a null token the weight is what the terms of one expert lack there *)
have exp y : weight c b p y = b y + \sum_i (p i y - b y) + \sum_(A : {set I} | (2 <= #|A|)%N) t y A.
  have [e|nz] := eqVneq (b y) 0.
    rewrite weight_null // e add0r [X in _ + X]big1 ?addr0 => [|A _]; last by rewrite /t e mul0r.
    by apply: eq_bigr => i _; rewrite subr0.
  have -> : weight c b p y = \sum_(A : {set I}) t y A.
    have -> : weight c b p y = wdrop b p y by case: (c) => //=; rewrite wcancel_supp.
    rewrite /wdrop /t -mulr_sumr; congr (_ * _).
    rewrite (eq_bigr (fun i => (p i y / b y - 1) + 1)) => [|i _]; last by rewrite subrK.
    exact: prod_addr1.
  rewrite (bigID (fun A : {set I} => (2 <= #|A|)%N)) /= addrC; congr (_ + _).
  rewrite (bigD1 set0) ?cards0 //= {1}/t big_set0 mulr1; congr (_ + _).
  rewrite (eq_bigl (fun A : {set I} => A \in [set [set i] | i in I])) => [|A]; last first.
    rewrite -ltnNge ltnS; apply/andP/imsetP => [[A1 A0]|[i _ ->]]; last by rewrite cards1 -card_gt0 cards1.
    by have /cards1P[i ->] : #|A| == 1%N; [rewrite eqn_leq A1 card_gt0|exists i].
  rewrite big_imset /= => [|i j _ _ /set1_inj //].
  by apply: eq_bigr => i _; rewrite /t big_set1 mulrBr mulr1 mulrCA divff ?mulr1.
rewrite /Z (eq_bigr _ (fun y _ => exp y)) !big_split /= b1 [X in _ + X = _]exchange_big /=; congr (_ + _).
rewrite exchange_big /= big1 ?addr0 // => i _.
by rewrite sumrB (dp i).2 b1 subrr.
Qed.

(* 1.8: "So Z(h) = 1 whenever at most one expert deviates at h (also under `cancel` without AC; not under `drop`)" *)
Theorem lemma_1_8_one_deviator c b p : is_dist b -> (forall i, is_dist (p i)) -> faithful c b p ->
  (forall i j, p i != b -> p j != b -> i = j) -> Z (@weight R V I c) b p = 1.
Proof.
move=> [_ b1] dp f one; rewrite /Z; have [i di|nd] := pickP [pred i | p i != b].
  rewrite -(dp i).2; apply: eq_bigr => y _; apply: weight_sole => // j ji.
  by apply/eqP; apply: contraNT ji => dj; rewrite (one j i).
by rewrite -b1; apply: eq_bigr => y _; apply: weight_none => j; apply/eqP; have := nd j; rewrite /= => /negbFE.
Qed.
End Interaction.

Section TwoExperts.
Variables (R : realFieldType) (V : finType) (c : convention) (b : dist R V) (p : bool -> dist R V).
Hypotheses (db : is_dist b) (dp : forall i, is_dist (p i)) (ac : AC b p).
Local Notation r i := (fun y => p i y / b y).
Local Notation Z := (Z (@weight R V [finType of bool] c) b p).

Lemma mean_ratio i : mean b (r i) = 1.
Proof.
rewrite -(dp i).2; apply: eq_bigr => y _; have [e|n] := eqVneq (b y) 0; first by rewrite e mul0r ac.
by rewrite mulrCA divff ?mulr1.
Qed.

(* 1.8: "For k = 2: Z = 1 + Cov_{p_b(.|h)}(r_1, r_2)" *)
Theorem lemma_1_8_covariance : Z = 1 + cov b (r true) (r false).
Proof.
rewrite /cov !mean_ratio mul1r addrCA subrr addr0; apply: eq_bigr => y _.
by rewrite weight_AC // /wdrop big_bool.
Qed.

Lemma Z_sub1 : Z - 1 = mean b (fun y => (p true y / b y - 1) * (p false y / b y - 1)).
Proof.
have e y : b y * ((p true y / b y - 1) * (p false y / b y - 1)) =
    b y * (p true y / b y * (p false y / b y)) - b y * (p true y / b y) - b y * (p false y / b y) + b y.
  by rewrite cov_id mulrDr !mulrBr mulr1.
rewrite /mean (eq_bigr _ (fun y _ => e y)) big_split !sumrB /= -!/(mean _ _) !mean_ratio db.2 subrK.
by congr (_ - _); apply: eq_bigr => y _; rewrite weight_AC // /wdrop big_bool.
Qed.

(* 1.8: "|Z - 1| <= sqrt(chi^2(p_1||p_b) chi^2(p_2||p_b))" (squared, as R need not have roots) *)
Theorem lemma_1_8_chi2 : (Z - 1) ^+ 2 <= chi2 (p true) b * chi2 (p false) b.
Proof. by rewrite Z_sub1 expr2; apply: cauchy_schwarz; case: db. Qed.

(* 1.8: "For |V| = 2, k = 2: Z = 1 iff at most one deviates" *)
Theorem lemma_1_8_two_tokens : #|V| = 2%N -> Z = 1 <-> (exists i, p i = b).
Proof.
move=> V2; split=> [Z1|[i e]]; last first.
  apply: lemma_1_8_one_deviator => // [|j k dj dk]; first by case: (c) => //=.
  have n l : p l != b -> l = ~~ i by case: (l) (i) e => [] [] // ->; rewrite eqxx.
  by rewrite (n j dj) (n k dk).
have /cards2P[u [v [uv /setP Vuv]]] : #|[set: V]| == 2%N by rewrite cardsT V2.
have sumE (F : V -> R) : \sum_y F y = F u + F v.
  rewrite (bigD1 u) //= (big_pred1 v) // => y /=; have := Vuv y; rewrite !inE => /esym/orP[]/eqP->.
    by rewrite eqxx (negPf uv).
  by rewrite eq_sym uv eqxx.
have dv i : p i v = b v - (p i u - b u).
  have := (dp i).2; rewrite -db.2 !sumE => /(canRL (addKr _)) ->.
  by rewrite opprB [RHS]addrA [b v + _]addrC [LHS]addrC.
have eqb i : p i u = b u -> p i = b.
  move=> e; apply/ffunP => y; have := Vuv y; rewrite !inE => /esym/orP[]/eqP-> //.
  by rewrite dv e subrr subr0.
have [bu|bu] := eqVneq (b u) 0; first by exists true; apply: eqb; rewrite bu ac.
have [bv|bv] := eqVneq (b v) 0.
  exists true; apply: eqb; have := dv true; rewrite bv (ac _ bv) sub0r => /eqP.
  by rewrite eq_sym oppr_eq0 subr_eq0 => /eqP.
have /eqP : Z - 1 = 0 by rewrite Z1 subrr.
have term i y : b y != 0 -> p i y / b y - 1 = (p i y - b y) / b y by move=> n; rewrite mulrBl divff.
rewrite Z_sub1 /mean sumE !term // !dv.
have one_token (k x z : R) : k != 0 -> k * (x / k * (z / k)) = x * z / k.
  by move=> kn; rewrite [_ / k * _]mulrC mulrA [k * _]mulrC divfK // mulrA [z * x]mulrC.
have id x z : b u * (x / b u * (z / b u)) + b v * ((b v - x - b v) / b v * ((b v - z - b v) / b v)) =
    x * z * ((b u)^-1 + (b v)^-1).
  by rewrite ![b v - _ - b v]addrAC !subrr !sub0r !one_token // mulrNN mulrDr.
rewrite id.
have pos y : b y != 0 -> 0 < (b y)^-1 by move=> n; rewrite invr_gt0 lt_def n db.1.
rewrite !mulf_eq0 (gt_eqF (addr_gt0 (pos u bu) (pos v bv))) orbF !subr_eq0.
by case/orP => /eqP e; [exists true|exists false]; apply: eqb.
Qed.
End TwoExperts.
