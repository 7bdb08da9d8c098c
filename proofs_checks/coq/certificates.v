(* theory.md 8, certificates: the direct TV certificate, prefix sampling, the composite bound, and Ville's inequality on
   the tree of an AR model (anytime certificates), at a finite horizon. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition local_global total_variation robust_laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Direct.
Variables (R : realFieldType) (V I : finType) (cv : convention).
Local Notation w := (@weight R V I cv).
Variables (b : kernel R V) (p : I -> kernel R V) (s : kernel R V) (T : nat).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)) (ms : is_model s).
Hypothesis alive : forall h, Rhat w T b p h -> Zk w b p h != 0.
Local Notation Phat y := (law (comp w b p) [::] y).
Local Notation S y := (law s [::] y).

Lemma Phat_ge0 (y : seq V) : 0 <= Phat y. Proof. exact: PL_ge0. Qed.
Lemma S_ge0 (y : seq V) : 0 <= S y. Proof. exact: law_ge0. Qed.

(* "X = (1 - P^(y)/S(y))_+ in [0,1]" *)
Theorem direct_certificate_range (x z : R) : 0 <= x -> 0 <= z -> 0 <= pos (1 - x / z) <= 1.
Proof.
move=> x0 z0; rewrite /pos le_maxr lexx orbT le_maxl ler01 andbT ler_subl_addr ler_addl.
by rewrite divr_ge0.
Qed.

Lemma masses : \sum_(y : T.-tuple V) Phat y = \sum_(y : T.-tuple V) S y.
Proof. by rewrite [RHS]law_sum1 //; apply: PL_sum1. Qed.

(* "Under S: E X = TV(P^, S) exactly" *)
Theorem direct_certificate :
  \sum_(y : T.-tuple V) S y * pos (1 - Phat y / S y) = seqTV (comp w b p) s T.
Proof. by rewrite TV_certificate ?masses // => y; [apply: Phat_ge0|apply: S_ge0]. Qed.

(* "Under P^: (1 - S/P^)_+" *)
Theorem direct_certificate_composed :
  \sum_(y : T.-tuple V) Phat y * pos (1 - S y / Phat y) = seqTV (comp w b p) s T.
Proof.
rewrite TV_certificate ?masses //; first exact: TVC.
  by move=> y; apply: S_ge0.
by move=> y; apply: Phat_ge0.
Qed.

(* "Prefix sampling: only q <= T obar": P^(hit O) <= sum_t P^(y_<t in O) *)
Theorem prefix_sampling (O : pred (seq V)) : \sum_(y : T.-tuple V | hits O y) Phat y <=
  \sum_(y : T.-tuple V) Phat y * \sum_(l < T) (O (take l y))%:R.
Proof.
rewrite big_mkcond; apply: ler_sum => y _; case: ifP => [/hasP[l]|_]; last first.
  by rewrite mulr_ge0 ?Phat_ge0 // sumr_ge0 // => l _; rewrite ler0n.
rewrite mem_iota add0n size_tuple /= => lT Ol; rewrite ler_pemulr ?Phat_ge0 //.
by rewrite (bigD1 (Ordinal lT)) //= Ol ler_addl sumr_ge0 // => k _; rewrite ler0n.
Qed.

(* "Composite: P^(all succeed) >= 1 - sum_i delta_i - TV", from S(not G_i) <= delta_i *)
Theorem composite_certificate (J : finType) (G : J -> pred (T.-tuple V)) (delta : J -> R) (u : R) :
  (forall i, \sum_(y | ~~ G i y) S y <= delta i) -> seqTV (comp w b p) s T <= u ->
  1 - \sum_i delta i - u <= \sum_(y | [forall i, G i y]) Phat y.
Proof.
move=> Gd tu; set A := [pred y : T.-tuple V | [forall i, G i y]].
have SA : \sum_(y | ~~ A y) S y <= \sum_i delta i.
  apply: (@le_trans _ _ (\sum_i \sum_(y : T.-tuple V) if ~~ G i y then S y else 0)); last first.
    by apply: ler_sum => i _; rewrite -big_mkcond; apply: Gd.
  rewrite exchange_big [leLHS]big_mkcond /=; apply: ler_sum => y _; case: ifP => [|_]; last first.
    by apply: sumr_ge0 => i _; case: ifP => // _; apply: S_ge0.
  rewrite negb_forall => /existsP[i nG]; rewrite (bigD1 i) //= nG ler_addl sumr_ge0 // => j _.
  by case: ifP => // _; apply: S_ge0.
have PA := TV_event_le (P := fun y : T.-tuple V => Phat y) A masses.
have S1 : \sum_(y | A y) S y = 1 - \sum_(y | ~~ A y) S y.
  by rewrite -(law_sum1 [::] T ms) [X in _ = X - _](bigID A) /= addrK.
rewrite S1 ler_subl_addl in PA; rewrite ler_subl_addr.
apply: (le_trans (y := 1 - \sum_(y | ~~ A y) S y)); first by rewrite ler_add2l ler_opp2.
by apply: le_trans PA _; rewrite ler_add2l.
Qed.
End Direct.

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
