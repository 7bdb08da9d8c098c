(* theory.md 11.1 (wrong background) and 11.2 (identifiability of the background). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section WrongBackground.
Variables (R : realFieldType) (V I : finType) (c : convention).
Variables (p0 b : kernel R V) (p : I -> kernel R V) (h : seq V).
Local Notation w := (@weight R V I c).
(* "Let p_0 << p_b" *)
Hypothesis p0b : forall y, b h y = 0 -> p0 h y = 0.
(* "experts equal a true background p_0 off their sets (JF-pt w.r.t. p_0)", at the prefix h *)
Hypothesis one : forall i j, dev p0 p i h -> dev p0 p j h -> i = j.
Local Notation s := (switch p0 p h).                  (* the right composition, 4.4 (2) *)
Local Notation k := #|I|.
Local Notation ratio y := (p0 h y / b h y).

Lemma drop_wrong y : (0 < k)%N -> b h y != 0 ->
  wk (@wdrop R V I) b p h y = s y * ratio y ^+ k.-1.
Proof.
move=> k0 bn; rewrite /wk /wdrop /switch /assign; case: pickP => [i di|nd].
  rewrite (bigD1 i) //= mulrA mulrCA divff // mulr1; congr (_ * _).
  rewrite -(cardC1 i) -prodr_const; apply: eq_bigr => j ji.
  by have -> : p j h = p0 h by apply/eqP; apply: contraNT ji => dj; apply/eqP/one.
have e j : p j h = p0 h by apply/eqP; have := nd j; rewrite /dev => /negbFE.
rewrite (eq_bigr (fun=> ratio y)) => [|j _]; last by rewrite e.
by rewrite prodr_const -(prednK k0) exprS mulrA mulrCA divff // mulr1.
Qed.

(* 11.1: "p_b is subtracted: p^ ∝ s (p_0/p_b)^{k-1} at each prefix", before normalisation.  Where p_b(y) = 0 the quotient
   has a sense only if nobody opens the token: p_i << p_b (`strict`). *)
Theorem theorem_11_1_weight y : (0 < k)%N -> AC (b h) (fun i => p i h) ->
  wk w b p h y = s y * ratio y ^+ k.-1.
Proof.
move=> k0 ac; rewrite /wk weight_AC //.
have [b0|bn] := eqVneq (b h y) 0; last exact: drop_wrong.
suff -> : s y = 0 by rewrite /wdrop b0 !mul0r.
by rewrite /switch; case: (assign _ _ _) => [i|]; [apply: (ac i)|apply: p0b].
Qed.

Theorem theorem_11_1 : (0 < k)%N -> AC (b h) (fun i => p i h) ->
  comp w b p h = [ffun y => s y * ratio y ^+ k.-1 / \sum_z s z * ratio z ^+ k.-1].
Proof.
move=> k0 ac; apply/ffunP => y; rewrite compE ffunE theorem_11_1_weight //; congr (_ / _).
by apply: eq_bigr => z _; apply: theorem_11_1_weight.
Qed.

(* 11.1: "k = 1 is immune" *)
Theorem theorem_11_1_immune : k = 1%N -> (forall i, is_model (p i)) ->
  faithful c (b h) (fun i => p i h) -> comp w b p h = s.
Proof.
move=> k1 mp f; have /card_gt0P[i _] : (0 < k)%N by rewrite k1.
have sole j : j = i by have /fintype_le1P/(_ i j) : (k <= 1)%N by rewrite k1.
have e : wk w b p h =1 p i h by apply: weight_sole => // j; rewrite (sole j) eqxx.
have -> : s = p i h.
  rewrite /switch /assign; case: pickP => [j _|nd]; first by rewrite (sole j).
  by apply/esym/eqP; have := nd i; rewrite /dev => /negbFE.
apply/ffunP => y; rewrite compE e (_ : Zk w b p h = 1) ?divr1 // -(mp i h).2.
by apply: eq_bigr => z _; apply: e.
Qed.

(* 11.1: "k = 2 one factor, k = 3 two: o(h) = (k-1) osc(log p_0/p_b)": the spread of w/s is that of p_0/p_b to the k-1 *)
Theorem theorem_11_1_oscillation y z : (0 < k)%N -> AC (b h) (fun i => p i h) -> s y != 0 -> s z != 0 ->
  (wk w b p h y / s y) / (wk w b p h z / s z) = (ratio y / ratio z) ^+ k.-1.
Proof.
by move=> k0 ac sy sz; rewrite !theorem_11_1_weight // ![s _ * _]mulrC !mulfK // [RHS]expr_div_n.
Qed.

(* 11.1: "off intervals p_b (p_c/p_b)^k" *)
Theorem theorem_11_1_off y : (forall i, ~~ dev p0 p i h) -> b h y != 0 ->
  wk w b p h y = b h y * ratio y ^+ k.
Proof.
move=> nd bn; have e i : p i h = p0 h by apply/eqP; have := nd i; rewrite negbK.
have -> : wk w b p h y = wdrop (b h) (fun i => p i h) y by rewrite /wk; case: (c) => //=; rewrite wcancel_supp.
by rewrite /wdrop -prodr_const; congr (_ * _); apply: eq_bigr => i _; rewrite e.
Qed.

(* 11.1: "Remedy: subtract p_c" (the true background) *)
Theorem theorem_11_1_remedy : is_model p0 -> (forall i, is_model (p i)) ->
  faithful c (p0 h) (fun i => p i h) -> comp w p0 p h = s.
Proof.
move=> m0 mp f; have e : wk w p0 p h =1 s.
  move=> y; rewrite /wk /switch /assign; case: pickP => [i di|nd].
    by apply: weight_sole => // j; apply: contraNeq => dj; apply/eqP/one.
  by apply: weight_none => j; apply/eqP; have := nd j; rewrite /dev => /negbFE.
apply/ffunP => y; rewrite compE e.
have -> : Zk w p0 p h = 1 by rewrite -(switch_model m0 mp h).2; apply: eq_bigr => z _; apply: e.
by rewrite divr1.
Qed.
End WrongBackground.

Section Identifiability.
Variables (R : realFieldType) (V I : finType).
Local Notation dist := (dist R V).
(* the experts' rows at a prefix; the background p_0 is unknown *)
Variable p : I -> dist.
Definition deviators (p0 : dist) := [set i | p i != p0].

(* 11.2: "At every h where at most one expert deviates from an unknown p_0, k >= 3: p_0(.|h) is the kernel shared by at
   least k-1 experts" *)
Theorem theorem_11_2_shared (p0 : dist) : (3 <= #|I|)%N -> (#|deviators p0| <= 1)%N ->
  forall q, (#|I|.-1 <= #|[set i | p i == q]|)%N <-> q = p0.
Proof.
move=> k3 one q; split=> [sh|->].
  apply/eqP; apply: contraT => qp; suff : (#|I|.-1 <= 1)%N by case: #|I| k3 => [|[|[|n]]].
  apply: leq_trans (leq_trans sh _) one; apply: subset_leq_card; apply/subsetP => i.
  by rewrite !inE => /eqP->.
have -> : [set i | p i == p0] = ~: deviators p0 by apply/setP => i; rewrite !inE negbK.
by rewrite cardsCs setCK cardT -cardE -subn1 leq_sub2l.
Qed.

(* m is a median of the family x: at most half of it lies below, at most half above *)
Definition is_median (x : I -> R) (m : R) :=
  (2 * #|[set i | (x i < m)%R]| <= #|I|)%N && (2 * #|[set i | (m < x i)%R]| <= #|I|)%N.

(* 11.2: "equals the coordinatewise median (also valid while fewer than half of the experts deviate)" *)
Theorem theorem_11_2_median (p0 : dist) : (2 * #|deviators p0| < #|I|)%N ->
  forall y m, is_median (fun i => p i y) m <-> m = p0 y.
Proof.
move=> half y m.
have big (A : {set I}) : ~: deviators p0 \subset A -> (#|I| < 2 * #|A|)%N.
  move/subset_leq_card => dA; have := half; rewrite -(cardsC (deviators p0)).
  rewrite !mul2n -!addnn => dh; have {}dh : (#|deviators p0| < #|~: deviators p0|)%N by rewrite ltn_add2l in dh.
  by apply: leq_trans (leq_add dA dA); rewrite -addSn leq_add2r.
have same i : i \in ~: deviators p0 -> p i y = p0 y by rewrite !inE negbK => /eqP->.
split=> [/andP[lo hi]|->].
  apply/eqP; apply: contraT => mp; case: (ltgtP m (p0 y)) mp => // mp _.
    have := leq_ltn_trans hi (big [set i | m < p i y] _); rewrite ltnn => -> //.
    by apply/subsetP => i /same e; rewrite inE e.
  have := leq_ltn_trans lo (big [set i | p i y < m] _); rewrite ltnn => -> //.
  by apply/subsetP => i /same e; rewrite inE e.
have small (A : {set I}) : A \subset deviators p0 -> (2 * #|A| <= #|I|)%N.
  by move/subset_leq_card => Ad; apply: leq_trans (ltnW half); rewrite leq_pmul2l.
by apply/andP; split; apply: small; apply/subsetP => i; rewrite !inE; apply: contraTneq => ->; rewrite ltxx.
Qed.

(* at most one deviator of k >= 3 is fewer than half *)
Lemma one_of_three (p0 : dist) : (3 <= #|I|)%N -> (#|deviators p0| <= 1)%N -> (2 * #|deviators p0| < #|I|)%N.
Proof. by move=> k3 one; apply: leq_trans k3; rewrite ltnS -[leqRHS]muln1 leq_pmul2l. Qed.
End Identifiability.

(* 11.2: "k = 2: not identifiable from {p_1, p_2} where one deviates (swap roles)" *)
Theorem theorem_11_2_two (R : realFieldType) (V : finType) (p : bool -> dist R V) : p true != p false ->
  [/\ p true != p false, #|deviators p (p true)| = 1%N & #|deviators p (p false)| = 1%N].
Proof.
by move=> n; split=> //; apply/eqP/cards1P; [exists false|exists true]; apply/setP => -[]; rewrite !inE ?eqxx ?n // eq_sym n.
Qed.
