(* theory.md 4.5: segment law for arbitrary stopping times, and for the canonical interval under JF-int. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition skills.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Segment.
Variables (R : realFieldType) (V : finType) (T : nat).
Local Notation kernel := (kernel R V).
Local Notation path := (T.-tuple V).
Implicit Types (p q : kernel) (g s : seq V).

Definition Pr p (E : pred path) := \sum_(y | E y) law p [::] y.

Variables t1 t2 : path -> nat.
Hypotheses (st1 : stopping t1) (st2 : stopping t2) (t12 : forall y, (t1 y <= t2 y)%N).

(* entry prefix g, then segment s *)
Definition segev g s : pred path := fun y =>
  [&& t1 y == size g, t2 y == size (g ++ s) & take (size (g ++ s)) y == g ++ s].

Lemma stop_ext (t : path -> nat) (h : seq V) (y z : path) : stopping t ->
  (t z <= size h)%N -> take (size h) z = h -> take (size h) y = h -> t y = t z.
Proof.
move=> [tT tS] th zh yh; have [zT|Tz] := ltnP (t z) T.
  by apply: (tS z) => //; apply: (pre_le th); rewrite /pre yh zh.
have hT : (T <= size h)%N := leq_trans Tz th.
suff -> : y = z by [].
by apply: val_inj; rewrite /= -[val y](take_oversize (n := size h)) ?size_tuple // yh -zh
   take_oversize ?size_tuple.
Qed.

Lemma segev_cyl g s (y0 : path) : segev g s y0 ->
  segev g s =1 (fun y => take (size (g ++ s)) y == g ++ s).
Proof.
case/and3P => /eqP e1 /eqP e2 /eqP e3 y; rewrite /segev; apply/and3P/idP => [[]//|/eqP e].
rewrite (stop_ext st1 _ e3 e) ?e1 ?(stop_ext st2 _ e3 e) ?e2 //; first by rewrite e !eqxx.
by rewrite size_cat leq_addr.
Qed.

Theorem segment_law p q g s : model_from p [::] T -> model_from q [::] T ->
  (forall (y : path) l, (t1 y <= l < t2 y)%N -> reach p (pre l y) -> p (pre l y) = q (pre l y)) ->
  reach p g -> reach q g ->
  Pr p (segev g s) / law p [::] g = Pr q (segev g s) / law q [::] g.
Proof.
move=> mp mq epq rp rq; case: (pickP (segev g s)) => [y0 E0|E0]; last by rewrite /Pr !big_pred0 ?mul0r.
have /and3P[/eqP e1 /eqP e2 /eqP e3] := E0.
have hT : (size (g ++ s) <= T)%N by rewrite -e2; case: st2.
rewrite /Pr !(eq_bigl _ _ (segev_cyl E0)) !cylinder // !law_cat /= !(mulrAC _ (law _ g _)) !divff // !mul1r.
apply: law_eq_from => t y u es lt.
have et : pre (size (g ++ t)) y0 = g ++ t.
  have le : (size (g ++ t) <= size (g ++ s))%N by rewrite es !size_cat leq_add2l leq_addr.
  rewrite (pre_pre _ le) /pre e3 es -[y :: u]cat1s catA -catA.
  by rewrite catA take_cat ltnn subnn take0 cats0.
have := epq y0 (size (g ++ t)); rewrite et e1 e2; apply; last by rewrite /reach law_cat mulf_neq0.
by rewrite es !size_cat /= leq_addr ltn_add2l -addn1 leq_add2l.
Qed.
End Segment.

(* JF-int supplies the hypothesis with the canonical interval *)
Section JFint.
Variables (R : realFieldType) (V I : finType) (T : nat) (b : kernel R V) (p : I -> kernel R V).
Local Notation w := (@wcancel R V I).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).
Variable Sc : pred (seq V).
Hypothesis R_sub : forall h, reach (comp w b p) h -> Sc h.     (* scope contains R^ *)
Definition Dev i : pred (seq V) := fun h => Sc h && dev b p i h.

(* the hypothesis on comp: no dead prefix inside R^ *)
Theorem segment_jf_int i g s : model_from (comp w b p) [::] T ->
  jf_int T Dev -> reach (comp w b p) g -> reach (p i) g ->
  let E := segev (s1 (T := T) (Dev i)) (s2 (Dev i)) g s in
  Pr (comp w b p) E / law (comp w b p) [::] g = Pr (p i) E / law (p i) [::] g.
Proof.
move=> mc /jf_intP dis rg rpg.
apply: segment_law => //; [exact: s1_stopping|exact: s2_stopping|exact: is_model_from|].
move=> y l al rl; have sl := R_sub rl; have lT : (l < T)%N.
  by move: al; rewrite -actP => /and3P[].
have sole j : j != i -> p j (pre l y) = b (pre l y).
  move=> ji; apply/eqP; apply: contraNT ji => dj; apply/eqP; apply: (dis j i y l).
    rewrite actP; have [_ _ _] := canonical_certifies T (Dev j); apply => //.
    by rewrite /Dev sl.
  by rewrite actP.
have Z1i : Zk w b p (pre l y) = 1.
  by rewrite /Zk /Z -((mp i (pre l y)).2); apply: eq_bigr => z _; rewrite (wcancel_sole sole).
by apply/ffunP => v; rewrite ffunE -/(Zk w b p (pre l y)) Z1i divr1 (wcancel_sole sole).
Qed.
End JFint.
