(* theory.md 1.5 (4), 8.1 and 8.2 (1): the identities for the Kullback-Leibler divergence, with the logarithm of exponential.v.
   Not here, as they need calculus: the quadratic bounds osc(S)^2/8 and o^2/8 on the divergence, and the bounds on TV from it,
   sqrt(KL/2) (Pinsker) and sqrt(1 - e^{-KL}).  Nor the infinite values: where s << p^ fails, KL is not this sum. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import exponential setting composition local_global total_variation robust.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OneKernel.
Variables (R : realFieldType) (E : exponential R) (O : finType).
Implicit Types (P Q : O -> R).
(* finite where P << Q; 0 log 0 = 0 *)
Definition KL P Q := \sum_y P y * loga E (P y / Q y).

Variables (p F : O -> R).
Hypotheses (p0 : forall y, 0 <= p y) (p1 : \sum_y p y = 1) (F0 : forall y, p y != 0 -> 0 < F y).
Local Notation q := (tilted p F).                     (* q ∝ p e^f, F = e^f *)
Local Notation mean := (\sum_y p y * F y).

Lemma mean_gt0 : 0 < mean.
Proof.
have term0 y : 0 <= p y * F y.
  by have [->|n] := eqVneq (p y) 0; rewrite ?mul0r // mulr_ge0 // ltW // F0.
have [y yn] : exists y, p y != 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP a.
  have := p1; rewrite big1 => [/eqP|y _]; first by rewrite eq_sym oner_eq0.
  by have := a y; rewrite negbK => /eqP.
rewrite (bigD1 y) //= ltr_paddr //; first by apply: sumr_ge0.
by rewrite mulr_gt0 ?F0 // lt_def yn p0.
Qed.

(* 8.1: "Exact: KL(p||q) = log E_p e^f - E_p f (Jensen gap)" *)
Theorem lemma_8_1_jensen : KL p q = loga E mean - \sum_y p y * loga E (F y).
Proof.
have m0 := mean_gt0.
rewrite -[loga E mean]mul1r -p1 mulr_suml -sumrB; apply: eq_bigr => y _; rewrite -mulrBr.
have [->|n] := eqVneq (p y) 0; first by rewrite !mul0r.
congr (_ * _); have -> : p y / q y = mean / F y.
  by rewrite /tilted -mulrA invfM mulrA divff // mul1r invfM invrK mulrC.
by rewrite (lnM E m0) ?invr_gt0 ?F0 // lnV ?F0.
Qed.

(* and the other way round *)
Theorem lemma_8_1_jensen_reverse : KL q p = \sum_y q y * loga E (F y) - loga E mean.
Proof.
have m0 := mean_gt0; have q1 : \sum_y q y = 1 by rewrite /tilted -mulr_suml divff // gt_eqF.
rewrite -[loga E mean]mul1r -q1 mulr_suml -sumrB; apply: eq_bigr => y _; rewrite -mulrBr.
have [z|n] := eqVneq (p y) 0; first by rewrite /tilted z !mul0r.
congr (_ * _); have -> : q y / p y = F y / mean by rewrite /tilted mulrAC [p y * _]mulrC mulfK.
by rewrite (lnM E (F0 n)) ?invr_gt0 // lnV.
Qed.
End OneKernel.

(* 1.5 (4): "KL(P_L||P_G) = log E_L e^S - E_L S, KL(P_G||P_L) = E_G S - log Z_G" *)
Theorem theorem_1_5_4_kl (R : realFieldType) (E : exponential R) (V I : finType) c (b : kernel R V) (p : I -> kernel R V) T
  (w := @weight R V I c) (PL := fun y : T.-tuple V => law (comp w b p) [::] y) (PG := fun y : T.-tuple V => PG w b p T y)
  (S := fun y : T.-tuple V => loga E (pathZ w b p [::] y)) :
  is_model b -> (forall i, is_model (p i)) -> (forall h, Rhat w T b p h -> Zk w b p h != 0) ->
  KL E PL PG = loga E (\sum_y PL y * E (S y)) - \sum_y PL y * S y /\
  KL E PG PL = \sum_y PG y * S y - loga E (ZG w b p T).
Proof.
move=> mb mp alive; pose F (y : T.-tuple V) := pathZ w b p [::] y.
have PL0 y : 0 <= PL y by apply: (PL_ge0 c mb mp).
have PL1 : \sum_y PL y = 1 by apply: (PL_sum1 mb mp alive).
have F0 y : PL y != 0 -> 0 < F y by apply: (e_S_gt0 mb mp alive); rewrite size_tuple.
have ZE : ZG w b p T = \sum_y PL y * F y by apply: (theorem_1_5_1_mean alive).
have qE y : PG y = tilted PL F y by rewrite /PG (theorem_1_5_1 alive) /tilted -ZE.
have mE : \sum_y PL y * E (S y) = \sum_y PL y * F y.
  apply: eq_bigr => y _; have [->|n] := eqVneq (PL y) 0; first by rewrite !mul0r.
  by rewrite logaK // F0.
split.
  rewrite (_ : KL E PL PG = KL E PL (tilted PL F)); last by apply: eq_bigr => y _; rewrite qE.
  by rewrite mE; apply: lemma_8_1_jensen.
rewrite (_ : KL E PG PL = KL E (tilted PL F) PL); last by apply: eq_bigr => y _; rewrite qE.
rewrite ZE lemma_8_1_jensen_reverse //.
by congr (_ - _); apply: eq_bigr => y _; rewrite qE.
Qed.

(* 8.2 (1): "KL(S||P^) = E_S sum_t KL(s||p^)", for kernels s and q where s << q on the prefixes of length < T that s reaches:
   the case in which both sides are finite (elsewhere both are infinite) *)
Section ChainRule.
Variables (R : realFieldType) (E : exponential R) (V : finType) (q s : kernel R V).
Hypotheses (ms : is_model s) (q0 : forall h y, 0 <= q h y).

Lemma chain_rule n h : (forall t y, (size t < n)%N -> law s h t != 0 -> s (h ++ t) y != 0 -> q (h ++ t) y != 0) ->
  KL E (fun t : n.-tuple V => law s h t) (fun t => law q h t) = Esteps s (fun g => KL E (s g) (q g)) n h.
Proof.
elim: n h => [|n IH] h ac.
  rewrite /KL /Esteps (sum_tuple0 (fun t => law s h t * loga E (law s h t / law q h t))) /= divr1 ln1 mulr0.
  by rewrite big1 // => t _; rewrite big_ord0 mulr0.
rewrite EstepsS; last exact: is_model_from.
rewrite /KL (big_tuple_cons n (fun t => law s h t * loga E (law s h t / law q h t))) -big_split.
apply: eq_bigr => y _ /=; have [->|sn] := eqVneq (s h y) 0.
  by rewrite !mul0r addr0 big1 // => t _; rewrite !mul0r.
have s0 : 0 < s h y by rewrite lt_def sn (ms h).1.
have qn : 0 < q h y by rewrite lt_def q0 andbT; have := ac [::] y; rewrite cats0; apply; rewrite ?oner_neq0.
rewrite -IH => [|t z tn lt sz]; last first.
  by move: sz; rewrite cat_rcons; apply: (ac (y :: t) z); rewrite /= ?mulf_neq0.
rewrite -mulrDr /KL -[loga E (s h y / q h y)]mul1r -(law_sum1 (rcons h y) n ms) mulr_suml -big_split mulr_sumr.
apply: eq_bigr => t _ /=; rewrite -mulrA -mulrDr; congr (_ * _).
have [->|lt] := eqVneq (law s (rcons h y) t) 0; first by rewrite !mul0r.
congr (_ * _); have l0 : 0 < law s (rcons h y) t by rewrite lt_def lt law_ge0.
have lq : 0 < law q (rcons h y) t.
  rewrite lt_def; apply/andP; split; last first.
    by elim: (tval t) (rcons h y) => [|z u IHu] g /=; rewrite ?ler01 ?mulr_ge0.
  apply/law_neq0P => u z v e; rewrite cat_rcons; apply: (ac (y :: u) z); rewrite /= ?mulf_neq0 //.
    by rewrite ltnS -(size_tuple t) e size_cat -addSnnS leq_addr.
    by apply: (contraNneq _ lt) => u0; rewrite e law_cat u0 mul0r.
  by rewrite -cat_rcons; have /law_neq0P := lt; apply; exact: e.
have -> : s h y * law s (rcons h y) t / (q h y * law q (rcons h y) t) =
    s h y / q h y * (law s (rcons h y) t / law q (rcons h y) t) by rewrite invfM mulrACA.
by rewrite (lnM E (divr_gt0 s0 qn) (divr_gt0 l0 lq)).
Qed.
End ChainRule.

Theorem theorem_8_2_1 (R : realFieldType) (E : exponential R) (V I : finType) c (b : kernel R V) (p : I -> kernel R V)
  (s : kernel R V) T (phat := comp (@weight R V I c) b p) :
  is_model b -> (forall i, is_model (p i)) -> is_model s ->
  (forall h y, (size h < T)%N -> reach s h -> s h y != 0 -> phat h y != 0) ->
  KL E (fun y : T.-tuple V => law s [::] y) (fun y => law phat [::] y) =
  \sum_(y : T.-tuple V) law s [::] y * \sum_(l < T) KL E (s (take l y)) (phat (take l y)).
Proof.
move=> mb mp ms ac; rewrite (@chain_rule _ E _ phat s) // => h y.
by apply: comp_ge0 => *; apply: wk_ge0.
Qed.
