(* theory.md 1.5(1)-(3) (local vs global), and finite-horizon Ville (Sec. 8, anytime certificates). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section LocGlob.
Variables (R : realFieldType) (V I : finType) (w : dist R V -> (I -> dist R V) -> V -> R).
Variables (b : kernel R V) (p : I -> kernel R V) (T : nat).
Local Notation c := (comp w b p).
Local Notation PL y := (law c [::] y).
Definition ZG := \sum_(y : T.-tuple V) W w b p [::] y.
Definition PG (y : seq V) := W w b p [::] y / ZG.
Hypothesis w0 : forall h y, 0 <= wk w b p h y.
(* no dead prefix on R^ *)
Hypothesis alive : forall h, (size h < T)%N -> reach c h -> Zk w b p h != 0.

Lemma Zk_ge0 h : 0 <= Zk w b p h. Proof. by apply: sumr_ge0 => y _; apply: w0. Qed.

Lemma comp_model : model_from c [::] T.
Proof.
move=> h hT rh /=; have Zn := alive hT rh; split=> [y|].
  by rewrite ffunE divr_ge0 ?Zk_ge0 // w0.
rewrite /comp; under eq_bigr do rewrite ffunE.
by rewrite -mulr_suml divff.
Qed.

(* 1.5(1), valid on every path, dead or not after the support is left *)
Lemma W_PL (y : seq V) : (size y <= T)%N -> W w b p [::] y = PL y * pathZ w b p [::] y.
Proof.
have path_rcons h s v : pathZ w b p h (rcons s v) = pathZ w b p h s * Zk w b p (h ++ s).
  by elim: s h => [|z s IH] h /=; rewrite ?mulr1 ?mul1r ?cats0 // IH mulrA cat_rcons.
elim/last_ind: y => [_|y v IH]; first by rewrite /= mulr1.
rewrite size_rcons => yT; rewrite W_rcons law_rcons path_rcons IH ?(ltnW yT) //= mulrACA.
have [->|rn] := eqVneq (PL y) 0; first by rewrite !mul0r.
by rewrite ffunE -/(Zk w b p y) -/(wk w b p y v) divfK // alive.
Qed.

Lemma ZG_mean : ZG = \sum_(y : T.-tuple V) PL y * pathZ w b p [::] y.
Proof. by apply: eq_bigr => y _; rewrite W_PL ?size_tuple. Qed.

(* 1.5(2): equal iff the path product of Z is constant on the support of P_L *)
Theorem PG_eq_PL : ZG != 0 ->
  (forall y : T.-tuple V, PG y = PL y) <->
  (exists k, forall y : T.-tuple V, PL y != 0 -> pathZ w b p [::] y = k).
Proof.
move=> Gn; split=> [e|[k ek]].
  exists ZG => y yn; have := e y; rewrite /PG W_PL ?size_tuple // => /(canRL (divfK Gn)).
  exact: mulfI.
have Gk : ZG = k.
  rewrite ZG_mean -[RHS]mul1r -(law_sum1_from comp_model) mulr_suml; apply: eq_bigr => y _.
  by have [->|yn] := eqVneq (PL y) 0; rewrite ?mul0r // ek.
move=> y; rewrite /PG W_PL ?size_tuple //.
by have [->|yn] := eqVneq (PL y) 0; rewrite ?mul0r // ek // -Gk mulfK.
Qed.
End LocGlob.

(* Ville on the tree of any AR model: a nonnegative supermartingale started at 1 exceeds 1/al w.p. <= al *)
Section Ville.
Variables (R : realFieldType) (V : finType) (s : kernel R V) (M : seq V -> R) (al : R).
Hypotheses (ms : is_model s) (M0 : forall h, 0 <= M h) (al0 : 0 < al).
Hypothesis super : forall h, \sum_y s h y * M (rcons h y) <= M h.
Definition crossed h (t : seq V) := has (fun l => 1 <= al * M (h ++ take l t)) (iota 0 (size t).+1).

Lemma crossed_cons h y t : crossed h (y :: t) = (1 <= al * M h) || crossed (rcons h y) t.
Proof.
rewrite /crossed -[iota 0 _]/([:: 0%N] ++ iota 1 (size t).+1) has_cat has_seq1 take0 cats0.
congr (_ || _); rewrite -[1%N]addn0 iotaDl has_map; by apply: eq_has => l /=; rewrite cat_rcons.
Qed.

Theorem ville n h : \sum_(t : n.-tuple V | crossed h t) law s h t <= al * M h.
Proof.
elim: n h => [|n IH] h; have [big|small] := boolP (1 <= al * M h).
- apply: le_trans big; rewrite -(law_sum1 h 0 ms) big_mkcond; apply: ler_sum => t _.
  by case: ifP => // _; apply: law_ge0.
- rewrite big1 ?mulr_ge0 ?(ltW al0) // => t; rewrite (tuple0 t) /crossed /= cats0 orbF.
  by rewrite (negPf small).
- apply: le_trans big; rewrite -(law_sum1 h n.+1 ms) big_mkcond; apply: ler_sum => t _.
  by case: ifP => // _; apply: law_ge0.
rewrite big_mkcond /= (big_tuple_cons _ (fun t => if crossed h t then law s h t else 0)) /=.
apply: (@le_trans _ _ (\sum_y s h y * (al * M (rcons h y)))).
  apply: ler_sum => y _; apply: le_trans (ler_wpmul2l ((ms h).1 y) (IH _)).
  rewrite mulr_sumr [leRHS]big_mkcond; apply: ler_sum => t _.
  by rewrite crossed_cons (negPf small) /=.
under eq_bigr do rewrite mulrCA.
by rewrite -mulr_sumr ler_pmul2l.
Qed.
End Ville.
