(* theory.md Theorem 2.9: projectivity on a statistic Pi, necessary and sufficient; any number of experts. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition total_variation marginals laws histories.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* "density of a pushforward is the conditional expectation of the density" *)
Section Statistic.
Variables (R : realFieldType) (O O' : finType) (Pi : O -> O') (P Q L : O -> R).
Hypotheses (Q0 : forall y, 0 <= Q y) (LPQ : forall y, P y = L y * Q y).   (* L = dP/dQ, so P << Q *)

(* E_Q[L | Pi = v] *)
Definition cond_exp v := (\sum_(y | Pi y == v) L y * Q y) / push Pi Q v.

Lemma push_density v : push Pi P v = cond_exp v * push Pi Q v.
Proof.
rewrite {1}/push (eq_bigr _ (fun y _ => LPQ y)) /cond_exp.
have [q0|qn] := eqVneq (push Pi Q v) 0; last by rewrite divfK.
rewrite q0 mulr0 big1 // => y yv; rewrite (psumr_eq0P (fun u _ => Q0 u) q0) ?mulr0 //.
Qed.

(* "TV(Pi#P^, Pi#P_i) = 1/2 E_{P_i} |E_{P_i}[L_{-i} | Pi] - 1|" *)
Theorem theorem_2_9_density : TV (push Pi P) (push Pi Q) = 2%:R^-1 * \sum_y Q y * `|cond_exp (Pi y) - 1|.
Proof.
congr (_ * _); rewrite [RHS](partition_big Pi xpredT) //=; apply: eq_bigr => v _.
rewrite push_density -[X in _ - X]mul1r -mulrBl normrM [X in _ * X]ger0_norm; last exact: sumr_ge0.
rewrite mulrC /push mulr_suml; apply: eq_bigr => y /eqP <- //.
Qed.

(* "projective on Pi iff E_{P_i}[L_{-i} | Pi] = 1 a.s." *)
Theorem theorem_2_9_density_iff :
  push Pi P =1 push Pi Q <-> forall y, Q y != 0 -> cond_exp (Pi y) = 1.
Proof.
split=> [e y qn|e v].
  have pn : push Pi Q (Pi y) != 0.
    by apply: contraNneq qn => q0; rewrite (psumr_eq0P (fun u _ => Q0 u) q0).
  by apply: (mulIf pn); rewrite -push_density e mul1r.
rewrite push_density; have [->|pn] := eqVneq (push Pi Q v) 0; first by rewrite mulr0.
have [y /andP[/eqP <- qn]|none] := pickP (fun y => (Pi y == v) && (Q y != 0)).
  by rewrite e // mul1r.
case/eqP: pn; apply: big1 => y yv; apply/eqP; have := none y.
by rewrite /= yv /= => /negbFE.
Qed.
End Statistic.

Section Composition.
Variables (R : realFieldType) (V I : finType) (T : nat) (c : convention) (b : kernel R V) (p : I -> kernel R V) (i : I).
Hypotheses (mb : is_model b) (mp : forall j, is_model (p j)).
Local Notation w := (@weight R V I c).
Local Notation Om := {ffun 'I_T -> V}.
Local Notation PL := (Law (T := T) (comp w b p)).
Local Notation PGl := (fun y : Om => PG w b p T (word y)).
Local Notation Pi := (Law (T := T) (p i)).

(* 0.1: r_{-i}(y|h) = w(y|h) / p_i(y|h) *)
Definition r_without h y := wk w b p h y / p i h y.
(* "local: prod_t r_{-i}(y_t|y_<t) / Z(y_<t)" *)
Definition L_local (y : Om) := \prod_(t : 'I_T) (r_without (take t (word y)) (y t) / Zk w b p (take t (word y))).
(* "global: prod_{j != i} P_j / P_b / Z_G", the path product of r_{-i} where P_b vanishes *)
Definition L_global (y : Om) := (\prod_(t : 'I_T) r_without (take t (word y)) (y t)) / ZG w b p T.

Lemma law_factors (q : kernel R V) (y : Om) : Law q y = \prod_(t : 'I_T) q (take t (word y)) (y t).
Proof. exact: (law_chain (K := q)). Qed.

Lemma W_factors (y : Om) : W w b p [::] (word y) = \prod_(t : 'I_T) wk w b p (take t (word y)) (y t).
Proof.
have wK h : [ffun y => wk w b p h y] =1 wk w b p h by move=> v; rewrite ffunE.
have WE (k : kernel R V) h s : (forall g, k g =1 wk w b p g) -> law k h s = W w b p h s.
  by move=> e; elim: s h => //= v s IH h; rewrite e IH.
rewrite -(WE (fun h => [ffun y => wk w b p h y]) [::] _ wK).
by rewrite -/(Law (fun h => [ffun y => wk w b p h y]) y) law_factors; apply: eq_bigr => t _; rewrite ffunE.
Qed.

Lemma L_localE : (forall y, Pi y = 0 -> PL y = 0) -> forall y, PL y = L_local y * Pi y.
Proof.
move=> ac y; have [z|nz] := eqVneq (Pi y) 0; first by rewrite z mulr0 ac.
apply: (canRL (divfK nz)); rewrite !law_factors -prodf_div; apply: eq_bigr => t _.
by rewrite compE /r_without mulrAC.
Qed.

Lemma L_globalE : (forall y, Pi y = 0 -> PGl y = 0) -> forall y, PGl y = L_global y * Pi y.
Proof.
move=> ac y; have [z|nz] := eqVneq (Pi y) 0; first by rewrite z mulr0 ac.
apply: (canRL (divfK nz)); rewrite /PG W_factors mulrAC /L_global; congr (_ / _).
by rewrite law_factors -prodf_div.
Qed.

(* L_global is the formula of the theorem *)
Lemma L_global_ratio (y : Om) : Law b y != 0 -> Pi y != 0 ->
  L_global y = (\prod_(j | j != i) (Law (p j) y / Law b y)) / ZG w b p T.
Proof.
move=> bn pn; have wd (t : 'I_T) : wk w b p (take t (word y)) (y t) = wk (@wdrop R V I) b p (take t (word y)) (y t).
  have bt : b (take t (word y)) (y t) != 0.
    by move: bn; rewrite law_factors => /prodf_neq0; apply.
  by rewrite /wk; case: (c) => //=; rewrite wcancel_supp.
rewrite /L_global; congr (_ / _); rewrite prodf_div -law_factors.
rewrite (eq_bigr (fun t : 'I_T => b (take t (word y)) (y t) * \prod_j (p j (take t (word y)) (y t) / b (take t (word y)) (y t)))) => [|t _]; last exact: wd.
rewrite big_split /= exchange_big /= -law_factors (bigD1 i) //= prodf_div -!law_factors.
rewrite mulrA [Law b y * _]mulrC divfK // mulrAC divff // mul1r.
by apply: eq_bigr => j _; rewrite prodf_div -!law_factors.
Qed.

Variables (O' : finType) (Pi_ : Om -> O').
Let Pi0 y : 0 <= Pi y. Proof. exact: law_ge0. Qed.

(* Theorem 2.9 for the local composition: "Let Pi be a function of y and L_{-i} = dP^/dP_i, P^ << P_i.  Then
   TV(Pi#P^, Pi#P_i) = 1/2 E_{P_i} |E_{P_i}[L_{-i}|Pi] - 1|; projective on Pi iff E_{P_i}[L_{-i}|Pi] = 1 a.s." *)
Theorem theorem_2_9_local : (forall y, Pi y = 0 -> PL y = 0) ->
  (TV (push Pi_ PL) (push Pi_ Pi) = 2%:R^-1 * \sum_y (Pi y * `|cond_exp Pi_ Pi L_local (Pi_ y) - 1|)) /\
  (push Pi_ PL =1 push Pi_ Pi <-> forall y, Pi y != 0 -> cond_exp Pi_ Pi L_local (Pi_ y) = 1).
Proof.
move=> /L_localE e; split; first exact: theorem_2_9_density.
exact: theorem_2_9_density_iff.
Qed.

(* ... and for the global one *)
Theorem theorem_2_9_global : (forall y, Pi y = 0 -> PGl y = 0) ->
  (TV (push Pi_ PGl) (push Pi_ Pi) = 2%:R^-1 * \sum_y (Pi y * `|cond_exp Pi_ Pi L_global (Pi_ y) - 1|)) /\
  (push Pi_ PGl =1 push Pi_ Pi <-> forall y, Pi y != 0 -> cond_exp Pi_ Pi L_global (Pi_ y) = 1).
Proof.
move=> /L_globalE e; split; first exact: theorem_2_9_density.
exact: theorem_2_9_density_iff.
Qed.

(* "automatic under strict/drop" *)
Theorem theorem_2_9_automatic : (if c is Cancel then False else True) -> forall y,
  Pi y = 0 -> PL y = 0 /\ PGl y = 0.
Proof.
move=> nc y /eqP; rewrite law_factors => /prodf_eq0[t _ /eqP pt].
have wt : wk w b p (take t (word y)) (y t) = 0.
  rewrite /wk; case: (c) nc => //= _; rewrite /wdrop (bigD1 i) //= pt !mul0r mulr0 //.
split; last by rewrite /PG W_factors (bigD1 t) //= wt !mul0r.
by rewrite law_factors (bigD1 t) //= compE wt !mul0r.
Qed.
End Composition.
