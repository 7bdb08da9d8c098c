(* theory.md Lemma 1.8 (formula), 4.4(1) and 4.4(3). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Extra.
Variables (R : realFieldType) (V I : finType).
Local Notation dist := (dist R V).
Implicit Types (b : dist) (p : I -> dist).
Local Notation wd := (@wdrop R V I).

Lemma prod_addr1 (x : I -> R) : \prod_i (x i + 1) = \sum_(A : {set I}) \prod_(i in A) x i.
Proof.
rewrite (eq_bigr (fun i => \sum_(t : bool) if t then x i else 1)) => [|i _]; last by rewrite big_bool.
rewrite bigA_distr_bigA (reindex (fun A : {set I} => [ffun i => i \in A])) /=.
  by apply: eq_bigr => A _; rewrite [RHS]big_mkcond; apply: eq_bigr => i _; rewrite ffunE.
exists (fun f : {ffun I -> bool} => [set i | f i]) => [A _|f _].
  by apply/setP => i; rewrite inE ffunE.
by apply/ffunP => i; rewrite ffunE inE.
Qed.

(* Lemma 1.8 *)
Theorem Z_interaction b p : is_dist b -> (forall i, is_dist (p i)) -> AC b p ->
  Z wd b p = 1 + \sum_(A : {set I} | (2 <= #|A|)%N) \sum_y b y * \prod_(i in A) (p i y / b y - 1).
Proof.
move=> [b0 b1] dp ac.
have exp y : wd b p y = \sum_(A : {set I}) b y * \prod_(i in A) (p i y / b y - 1).
  rewrite /wdrop -mulr_sumr; congr (_ * _).
  rewrite (eq_bigr (fun i => (p i y / b y - 1) + 1)) => [|i _]; last by rewrite subrK.
  exact: prod_addr1.
rewrite /Z (eq_bigr _ (fun y _ => exp y)) exchange_big /=.
rewrite (bigID (fun A : {set I} => (2 <= #|A|)%N)) /= addrC; congr (_ + _).
rewrite (bigD1 set0) ?cards0 //= [X in X + _](eq_bigr b) => [|y _]; last by rewrite big_set0 mulr1.
rewrite b1 big1 ?addr0 // => A; rewrite -ltnNge ltnS => /andP[A1 A0].
have /cards1P[i ->] : #|A| == 1%N by rewrite eqn_leq A1 card_gt0.
transitivity (\sum_y (p i y - b y)); last by rewrite sumrB (dp i).2 b1 subrr.
apply: eq_bigr => y _; rewrite big_set1 mulrBr mulr1.
have [e|nz] := eqVneq (b y) 0; first by rewrite e (ac i y e) mul0r.
by rewrite mulrCA divff ?mulr1.
Qed.

(* 4.4(1), full support of b, one direction pair: p^ = p_i iff prod_{j<>i} r_j is constant on supp p_i *)
Definition rmi b p i y := \prod_(j | j != i) (p j y / b y).
Lemma w_rmi b p i y : (forall y, b y != 0) -> wd b p y = p i y * rmi b p i y.
Proof. by move=> bn; rewrite /wdrop (bigD1 i) //= mulrA mulrCA divff ?bn // mulr1. Qed.

Theorem exact_iff b p i : (forall y, b y != 0) -> is_dist (p i) -> Z wd b p != 0 ->
  (norm wd b p = p i) <-> exists2 c, c != 0 & forall y, p i y != 0 -> rmi b p i y = c.
Proof.
move=> bn [pi0 pi1] Zn; split=> [e|[c cn e]].
  exists (Z wd b p) => // y py; have := congr1 (fun f : dist => f y) e; rewrite /= ffunE (w_rmi p i y bn).
  by move/(canRL (divfK Zn)); apply: (mulfI py).
have Zc : Z wd b p = c.
  rewrite /Z -[RHS]mul1r -pi1 mulr_suml; apply: eq_bigr => y _; rewrite (w_rmi p i y bn).
  by have [->|py] := eqVneq (p i y) 0; rewrite ?mul0r // e.
apply/ffunP => y; rewrite ffunE Zc (w_rmi p i y bn).
by have [->|py] := eqVneq (p i y) 0; rewrite ?mul0r // e // mulfK.
Qed.
End Extra.

(* 4.4(3): k = 2, full support: exact at h iff at most one expert deviates at h *)
Theorem exact2_iff (R : realFieldType) (V : finType) (b : dist R V) (p : bool -> dist R V) :
  is_dist b -> (forall i, is_dist (p i)) -> (forall y, b y != 0) -> (forall i y, p i y != 0) ->
  Z (@wdrop R V _) b p != 0 ->
  (exists i, norm (@wdrop R V _) b p = p i) <-> (exists i, p (~~ i) = b).
Proof.
move=> [b0 b1] dp bn pn Zn.
have rE i y : rmi b p i y = p (~~ i) y / b y.
  by rewrite /rmi (big_pred1 (~~ i)) // => j /=; case: i j => [] [].
split=> -[i e]; exists i; last first.
  apply: (exact_iff bn (dp i) Zn).2; exists 1 => [|y _]; first exact: oner_neq0.
  by rewrite rE e divff.
have [c cn ec] := (exact_iff bn (dp i) Zn).1 e.
have pc y : p (~~ i) y = c * b y by rewrite -(ec y (pn i y)) rE divfK.
have c1 : c = 1 by rewrite -(dp (~~ i)).2 (eq_bigr _ (fun y _ => pc y)) -mulr_sumr b1 mulr1.
by apply/ffunP => y; rewrite pc c1 mul1r.
Qed.
