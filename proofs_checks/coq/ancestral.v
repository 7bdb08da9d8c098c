(* theory.md 2.6a/b (mask agreement), Corollary 2.7 (ancestral projectivity), 2.3 (<=) and the local half of 2.2.
   A mask is blk : nat -> option I on 0-based steps; step of prefix h is size h. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Proj.
Variable V : Type.
(* h restricted to the positions of M, in order: own history *)
Fixpoint projn (M : pred nat) n (h : seq V) : seq V :=
  if h is y :: h' then (if M n then y :: projn M n.+1 h' else projn M n.+1 h') else [::].
Definition proj M := projn M 0.
Lemma proj_rcons M h y : proj M (rcons h y) = if M (size h) then rcons (proj M h) y else proj M h.
Proof.
rewrite /proj -[size h]add0n; elim: h 0%N => [|z h IH] n /=; first by rewrite addn0; case: ifP.
by rewrite IH addnS addSn; case: ifP => // _; case: ifP.
Qed.
End Proj.

(* ---- Corollary 2.7: own-history kernels on M determine the M-marginal ---- *)
Section Ancestral.
Variables (R : realFieldType) (V : finType) (M : pred nat).
Local Notation kernel := (kernel R V).

Definition Esum (p : kernel) h n (F : seq V -> R) := \sum_(t : n.-tuple V) law p h t * F (h ++ t).

Lemma EsumS (p : kernel) h n F : Esum p h n.+1 F = \sum_y p h y * Esum p (rcons h y) n F.
Proof.
rewrite /Esum (big_tuple_cons _ (fun t => law p h t * F (h ++ t))) /=.
apply: eq_bigr => y _; rewrite mulr_sumr; apply: eq_bigr => t _.
by rewrite mulrA cat_rcons.
Qed.

(* p (q) reads only its own M-history at steps of M, through a common kernel kap; needed on reachable prefixes *)
Variables (p q : kernel) (kap : nat -> seq V -> dist R V).
Definition own (p : kernel) T := forall h, (size h < T)%N -> reach p h -> M (size h) -> p h = kap (size h) (proj M h).

Lemma ancestral_gen T n h g (F : seq V -> R) :
  model_from p [::] T -> model_from q [::] T -> own p T -> own q T ->
  (size h + n = T)%N -> size h = size g -> reach p h -> reach q g -> proj M h = proj M g ->
  Esum p h n (fun t => F (proj M t)) = Esum q g n (fun t => F (proj M t)).
Proof.
move=> mp mq op oq; elim: n h g => [|n IH] h g hT hg rh rg e.
  rewrite /Esum !(big_pred1 [tuple]) ?cats0 /= ?e // => t /=; apply/esym/eqP; exact: tuple0.
have hlt : (size h < T)%N by rewrite -hT -addSnnS leq_addr.
have glt : (size g < T)%N by rewrite -hg.
have [p0 p1] : is_dist (p h) by apply: (mp h).
have [q0 q1] : is_dist (q g) by apply: (mq g).
have rr (r : kernel) k y : reach r k -> r k y != 0 -> reach r (rcons k y).
  by move=> rk ry; rewrite /reach law_rcons mulf_neq0.
rewrite !EsumS; have [Mh|nM] := boolP (M (size h)).
  have ek : p h = q g by rewrite op // oq -?hg // e.
  apply: eq_bigr => y _; have [z|nz] := eqVneq (p h y) 0; first by rewrite -ek z !mul0r.
  have ny : q g y != 0 by rewrite -ek.
  rewrite -ek; congr (_ * _); apply: IH; [by rewrite size_rcons addSnnS|by rewrite !size_rcons hg| | |].
  - exact: rr.
  - exact: rr.
  - by rewrite !proj_rcons -hg Mh e.
have [y1 ny1] : exists y, q g y != 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP a.
  by move: q1; rewrite big1 => [/eqP|y _]; [rewrite eq_sym oner_eq0|have := a y; rewrite negbK => /eqP].
have [y2 ny2] : exists y, p h y != 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP a.
  by move: p1; rewrite big1 => [/eqP|y _]; [rewrite eq_sym oner_eq0|have := a y; rewrite negbK => /eqP].
have step y z : p h y != 0 -> q g z != 0 ->
    Esum p (rcons h y) n (fun t => F (proj M t)) = Esum q (rcons g z) n (fun t => F (proj M t)).
  move=> py qz; apply: IH; [by rewrite size_rcons addSnnS|by rewrite !size_rcons hg|exact: rr|exact: rr|].
  by rewrite !proj_rcons -hg (negPf nM).
set C := Esum p (rcons h y2) n (fun t => F (proj M t)).
transitivity C.
  rewrite -[RHS]mul1r -p1 mulr_suml; apply: eq_bigr => y _.
  have [->|ny] := eqVneq (p h y) 0; first by rewrite !mul0r.
  by rewrite (step y y1 ny ny1) /C (step y2 y1).
rewrite -[LHS]mul1r -q1 mulr_suml; apply: eq_bigr => y _.
have [->|ny] := eqVneq (q g y) 0; first by rewrite !mul0r.
by rewrite /C (step y2 y).
Qed.

(* same marginal on M: same mass for every M-content u, hence same expectation of every F *)
Theorem ancestral T (F : seq V -> R) :
  model_from p [::] T -> model_from q [::] T -> own p T -> own q T ->
  Esum p [::] T (fun t => F (proj M t)) = Esum q [::] T (fun t => F (proj M t)).
Proof. by move=> *; apply: (ancestral_gen (T := T)); rewrite // /reach oner_neq0. Qed.
End Ancestral.

(* ---- 2.6b / 2.3 / 2.2 local ---- *)
Section Masks.
Variables (R : realFieldType) (V I : finType) (blk : nat -> option I) (T : nat).
Local Notation kernel := (kernel R V).
Variables (b : kernel) (p : I -> kernel).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Local Notation w := (@wcancel R V I).
Local Notation c := (comp w b p).
Definition Rh h := (size h < T)%N && reach c h.               (* scope R^ *)
Definition MA (S : pred (seq V)) := forall h i, S h -> blk (size h) != Some i -> p i h = b h.

Definition active h := if blk (size h) is Some i then p i h else b h.

(* Theorem 2.6b *)
Theorem ma_exact h : MA Rh -> Rh h -> c h = active h /\ Zk w b p h = 1.
Proof.
move=> ma rh; have one i j : dev b p i h -> dev b p j h -> i = j.
  rewrite /dev => /eqP di /eqP dj; apply/eqP; apply: contraT => ij.
  case ib: (blk (size h) == Some i); last by case: di; apply: ma; rewrite ?ib.
  by case: dj; apply: ma; rewrite // (eqP ib); apply: contra_neq ij => -[].
have ws : forall b p i, (forall j, j != i -> p j = b) -> w b p =1 p i by move=> *; apply: wcancel_sole.
have wn : forall b p, (forall j, p j = b) -> w b p =1 b by move=> *; apply: wcancel_none.
split; last exact: Z1.
rewrite (comp_switch ws wn) // /switch /assign /active; case: pickP => [i di|nd].
  suff -> : blk (size h) = Some i by [].
  by apply/eqP; apply: contraT => ni; move: di; rewrite /dev (ma h i rh ni) eqxx.
by case: blk => // i; apply/esym/eqP; have := nd i; rewrite /dev => /negbFE.
Qed.

Lemma ma_model : MA Rh -> model_from c [::] T.
Proof.
move=> ma t tT rt /=; have [-> _] : c t = active t /\ Zk w b p t = 1 by apply: ma_exact; rewrite // /Rh tT.
by rewrite /active; case: blk => [i|]; [apply: mp|apply: mb].
Qed.

(* Corollary 2.7, own-history experts: p^ and p_i have the same M_i-marginal whatever b does elsewhere *)
Theorem own_projective i (kap : nat -> seq V -> dist R V) (F : seq V -> R) :
  MA Rh ->
  (forall h, (size h < T)%N -> blk (size h) = Some i -> reach c h || reach (p i) h ->
     p i h = kap (size h) (proj (fun t => blk t == Some i) h)) ->
  Esum c [::] T (fun t => F (proj (fun t => blk t == Some i) t)) =
  Esum (p i) [::] T (fun t => F (proj (fun t => blk t == Some i) t)).
Proof.
move=> ma oi; apply: (ancestral (kap := kap)); [exact: ma_model|exact: is_model_from| |].
  move=> h hT rh /eqP bi; have [-> _] := ma_exact ma (h := h) (introT andP (conj hT rh)).
  by rewrite /active bi oi ?rh.
by move=> h hT rh /eqP bi; rewrite oi ?rh ?orbT.
Qed.

(* 2.3 (<=) for one model: block-history kernels on reachable prefixes => law is a product over blocks *)
Fixpoint blockprob (kap : nat -> seq V -> dist R V) (j : option I) (r : seq V) : R :=
  if r is y :: h then   (* r = reversed prefix *)
    blockprob kap j h * (if blk (size h) == j then kap (size h) (proj (fun t => blk t == j) (rev h)) y else 1)
  else 1.
Lemma stepwise_product (q : kernel) kap :
  (forall h, reach q h -> q h = kap (size h) (proj (fun t => blk t == blk (size h)) h)) ->
  forall h, law q [::] h = \prod_j blockprob kap j (rev h).
Proof.
move=> own; elim/last_ind => [|h y IH]; first by rewrite big1.
rewrite law_rcons rev_rcons /= big_split /= -IH size_rev revK.
rewrite [X in _ = _ * X](bigD1 (blk (size h))) //= eqxx big1 ?mulr1 => [|j jb]; last first.
  by rewrite eq_sym (negPf jb).
by have [->|nz] := eqVneq (law q [::] h) 0; rewrite ?mul0r // own.
Qed.
End Masks.
