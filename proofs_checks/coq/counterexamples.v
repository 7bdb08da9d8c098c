(* theory.md CE 1.6 and CE 6.3 over rat: a computable mirror on bool x bool, proved equal, then vm_compute. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition total_variation laws features.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Local Notation kern := (kernel [realFieldType of rat] [finType of bool]).
Local Notation wd := (@wdrop [realFieldType of rat] [finType of bool] [finType of bool]).
Local Notation "x %/ y" := ((x%:Q) / (y%:Q)) : ring_scope.

Section Mirror.                                   (* |V| = k = 2 *)
Variables (fb : seq bool -> bool -> rat) (fp : bool -> seq bool -> bool -> rat).
Definition ker (f : seq bool -> bool -> rat) : kern := fun h => [ffun y => f h y].
Definition wc h y := fb h y * (fp true h y / fb h y * (fp false h y / fb h y)).
Definition Zc h := wc h true + wc h false.
Fixpoint lawc h s := if s is y :: s' then wc h y / Zc h * lawc (rcons h y) s' else 1.

Lemma wcE h y : wk wd (ker fb) (fun i => ker (fp i)) h y = wc h y.
Proof. by rewrite /wk /wdrop big_bool !ffunE. Qed.
Lemma ZcE h : Zk wd (ker fb) (fun i => ker (fp i)) h = Zc h.
Proof. by rewrite /Zk /Z big_bool; congr (_ + _); exact: wcE. Qed.
Lemma lawcE h s : law (comp wd (ker fb) (fun i => ker (fp i))) h s = lawc h s.
Proof.
elim: s h => [//|y s IH] h /=; rewrite IH ffunE; congr (_ / _ * _); [exact: wcE|exact: ZcE].
Qed.
End Mirror.

Definition bern (x : rat) (y : bool) := if y then x else 1 - x.

(* CE 1.6 (token false = 0, true = 1) *)
Definition b16 (h : seq bool) := bern (3 %/ 4).
Definition p16 (i : bool) (h : seq bool) := bern (if h == [:: true] then 1 %/ 2 else 3 %/ 4).
Lemma Z16 : Zk wd (ker b16) (fun i => ker (p16 i)) [:: true] = 4 %/ 3.
Proof. by rewrite ZcE; apply/eqP; vm_compute. Qed.
Definition words := [:: [:: false; false]; [:: false; true]; [:: true; false]; [:: true; true]].
Lemma local16 : [seq law (comp wd (ker b16) (fun i => ker (p16 i))) [::] s | s <- words]
  = [:: 1 %/ 16; 3 %/ 16; 9 %/ 16; 3 %/ 16].
Proof. by rewrite (eq_map (lawcE b16 p16 [::])); apply/eqP; vm_compute. Qed.

(* CE 6.3: features z = (y1 xor y2, y2); P_b uniform, P_i(z_i = 1) = 1/4, the other feature uniform *)
Definition D63 (s : seq bool) := (nth false s 0 (+) nth false s 1, nth false s 1).
Definition b63 (h : seq bool) := bern (1 %/ 2).
Definition p63 (i : bool) (h : seq bool) :=        (* i = true: expert 1, i = false: expert 2 *)
  if h is y1 :: _ then (if i then bern (if y1 then 3 %/ 4 else 1 %/ 4) else bern (1 %/ 4))
  else bern (1 %/ 2).
Local Notation PL s := (law (comp wd (ker b63) (fun i => ker (p63 i))) [::] s).

(* the components are FC in features: law of each model in the coordinates z *)
Fixpoint lawk (f : seq bool -> bool -> rat) h s :=
  if s is y :: s' then f h y * lawk f (rcons h y) s' else 1.
Lemma lawkE f h s : law (ker f) h s = lawk f h s.
Proof. by elim: s h => [//|y s IH] h /=; rewrite ffunE IH. Qed.
Lemma FC63 : all (fun s => [&& law (ker b63) [::] s == 1 %/ 4,
    law (ker (p63 true)) [::] s == bern (1 %/ 4) (D63 s).1 * (1 %/ 2)
  & law (ker (p63 false)) [::] s == bern (1 %/ 4) (D63 s).2 * (1 %/ 2)]) words.
Proof. by apply/allP => s; rewrite !lawkE; move: s; apply/allP; vm_compute. Qed.

Lemma Z63 : Zk wd (ker b63) (fun i => ker (p63 i)) [:: false] = 5 %/ 4 /\
            Zk wd (ker b63) (fun i => ker (p63 i)) [:: true] = 3 %/ 4.
Proof. by split; rewrite ZcE; apply/eqP; vm_compute. Qed.
Lemma local63 : [seq PL s | s <- words] = [:: 9 %/ 20; 1 %/ 20; 1 %/ 4; 1 %/ 4].
Proof. by rewrite (eq_map (lawcE b63 p63 [::])); apply/eqP; vm_compute. Qed.
(* marginals of the two features: 3/10 instead of 1/4 *)
Lemma feat63 : foldr +%R 0 [seq PL s | s <- words & (D63 s).1] = 3 %/ 10 /\
               foldr +%R 0 [seq PL s | s <- words & (D63 s).2] = 3 %/ 10.
Proof. by split; rewrite (eq_map (lawcE b63 p63 [::])); apply/eqP; vm_compute. Qed.
