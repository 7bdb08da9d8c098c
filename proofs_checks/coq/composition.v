(* theory.md 1 and 4: local composition, Z, Lemma 1.8, Theorem 4.4(2), 1.5(1). *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Compose.
Variables (R : realFieldType) (V I : finType).
Local Notation dist := (dist R V).
Local Notation kernel := (kernel R V).

Section OneStep.
Implicit Types (b : dist) (p : I -> dist).

(* 1.1/1.3.  MathComp has x / 0 = 0, so this single formula IS the `drop` convention;
   it is `strict` under AC. *)
Definition wdrop b p y : R := b y * \prod_i (p i y / b y).
(* `cancel`: at b y = 0, weight of the sole i with p i y != 0; error cell mapped to 0 *)
Definition wcancel b p y : R :=
  if b y == 0 then (if (#|[set i | p i y != 0%R]| <= 1)%N then \sum_i p i y else 0)
  else wdrop b p y.
Definition cancel_ok b p := forall y, b y = 0 -> (#|[set i | p i y != 0%R]| <= 1)%N.

Definition AC b p := forall i y, b y = 0 -> p i y = 0.

Lemma wcancel_AC b p : AC b p -> wcancel b p =1 wdrop b p.
Proof.
move=> ac y; rewrite /wcancel; case: eqP => // by0.
by rewrite /wdrop by0 mul0r big1 ?if_same // => i _; apply: ac.
Qed.

(* sole deviator: no hypothesis at all under `cancel` *)
Lemma wcancel_sole b p i : (forall j, j != i -> p j = b) -> wcancel b p =1 p i.
Proof.
move=> sole y; rewrite /wcancel; case: eqP => [by0|/eqP byn0].
  rewrite (bigD1 i) //= big1 ?addr0 => [|j ji]; last by rewrite sole.
  rewrite ifT // -(cards1 i) subset_leq_card //; apply/subsetP => j.
  by rewrite !inE; apply: contraR => ji; rewrite sole // by0.
rewrite /wdrop (bigD1 i) //= big1 ?mulr1 => [|j ji]; last by rewrite sole ?divff.
by rewrite mulrCA divff ?mulr1.
Qed.

Lemma wcancel_none b p : (forall j, p j = b) -> wcancel b p =1 b.
Proof.
move=> none y; rewrite /wcancel; case: eqP => [by0|/eqP byn0].
  by rewrite by0 big1 ?if_same // => j _; rewrite none.
by rewrite /wdrop big1 ?mulr1 // => j _; rewrite none divff.
Qed.

Lemma wdrop_sole b p i : AC b p -> (forall j, j != i -> p j = b) -> wdrop b p =1 p i.
Proof. by move=> ac sole y; rewrite -(wcancel_AC ac) (wcancel_sole sole). Qed.

End OneStep.

(* ---- kernels ---- *)
Implicit Types (b : kernel) (p : I -> kernel).
Variable (w : dist -> (I -> dist) -> V -> R).   (* wdrop or wcancel *)
Definition Z (b : dist) (p : I -> dist) := \sum_y w b p y.
Definition norm (b : dist) (p : I -> dist) : dist := [ffun y => w b p y / Z b p].
Definition comp (b : kernel) (p : I -> kernel) : kernel :=
  fun h => norm (b h) (fun i => p i h).
Definition wk (b : kernel) (p : I -> kernel) h y := w (b h) (fun i => p i h) y.
Definition Zk (b : kernel) (p : I -> kernel) h := Z (b h) (fun i => p i h).

(* 1.2 global weight, as product of local weights along the path *)
Fixpoint W (b : kernel) (p : I -> kernel) (h s : seq V) : R :=
  if s is y :: s' then wk b p h y * W b p (rcons h y) s' else 1.
Fixpoint pathZ (b : kernel) (p : I -> kernel) (h s : seq V) : R :=
  if s is y :: s' then Zk b p h * pathZ b p (rcons h y) s' else 1.

(* 1.5(1), unnormalised: W = P_L * prod Z *)
Lemma W_law b p h s :
  (forall t y u, s = t ++ y :: u -> Zk b p (h ++ t) != 0) ->
  W b p h s = law (comp b p) h s * pathZ b p h s.
Proof.
elim: s h => [|y s IH] h nz /=; first by rewrite mul1r.
rewrite IH => [|t z u es]; last first.
  by rewrite cat_rcons; apply: (nz (y :: t) z u); rewrite es.
rewrite mulrACA; congr (_ * _); rewrite /comp ffunE /wk divfK //.
by have := nz [::] y s erefl; rewrite cats0.
Qed.

Lemma W_rcons b p h s y : W b p h (rcons s y) = W b p h s * wk b p (h ++ s) y.
Proof.
elim: s h => [|z s IH] h /=; first by rewrite mulr1 mul1r cats0.
by rewrite IH mulrA cat_rcons.
Qed.

(* 4.1 / 4.4 *)
Definition dev (b : kernel) (p : I -> kernel) i h := p i h != b h.
Definition jf_pt (b : kernel) (p : I -> kernel) (S : pred (seq V)) :=
  forall h, S h -> forall i j, dev b p i h -> dev b p j h -> i = j.
Definition assign (b : kernel) (p : I -> kernel) h := [pick i | dev b p i h].
Definition switch (b : kernel) (p : I -> kernel) : kernel :=
  fun h => if assign b p h is Some i then p i h else b h.

Hypothesis w_sole : forall (b : dist) (p : I -> dist) i, (forall j, j != i -> p j = b) -> w b p =1 p i.
Hypothesis w_none : forall (b : dist) (p : I -> dist), (forall j, p j = b) -> w b p =1 b.

Lemma w_switch (b : kernel) (p : I -> kernel) h :
  (forall i j, dev b p i h -> dev b p j h -> i = j) -> wk b p h =1 switch b p h.
Proof.
move=> one y; rewrite /wk /switch /assign; case: pickP => [i di|nd].
  apply: (w_sole (i := i)) => j ji; apply/eqP; apply: contraNT ji => dj.
  by rewrite (one j i).
by apply: w_none => j; apply/eqP; have := nd j; rewrite /dev => /negbFE.
Qed.

Lemma switch_model (b : kernel) (p : I -> kernel) :
  is_model b -> (forall i, is_model (p i)) -> is_model (switch b p).
Proof. by move=> mb mp h; rewrite /switch; case: assign => [i|]; [apply: mp|apply: mb]. Qed.

Lemma Z1 (b : kernel) (p : I -> kernel) h : is_model b -> (forall i, is_model (p i)) ->
  (forall i j, dev b p i h -> dev b p j h -> i = j) -> Zk b p h = 1.
Proof.
move=> mb mp one; rewrite /Zk /Z -(switch_model mb mp h).2.
by apply: eq_bigr => y _; rewrite -(w_switch one).
Qed.

Lemma comp_switch (b : kernel) (p : I -> kernel) h :
  is_model b -> (forall i, is_model (p i)) ->
  (forall i j, dev b p i h -> dev b p j h -> i = j) -> comp b p h = switch b p h.
Proof.
move=> mb mp one; apply/ffunP => y.
by rewrite ffunE -/(Zk b p h) (Z1 mb mp one) divr1 -(w_switch one).
Qed.

(* 4.4(2): JF-pt on R^ gives P^ = S at every length <= T *)
Theorem exactness (b : kernel) (p : I -> kernel) T :
  is_model b -> (forall i, is_model (p i)) ->
  jf_pt b p [pred h | (size h < T)%N & reach (comp b p) h] ->
  forall s, (size s <= T)%N -> law (comp b p) [::] s = law (switch b p) [::] s.
Proof.
move=> mb mp jf; apply: law_eq_on_reach => h hT hr.
by apply: comp_switch => // i j; apply: jf; rewrite inE hT.
Qed.

End Compose.

(* instance for the execution convention: no support hypothesis whatever *)
Theorem exactness_cancel (R : realFieldType) (V I : finType) (b : kernel R V)
    (p : I -> kernel R V) T :
  is_model b -> (forall i, is_model (p i)) ->
  jf_pt b p [pred h | (size h < T)%N & reach (comp (@wcancel R V I) b p) h] ->
  forall s, (size s <= T)%N ->
    law (comp (@wcancel R V I) b p) [::] s = law (switch b p) [::] s.
Proof. by apply: exactness => *; [apply: wcancel_sole | apply: wcancel_none]. Qed.
