(* The counterexamples of theory.md, section 3 (skills).  Tokens are 0, 1, ... *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition skills joint rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

(* "CE 3.5 (last exit is not a stopping time). Smallest: Dev={∅,(0,0)} (|V|=2,T=3). "Last deviation + 1" peeks; the canonical
   exit is the first prefix from which no deviation can be reached." *)
Definition Dev_3_5 : pred (seq 'I_2) := fun h => vals h \in [:: [::]; [:: 0; 0]]%N.
Definition last_exit (y : 3.-tuple 'I_2) : nat :=
  let exits := [seq l.+1 | l <- iota 0 3 & Dev_3_5 (take l y)] in if exits is [::] then 3%N else foldr maxn 0%N exits.
Theorem counterexample_3_5 :
  [/\ ~ stopping last_exit, stopping (s2 (T := 3) Dev_3_5)
    & forall y : 3.-tuple 'I_2, s2 Dev_3_5 y =
        if take 2 (vals y) == [:: 0; 0]%N then 3%N else if take 1 (vals y) == [:: 0]%N then 2%N else 1%N].
Proof.
split=> [[_ st]||y].
- have := st [tuple token 0; token 1; token 0] [tuple token 0; token 0; token 0] 1%N; rewrite /pre => H.
  suff: last_exit [tuple token 0; token 0; token 0] = 1%N by vm_compute.
  by apply: H => //; vm_compute.
- by have [] := theorem_3_4_stopping 3 Dev_3_5.
by rewrite (s2E (fun s => s \in [:: [::]; [:: 0; 0]]%N)) //; apply/eqP; at_paths y.
Qed.

Section Section3.
Variable R : realFieldType.
Local Notation coin := (model R 1).                          (* |V| = 2 *)
Local Notation coins := (experts R 1).
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).
Local Notation "[ 'prefix' x ; .. ; y ]" := (tokens (cons x%N .. (cons y%N nil) ..)).
Let even := [:: 1#2; 1#2]. Let sure := [:: 1; 0]%Q.
Let fair := tables [::] even. Let zero := tables [::] sure.

(* 3.7: "CE: both experts deviate only at a prefix unreachable for p^: not disjoint on V^{<T}, disjoint on R^." *)
Definition alike := tables [:: ([::], sure)] even.
Definition p1_3_7 := tables [:: ([::], sure); ([:: 1%N], [:: 1#4; 3#4])] even.
Definition p2_3_7 := tables [:: ([::], sure); ([:: 1%N], [:: 3#4; 1#4])] even.
Theorem counterexample_3_7 :
  let b := coin alike in let p := coins [:: p1_3_7; p2_3_7] in
  [/\ is_model b, forall i, is_model (p i),
      forall i h, (size h < 2)%N -> dev b p i h = (vals h == [:: 1]%N),
      jf_pt b p (Rhat wcancel 2 b p) /\ jf_int 2 (Dev b p (Rhat wcancel 2 b p))
    & ~ jf_pt b p [pred h | (size h < 2)%N]].
Proof.
split; [are_models|are_models| | |].
- move=> i h hT; rewrite devE; apply/eqP; case: i => [[|[|]]] // ?; rewrite ?[nth _ _ _]/=; at_prefixes h hT.
- have D h : (size h < 2)%N -> reach (comp wcancel (coin alike) (coins [:: p1_3_7; p2_3_7])) h -> vals h != [:: 1]%N.
    by move=> hT; apply/implyP; at_prefixes h hT.
  have none i h : Rhat wcancel 2 (coin alike) (coins [:: p1_3_7; p2_3_7]) h -> ~~ dev (coin alike) (coins [:: p1_3_7; p2_3_7]) i h.
    case/andP => hT /(D h hT); rewrite devE negbK; apply/implyP; case: i => [[|[|]]] // ?; rewrite ?[nth _ _ _]/=; at_prefixes h hT.
  split=> [h Sh i j di|]; first by rewrite (negPf (none i h Sh)) in di.
  apply/(theorem_4_2_active _ _ ord0) => h i j /andP[_ /startedP[m _ /andP[Sm dm]]].
  by rewrite (negPf (none i _ Sm)) in dm.
- move/(_ [prefix 1] isT (ord0 : 'I_2) ord_max) => H; suff: (ord0 : 'I_2) = ord_max by [].
  by apply: H; by_rows.
Qed.
End Section3.
