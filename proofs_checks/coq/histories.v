(* theory.md 2: h restricted to a set of positions, in order (own history, parents); kernels that read part of a prefix. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition marginals laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Restriction.
Variable V : eqType.
(* h restricted to the positions of M, in order; the first token of h stands at position n *)
Fixpoint projn (M : pred nat) n (h : seq V) : seq V :=
  if h is y :: h' then (if M n then y :: projn M n.+1 h' else projn M n.+1 h') else [::].
Definition proj M := projn M 0.

Lemma proj_rcons M h y : proj M (rcons h y) = if M (size h) then rcons (proj M h) y else proj M h.
Proof.
rewrite /proj -[size h]add0n; elim: h 0%N => [|z h IH] n /=; first by rewrite addn0; case: ifP.
by rewrite IH addnS addSn; case: ifP => // _; case: ifP.
Qed.

(* what is known of more positions is known of fewer *)
Lemma proj_sub (M N : pred nat) h g : (forall t, (t < size h)%N -> N t -> M t) -> size h = size g ->
  proj M h = proj M g -> proj N h = proj N g.
Proof.
elim/last_ind: h g => [|h y IH] g; first by case: g.
case/lastP: g => [|g z]; first by rewrite size_rcons.
rewrite !size_rcons => NM -[s]; have {}NM' t : (t < size h)%N -> N t -> M t by move=> th; apply: NM; apply: ltnW.
rewrite !proj_rcons -s; case Nm: (N (size h)); last first.
  by case: (M (size h)) => [/rcons_inj [e _]|e]; apply: IH.
by rewrite NM // => /rcons_inj [e ->]; rewrite (IH g).
Qed.
End Restriction.

Section Words.
Variables (V : finType) (T : nat).
Implicit Types y z : {ffun 'I_T -> V}.

Lemma proj_take (M : pred nat) y z l : (l <= T)%N ->
  (proj M (take l (word y)) == proj M (take l (word z))) = agree (fun t : 'I_T => (t < l)%N && M t) y z.
Proof.
elim: l => [|l IH] lT; first by rewrite !take0 eqxx; apply/esym/agreeP.
rewrite !word_next !proj_rcons !size_word_take ?(ltnW lT) //.
have -> : agree (fun t : 'I_T => (t < l.+1)%N && M t) y z =
    agree (fun t : 'I_T => (t < l)%N && M t) y z && (M l ==> (y (Ordinal lT) == z (Ordinal lT))).
  apply/agreeP/andP => [e|[/agreeP e /implyP f] t /andP[]].
    split; first by apply/agreeP => t /andP[tl Mt]; apply: e; rewrite Mt ltnS (ltnW tl).
    by apply/implyP => Ml; apply/eqP/e; rewrite /= ltnSn.
  rewrite ltnS leq_eqVlt => /orP[/eqP tl|tl] Mt; last by apply: e; rewrite tl.
  have -> : t = Ordinal lT by apply: val_inj.
  by apply/eqP/f; rewrite -tl.
rewrite -IH ?(ltnW lT) //; case: (M l) => /=; rewrite ?andbT // eqseq_rcons //.
Qed.

Lemma proj_word (M : pred nat) y z : (proj M (word y) == proj M (word z)) = agree (fun t : 'I_T => M t) y z.
Proof.
rewrite -(word_take y) -(word_take z) proj_take //; apply: eq_forallb => t.
by rewrite ltn_ord.
Qed.

(* the word y with token v at step l *)
Definition upd y (l : nat) v : {ffun 'I_T -> V} := [ffun t : 'I_T => if t == l :> nat then v else y t].

Lemma upd_at y l (lT : (l < T)%N) v : upd y l v (Ordinal lT) = v.
Proof. by rewrite ffunE eqxx. Qed.

Lemma take_upd y l v : take l (word (upd y l v)) = take l (word y).
Proof. by apply/eqP; rewrite -agree_take; apply/agreeP => t tl; rewrite ffunE ltn_eqF. Qed.

Lemma take_updS y l v : (l < T)%N -> take l.+1 (word (upd y l v)) = rcons (take l (word y)) v.
Proof. by move=> lT; rewrite word_next take_upd upd_at. Qed.
End Words.

(* "Its law is the product of kernels", and those matter where the model can be *)
Section Chain.
Variables (R : realFieldType) (V : finType) (T : nat) (q K : kernel R V).
Hypothesis qK : forall h, (size h < T)%N -> reach q h -> q h = K h.

Lemma law_chain (y : {ffun 'I_T -> V}) : Law q y = \prod_(t : 'I_T) K (take t (word y)) (y t).
Proof.
have : forall l, (l <= T)%N -> law q [::] (take l (word y)) = \prod_(t : 'I_T | (t < l)%N) K (take t (word y)) (y t).
  elim=> [|l IH] lT; first by rewrite take0 big_pred0.
  rewrite word_next law_rcons IH ?(ltnW lT) // [RHS](bigD1 (Ordinal lT)) //= [RHS]mulrC.
  rewrite [X in _ = X * _](eq_bigl (fun t : 'I_T => (t < l)%N)) => [|t]; last first.
    by rewrite -(inj_eq val_inj) /= ltnS ltn_neqAle andbC.
  have [->|n0] := eqVneq (\prod_(t : 'I_T | (t < l)%N) K (take t (word y)) (y t)) 0; first by rewrite !mul0r.
  by rewrite qK ?size_word_take ?(ltnW lT) // /reach IH // ltnW.
move/(_ T (leqnn T)); rewrite word_take /Law => ->; apply: eq_bigl => t; exact: ltn_ord.
Qed.
End Chain.
