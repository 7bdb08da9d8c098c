(* How the kernel decides well-definedness, pointwise and interval joint factorizability by enumeration.

   The functions below are those of factorcomp/certificates: [follows], [undefined] and [deviating] are Step.support,
   Step.error and Step.deviating (step.py, null tokens `cancel`, threshold 0, weights 1); [level] and [scope] are
   Tree.reachable and Tree.scope; [begun], [alive] and [active] are Tree.active (tree.py).  They ask of a number only
   whether it is zero and whether it is another one, so that any type [N] of numbers will do.  That they are right is
   proved in decision_correct.v; tests/proofs_checks/test_decision.py runs them and the kernel on the same cases.

   They are those of the kernel where scope is `reachable`, null tokens are `cancel`, the threshold is 0 and the weights are
   1, without masks, and where every model has a row at every prefix.  The order in which prefixes are searched is not part of
   what is proved: a prefix that is found refutes, that it is the first is only how it is found. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Rows.
(* at one prefix, or in one state: any [H] that determines the rows *)
Variables (H : Type) (V I N : eqType) (zero : N) (tokens : seq V) (experts : seq I).
Variables (background : H -> V -> N) (expert : I -> H -> V -> N).

Definition deviating h := [seq i <- experts | has (fun y => expert i h y != background h y) tokens].
Definition opening h y := [seq i <- experts | expert i h y != zero].
Definition undefined h := has (fun y => (background h y == zero) && (1 < size (opening h y))) tokens.
Definition follows h y := ~~ undefined h &&
  (if background h y == zero then size (opening h y) == 1 else all (fun i => expert i h y != zero) experts).
End Rows.

Section Enumeration.
Variables (V I N : eqType) (zero : N) (tokens : seq V) (experts : seq I).
Variables (background : seq V -> V -> N) (expert : I -> seq V -> V -> N).
Local Notation deviating := (deviating tokens experts background expert).
Local Notation follows := (follows zero tokens experts background expert).

Fixpoint level n := if n is n'.+1 then [seq rcons h y | h <- level n', y <- [seq y <- tokens | follows h y]] else [:: [::]].
Definition scope T := flatten [seq level n | n <- iota 0 T].

Definition begun i h := has (fun m => i \in deviating (take m h)) (iota 0 (size h).+1).
Fixpoint alive n i h := (i \in deviating h) ||
  (if n is n'.+1 then has (fun y => follows h y && alive n' i (rcons h y)) tokens else false).
Definition active T h := [seq i <- experts | begun i h && alive (T - (size h).+1) i h].

(* the first prefix in scope that refutes, the shorter first, then in vocabulary order; [None] where the claim holds *)
Definition decide_well_defined T := ohead [seq h <- scope T | ~~ has (follows h) tokens].
Definition decide_pointwise T := ohead [seq h <- scope T | 1 < size (deviating h)].
Definition decide_interval T := ohead [seq h <- scope T | 1 < size (active T h)].
End Enumeration.
