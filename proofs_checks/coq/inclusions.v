(* theory.md 4, Inclusions: FC, MA, JF-pt and JF-int on a scope. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition laws masks masks_stepwise skills joint ancestral twins.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* "FC within MA ... FC says nothing about kernels off reach" *)
Section Factorized.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : nat -> option I).
Variables (b : kernel R V) (p : I -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Hypothesis fc : FC_at blk b p T.

Lemma FC_reach i h : (size h <= T)%N -> reach (p i) h -> reach b h.
Proof.
move=> hT rh; have [a bb c] := fc.
have [t /andP[/eqP th rt]] : exists t : T.-tuple V, (take (size h) t == h) && (law (p i) [::] t != 0).
  apply/existsP; apply: contraNT rh; rewrite negb_exists => /forallP none.
  rewrite -(cylinder (is_model_from (h := [::]) (n := T) (mp i)) hT) big1 // => t th.
  by have := none t; rewrite th negbK => /eqP.
have [Y eY] := words t; have : Law b Y != 0.
  apply: contraTneq (_ : Law (p i) Y != 0) => [z|]; last by rewrite /Law eY.
  by rewrite (fc_AC a bb c) ?eqxx //; apply: Law_sum1.
by rewrite /Law eY -(cat_take_drop (size h) t) th; apply: reach_cat.
Qed.

Theorem inclusion_FC_kernels i h : (size h < T)%N -> reach (p i) h -> blk (size h) <> Some i -> p i h = b h.
Proof.
move=> hT rh bi; have [a bb _] := fc; have [beta [B _ I2]] := FC_stepwise mb mp a bb.
by rewrite (I2 i h hT rh bi) (B h hT) //; apply: FC_reach rh; apply: ltnW.
Qed.

Theorem inclusion_FC_MA : MA T blk b p (fun h => [forall i, reach (p i) h]).
Proof. by move=> h i hT /forallP rh; apply: inclusion_FC_kernels. Qed.

(* on R^, which lies in every reach, under each convention *)
Theorem inclusion_FC_MA_composed c : MA T blk b p (Rhat (@weight R V I c) T b p).
Proof.
move=> h i hT /andP[_ rh]; apply: inclusion_FC_kernels => //; have [a bb ac] := fc.
have ac' j (y : {ffun 'I_T -> V}) : Law b y = 0 -> Law (p j) y = 0 by apply: (fc_AC a bb ac); apply: Law_sum1.
by case: (reach_all mb mp ac' (ltnW hT) rh).
Qed.
End Factorized.

Section Inclusions.
Variables (R : realFieldType) (V I : finType) (T : nat) (blk : nat -> option I).
Variables (b : kernel R V) (p : I -> kernel R V) (S : pred (seq V)).
Hypothesis mb : is_model b.
Local Notation scope := [pred h | (size h < T)%N && S h].
Local Notation MA := (MA T blk b p S).

Lemma MA_deviates i h : MA -> (size h < T)%N -> S h -> dev b p i h -> blk (size h) = Some i.
Proof.
move=> ma hT Sh di; apply/eqP; apply: contraT => /eqP nb.
by move: di; rewrite /dev (ma h i hT Sh nb) eqxx.
Qed.

(* "MA within JF-pt" *)
Theorem inclusion_MA_JF_pt : MA -> jf_pt b p scope.
Proof.
move=> ma h /andP[hT Sh] i j di dj; have := MA_deviates ma hT Sh di.
by rewrite (MA_deviates ma hT Sh dj) => -[].
Qed.

(* "FC within MA within JF-pt", on R^ *)
Theorem inclusion_FC_JF_pt c : (forall i, is_model (p i)) -> FC_at blk b p T -> jf_pt b p (Rhat (@weight R V I c) T b p).
Proof.
move=> mp fc h Rh i j di dj; have /andP[hT _] := Rh.
have on l : dev b p l h -> blk (size h) = Some l.
  move=> dl; apply/eqP; apply: contraT => /eqP nb.
  by move: dl; rewrite /dev (inclusion_FC_MA_composed mb mp fc hT Rh nb) eqxx.
by have := on i di; rewrite (on j dj) => -[].
Qed.

(* "JF-int within JF-pt" *)
Theorem inclusion_JF_int_JF_pt : jf_int T (Dev b p S) -> jf_pt b p scope.
Proof. by have [v0 _ _] := dist_support (mb [::]) => /(theorem_4_2_pointwise v0)/jf_pointP. Qed.

(* "MA with contiguous masks within JF-int" *)
Definition contiguous := forall i l m n, (l <= m <= n)%N -> (n < T)%N -> blk l = Some i -> blk n = Some i -> blk m = Some i.

Theorem inclusion_MA_JF_int : MA -> contiguous -> jf_int T (Dev b p S).
Proof.
move=> ma con; have [v0 _ _] := dist_support (mb [::]); apply/(theorem_4_2_active _ _ v0) => h.
suff inside i : act T (Dev b p S i) h -> blk (size h) = Some i.
  by move=> i j /inside ei /inside; rewrite ei => -[].
case/andP=> /aliveP[t tT /andP[St dt]] /startedP[m mh /andP[Sm dm]].
have ht : (size h <= size (h ++ t))%N by rewrite size_cat leq_addr.
have sm : size (take m h) = m by rewrite size_takel.
apply: (con i m (size h) (size (h ++ t))) => //; first by rewrite mh.
- by rewrite -sm; apply: MA_deviates => //; rewrite sm (leq_ltn_trans _ tT) // (leq_trans mh).
exact: MA_deviates.
Qed.
End Inclusions.

(* "MA and JF-int otherwise incomparable": two tokens, two experts *)
Section Incomparable.
Variable R : realFieldType.
Let even : dist R bool_finType := [ffun=> 2%:R^-1].
Let sure : dist R bool_finType := [ffun y => (y : bool)%:R].
(* models with given deviation sets *)
Variable D : bool -> pred (seq bool).
Definition base : kernel R bool_finType := fun=> even.
Definition expert i : kernel R bool_finType := fun h => if D i h then sure else even.

Lemma even_dist : is_dist even.
Proof.
split=> [y|]; first by rewrite ffunE invr_ge0 ler0n.
by rewrite big_bool /= !ffunE [RHS]splitr !mul1r.
Qed.
Lemma sure_dist : is_dist sure.
Proof. by split=> [y|]; [rewrite ffunE ler0n|rewrite big_bool /= !ffunE addr0]. Qed.
Lemma base_model : is_model base. Proof. by move=> h; apply: even_dist. Qed.
Lemma expert_model i : is_model (expert i).
Proof. by move=> h; rewrite /expert; case: ifP => _; [apply: sure_dist|apply: even_dist]. Qed.
Lemma expert_dev i h : dev base expert i h = D i h.
Proof.
rewrite /dev /expert /base; case: (D i h); last by rewrite eqxx.
apply/eqP => e; have := congr1 (fun f : dist R bool_finType => f false) e.
by rewrite !ffunE => /esym/eqP; rewrite invr_eq0 pnatr_eq0.
Qed.
Lemma expert_Dev i h : Dev base expert predT i h = D i h.
Proof. by rewrite /Dev expert_dev. Qed.
End Incomparable.

Theorem inclusion_MA_not_JF_int (R : realFieldType) : exists (blk : nat -> option bool_finType) (b : kernel R bool_finType)
    (p : bool -> kernel R bool_finType),
  [/\ is_model b, forall i, is_model (p i), MA 3 blk b p predT & ~ jf_int 3 (Dev b p predT)].
Proof.
pose D (i : bool) : pred (seq bool) :=
  if i then [pred h | h \in [:: [::]; [:: false; false]]] else [pred h | h == [:: false]].
exists (fun t => if t == 1%N then Some false else Some true), (base R), (expert R D); split.
- exact: base_model.
- exact: expert_model.
- move=> h i _ _ hb; apply/eqP; have nd : D i h = false.
    by case: i hb; case: h => [|x [|y h]] //= hb; try (by case: hb); try (by case: x); rewrite eqseq_cons andbF.
  by have := expert_dev R D i h; rewrite nd /dev => /negbFE.
move/(theorem_4_2_active _ _ false) => /(_ [:: false] true false) H; suff: true = false by [].
apply: H; apply/andP; split.
- by apply/aliveP; exists [:: false] => //; rewrite expert_Dev.
- by apply/startedP; exists 0%N => //; rewrite expert_Dev.
- by apply/aliveP; exists [::] => //; rewrite expert_Dev.
- by apply/startedP; exists 1%N => //; rewrite expert_Dev.
Qed.

Theorem inclusion_JF_int_not_MA (R : realFieldType) : exists (b : kernel R bool_finType) (p : bool -> kernel R bool_finType),
  [/\ is_model b, forall i, is_model (p i), jf_int 2 (Dev b p predT) & forall blk, ~ MA 2 blk b p predT].
Proof.
pose D (i : bool) : pred (seq bool) := [pred h | h == [:: i]].
exists (base R), (expert R D); split; [exact: base_model|exact: expert_model| |].
  apply/(theorem_4_2_active _ _ false) => h i j.
  suff one k : act 2 (Dev (base R) (expert R D) predT k) h -> h = [:: k].
    by move=> /one ei /one; rewrite ei => -[].
  case/andP=> /aliveP[t _]; rewrite expert_Dev => /eqP e /startedP[m mh]; rewrite expert_Dev => /eqP f.
  have sm : size (take m h) = m by rewrite size_takel.
  have : (size h <= 1)%N by rewrite -[1%N]/(size [:: k]) -e size_cat leq_addr.
  have : (1 <= size h)%N by rewrite -[1%N]/(size [:: k]) -f sm.
  by case: h e {mh sm f} => [|x [|x' h]] //= [->].
move=> blk ma; have at_ i : blk 1%N = Some i.
  by apply: (MA_deviates (h := [:: i]) ma) => //; rewrite expert_dev; apply/eqP.
by have := at_ true; rewrite (at_ false).
Qed.
