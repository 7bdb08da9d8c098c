(* theory.md 8, certificates: Ville's inequality on the tree of an AR model (anytime certificates), at a finite horizon. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* "valid at all stopping times (Ville)": a nonnegative supermartingale started at 1 exceeds 1/al w.p. <= al *)
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
