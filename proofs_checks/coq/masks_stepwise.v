(* theory.md Theorem 2.2, local half, from the law-level Definition 2.1: Z = 1 on R^ and P_L = P_G.
   Bridge between laws on {ffun 'I_T -> V} (marginals) and kernels on seq V (sampler). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition features masks.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Bridge.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation Om := {ffun 'I_T -> V}.
Local Notation kernel := (kernel R V).

Definition word (y : Om) : T.-tuple V := mktuple y.
Definition upto l : pred 'I_T := fun t => (t < l)%N.
Definition Law (p : kernel) (y : Om) := law p [::] (word y).

Lemma wordE y : word y = map y (enum 'I_T) :> seq V. Proof. by []. Qed.
Lemma agree_take l z y : agree (upto l) z y = (take l (word z) == take l (word y)).
Proof.
apply/agreeP/eqP => [e|e t tl].
  have te (u : Om) : take l (word u) = map u (take l (enum 'I_T)) by rewrite wordE map_take.
  rewrite !te; apply/eq_in_map => t ti; apply: e.
  have : val t \in map val (take l (enum 'I_T)) by apply: map_f.
  rewrite map_take val_enum_ord take_iota mem_iota add0n leq_min /=.
  by case/andP.
rewrite -(tnth_mktuple z) -(tnth_mktuple y) !(tnth_nth (y t)).
by rewrite -(nth_take _ tl) -[RHS](nth_take _ tl) e.
Qed.

Lemma sum_word (F : seq V -> R) (E : pred (seq V)) :
  \sum_(t : T.-tuple V | E t) F t = \sum_(y : Om | E (word y)) F (word y).
Proof.
rewrite (reindex word) //; exists (fun t => [ffun i => tnth t i]) => [y _|t _].
  by apply/ffunP => i; rewrite ffunE tnth_mktuple.
by apply: eq_from_tnth => i; rewrite tnth_mktuple ffunE.
Qed.

(* truncation = prefix marginal *)
Lemma Law_trunc (p : kernel) l (y : Om) : is_model p ->
  marg (Law p) (upto l) y = law p [::] (take l (word y)).
Proof.
move=> mp; rewrite /marg /Law (eq_bigl _ _ (fun z => agree_take l z y)).
have := cylinder (h := [::]) (s := take l (word y)) (n := T) (is_model_from (h := [::]) (n := T) mp).
rewrite size_take size_tuple => H; rewrite -H; last by case: ltnP => // /ltnW.
rewrite (sum_word (law p [::]) (fun t => take (if (l < T)%N then l else T) t == take l (word y))).
apply: eq_bigl => z; case: ltnP => // Tl.
by rewrite ![take l _]take_oversize ?take_oversize ?size_tuple.
Qed.

Lemma Law_sum1 (p : kernel) : is_model p -> \sum_y Law p y = 1.
Proof. by move=> mp; rewrite /Law -(sum_word (law p [::]) xpredT) law_sum1. Qed.
End Bridge.

Lemma prod_Some (R : comRingType) (J : finType) (F : option J -> R) :
  \prod_(j | predC1 None j) F j = \prod_j F (Some j).
Proof.
rewrite (reindex_omap Some id) /=; last by case.
by apply: eq_bigl => j; rewrite eqxx.
Qed.

(* prefix marginal of a product of block-local factors is again such a product *)
Section Trunc.
Variables (R : realFieldType) (X V I : finType) (blk : X -> option I) (A : pred X).
Local Notation Om := {ffun X -> V}.
Variable (G : option I -> Om -> R).
Hypothesis Gl : forall j, local_to (inb blk j) (G j).
(* integrate out the part of block j outside A *)
Definition tr j (y : Om) := \sum_(u | agree (fun t => A t || (blk t != j)) u y) G j u.

Let blk' t : option (option I) := if A t then None else Some (blk t).
Lemma marg_trunc y : marg (fun z => \prod_j G j z) A y = \prod_j tr j y.
Proof.
pose gl (z : Om) : Om := [ffun t => if A t then y t else z t].
pose G' (j : option (option I)) z := if j is Some j then G j (gl z) else 1.
have G'l j : local_to (inb blk' j) (G' j).
  case: j => [j|] // z u /agreeP e; apply: Gl; apply/agreeP => t /eqP bt.
  rewrite !ffunE; case At: (A t) => //; apply: e; by rewrite /inb /blk' At bt.
have := fubini y (predC1 None) G'l; rewrite prod_Some => H.
transitivity (\prod_j mass blk' y G' (Some j)); last first.
  apply: eq_bigr => j _; apply: eq_big => [z|z /agreeP az].
    by apply: eq_forallb => t; rewrite /off /blk'; case: (A t).
  apply: Gl; apply/agreeP => t bt; rewrite ffunE; case At: (A t) => //.
  by rewrite az // /off /blk' At.
rewrite -H; apply: eq_big => [z|z /agreeP az].
  by apply: eq_forallb => t; rewrite /= /blk'; case: (A t).
rewrite prod_Some; apply: eq_bigr => j _; congr (G j _); apply/ffunP => t; rewrite ffunE.
by case At: (A t) => //; apply: az.
Qed.
End Trunc.

Lemma weight_algebra (R : realFieldType) (I : finType) (B : option I -> R) (A : I -> R) (P0 : R) (Pe : I -> R) :
  P0 = \prod_j B j -> (forall i, Pe i = A i * \prod_(j | j != Some i) B j) ->
  (forall i, B (Some i) = 0 -> A i = 0) -> P0 * \prod_i (Pe i / P0) = B None * \prod_i A i.
Proof.
move=> e0 ei ac; have [z|nz] := eqVneq P0 0.
  rewrite z mul0r; apply/esym/eqP; move/eqP: z; rewrite e0 big_option mulf_eq0 => /orP[/eqP->|].
    by rewrite mul0r.
  move/prodf_eq0 => [i _ /eqP/ac Ai]; rewrite mulf_eq0; apply/orP; right.
  by apply/prodf_eq0; exists i => //; apply/eqP.
rewrite [X in X * _]e0 big_option -mulrA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
rewrite mulrA ei mulrCA (_ : B (Some i) * _ = P0) ?mulfK //.
by rewrite e0 [RHS](bigD1 (Some i)).
Qed.

Section Local.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : 'I_T -> option I).
Variables (b : kernel R V) (p : I -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation Pb := (Law (T := T) b).
Local Notation Pe := (fun i => Law (T := T) (p i)).
Hypotheses (a : FCa blk Pb) (bb : FCb blk Pb Pe) (c : FCc blk Pb Pe).
Local Notation w := (@wdrop R V I).
Local Notation beta := (fun j => marg Pb (inb blk j)).
Local Notation tg := (tgt blk Pb Pe).

Definition target : {ffun 'I_T -> V} -> R := fun y => \prod_j tg j y.

(* global weight of every truncation = prefix marginal of the target *)
Lemma W_target l y : W w b p [::] (take l (word y)) = marg target (upto l) y.
Proof.
have bl j : local_to (inb blk j) (beta j) by apply: marg_local.
have tl j : local_to (inb blk j) (tg j) by apply: tgt_local.
have eb : law b [::] (take l (word y)) = \prod_j tr blk (upto l) beta j y.
  rewrite -Law_trunc // -(marg_trunc (upto l) bl); by apply: eq_bigr => z _; apply: a.
have ep i : law (p i) [::] (take l (word y)) =
    tr blk (upto l) tg (Some i) y * \prod_(j | j != Some i) tr blk (upto l) beta j y.
  rewrite -Law_trunc //.
  pose G j := if j == Some i then tg (Some i) else beta j.
  have Gl j : local_to (inb blk j) (G j) by rewrite /G; case: eqP => [->|_].
  rewrite (_ : marg _ _ _ = marg (fun z => \prod_j G j z) (upto l) y).
    rewrite (marg_trunc (upto l) Gl) (bigD1 (Some i)) //=; congr (_ * _).
      by rewrite /tr /G eqxx.
    by apply: eq_bigr => j /negPf ji; rewrite /tr /G ji.
  apply: eq_bigr => z _; rewrite bb (marg_off a (Law_sum1 T mb)) [RHS](bigD1 (Some i)) //= /G eqxx.
  by congr (_ * _); apply: eq_bigr => j /negPf->.
have c' i : tr blk (upto l) beta (Some i) y = 0 -> tr blk (upto l) tg (Some i) y = 0.
  move/eqP; rewrite psumr_eq0 => [/allP z0|u _]; last first.
    by apply: sumr_ge0 => z _; apply: law_ge0.
  rewrite /tr big1 // => u au; apply: c; apply/eqP.
  by have /implyP := z0 u (mem_index_enum u); apply.
have eN : tr blk (upto l) tg None y = tr blk (upto l) beta None y by [].
rewrite W_gW (marg_trunc (upto l) tl) big_option eN.
exact: (weight_algebra (B := fun j => tr blk (upto l) beta j y)).
Qed.

(* hence Z = 1 wherever the weight is non-zero *)
Lemma fc_Z1_local l (y : {ffun 'I_T -> V}) (lt : (l < T)%N) : W w b p [::] (take l (word y)) != 0 -> Zk w b p (take l (word y)) = 1.
Proof.
move=> nz; apply: (mulfI nz); rewrite mulr1.
have upd v : exists z : {ffun 'I_T -> V}, take l.+1 (word z) = rcons (take l (word y)) v.
  exists [ffun t : 'I_T => if t == Ordinal lt then v else y t].
  rewrite (take_nth v) ?size_tuple //; congr rcons; last first.
    by rewrite -[l]/(val (Ordinal lt)) -tnth_nth tnth_mktuple ffunE eqxx.
  apply/eqP; rewrite -agree_take; apply/agreeP => t tl; rewrite ffunE.
  by case: eqP => // e; move: tl; rewrite e /upto /= ltnn.
rewrite /Zk /Z mulr_sumr.
transitivity (\sum_v W w b p [::] (rcons (take l (word y)) v)).
  by apply: eq_bigr => v _; rewrite W_rcons.
rewrite (W_target l y) /marg.
rewrite (partition_big (fun z : {ffun 'I_T -> V} => z (Ordinal lt)) xpredT) //=.
apply: eq_bigr => v _; have [z ez] := upd v; rewrite -ez W_target; apply: eq_bigl => u.
rewrite !agree_take ez (take_nth v) ?size_tuple // eqseq_rcons; congr (_ && (_ == _)).
by rewrite -[l]/(val (Ordinal lt)) -tnth_nth tnth_mktuple.
Qed.

(* Theorem 2.2, local: P_L = P_G = product of the blocks' own marginals *)
Theorem fc_local (y : {ffun 'I_T -> V}) : law (comp w b p) [::] (word y) = target y.
Proof.
have key l : (l <= T)%N -> law (comp w b p) [::] (take l (word y)) = W w b p [::] (take l (word y)).
  elim: l => [|l IH] lT; first by rewrite take0.
  rewrite (take_nth (y (Ordinal lT))) ?size_tuple //; set v := nth _ _ _.
  rewrite law_rcons W_rcons IH ?(ltnW lT) //=.
  have [->|nz] := eqVneq (W w b p [::] (take l (word y))) 0; first by rewrite !mul0r.
  by rewrite ffunE -/(Zk w b p _) (fc_Z1_local lT nz) divr1.
have := key T (leqnn T); rewrite (W_target T y) take_oversize ?size_tuple // => ->.
rewrite /marg (big_pred1 y) // => z /=; apply/agreeP/eqP => [e|->//].
by apply/ffunP => t; apply: e; rewrite /upto ltn_ord.
Qed.
End Local.
