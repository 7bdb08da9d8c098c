(* What certifies, or refutes, joint factorizability for every length (theory.md 7.3, 7.4), on any transition system:
   the product of finite-state models along the support of their composition.

   [next q y] is the state after token y, [None] where y cannot follow; [deviants q] are the experts that deviate in
   state q.  An invariant is a list of states with the experts that are active, as the kernel writes it
   (factorcomp/certificates/phases.py); [gone q] are the experts that cannot deviate any more (phase `after`).
   A refutation is a word, with for each of two experts a word that leads on to a deviation.  That they are right is
   proved in invariant_correct.v; tests/proofs_checks/test_invariant.py checks with them what the kernel finds.

   They are about what the kernel is asked where scope is `reachable`, null tokens are `cancel`, the threshold is 0 and the
   weights are 1, without masks, and where every model has a row in every state and a next state after every token.  How the
   kernel searches, and which word it finds first, is not part of what is proved. *)
From mathcomp Require Import all_ssreflect.
From factorcomp Require Import decision.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Invariant.
Variables (V I Q : eqType) (tokens : seq V) (experts : seq I).
Variables (start : Q) (next : Q -> V -> option Q) (deviants : Q -> seq I).

Fixpoint run_from q (h : seq V) := if h is y :: h' then (if next q y is Some q' then run_from q' h' else None) else Some q.
Definition run := run_from start.

(* the start is in X, and every step from X stays in X *)
Definition closed (X : seq Q) := (start \in X) &&
  all (fun q => all (fun y => if next q y is Some q' then q' \in X else true) tokens) X.
Definition proves_pointwise X := closed X && all (fun q => size (deviants q) <= 1) X.

(* an expert that is gone does not deviate, and stays gone *)
Variable gone : Q -> seq I.
Definition forever (X : seq Q) := all (fun q => all (fun i => (i \notin deviants q) &&
  all (fun y => if next q y is Some q' then i \in gone q' else true) tokens) (gone q)) X.
(* who is active in state q, after A was *)
Definition advance (A : seq I) q := [seq i <- experts | ((i \in A) || (i \in deviants q)) && (i \notin gone q)].
Definition followed (P : seq (Q * seq I)) := ((start, advance [::] start) \in P) &&
  all (fun x => all (fun y => if next x.1 y is Some q' then (q', advance x.2 q') \in P else true) tokens) P.
Definition proves_interval P := [&& followed P, forever (map fst P) & all (fun x : Q * seq I => size x.2 <= 1) P].

(* refutations *)
Definition deviates i h := if run h is Some q then i \in deviants q else false.
Definition refutes_pointwise i j h := [&& i != j, deviates i h & deviates j h].
Definition begins i h := has (fun m => deviates i (take m h)) (iota 0 (size h).+1).
Definition refutes_interval i j h u v :=
  [&& i != j, begins i h, begins j h, deviates i (h ++ u) & deviates j (h ++ v)].
End Invariant.

(* the product of finite-state models: a state determines every model's row, and with a token the next state; a token
   leads on where it may follow under the composition *)
Section Product.
Variables (V I Q N : eqType) (zero : N) (tokens : seq V) (experts : seq I) (lead : Q -> V -> Q).
Variables (background : Q -> V -> N) (expert : I -> Q -> V -> N).
Definition product_next q y := if follows zero tokens experts background expert q y then Some (lead q y) else None.
Definition product_deviants q := deviating tokens experts background expert q.
End Product.
