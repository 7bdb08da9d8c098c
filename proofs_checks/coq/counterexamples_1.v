(* theory.md 1: the counterexamples of section 1.  Tokens are 0, 1, .. as in the text; words in lexicographic order. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition local_global total_variation rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.

Local Opaque wcancel wdrop QR.

Section Section1.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).

(* "CE 1.6 (smallest, |V|=T=k=2). p_b: all kernels (1/4,3/4). p_1=p_2: same except (1/2,1/2) at prefix 1. Z(1)=4/3,
   Z_G=5/4; local (1/16,3/16,9/16,3/16), global (1/20,3/20,3/5,1/5) on 00,01,10,11." *)
Definition b_1_6 := tables [::] [:: 1#4; 3#4].
Definition p_1_6 := tables [:: ([:: 1], [:: 1#2; 1#2])]%N [:: 1#4; 3#4].
Theorem counterexample_1_6 :
  let: (b, p) := (coin b_1_6, coins [:: p_1_6; p_1_6]) in
  [/\ Zk wcancel b p (word [:: 1]%N) = 4 %/ 3,
      ZG wcancel b p 2 = 5 %/ 4,
      masses 2 (law (comp wcancel b p) [::]) = [:: 1 %/ 16; 3 %/ 16; 9 %/ 16; 3 %/ 16]
    & masses 2 (PG wcancel b p 2) = [:: 1 %/ 20; 3 %/ 20; 3 %/ 5; 1 %/ 5]].
Proof.
split.
- time by_rows.
- time by_rows.
- time by_rows.
- time by_rows.
Time Qed.
End Section1.
