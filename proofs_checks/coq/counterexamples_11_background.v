(* The counterexamples of theory.md, section 11 (wrong backgrounds). *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import QArith.
From factorcomp Require Import setting composition rationals computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Local Open Scope bool_scope.
Local Open Scope ring_scope.
Local Opaque wcancel wdrop QR.

Section OneStep.
Variable R : realFieldType.
Local Notation wcancel := (@wcancel R _ _).
Local Notation wdrop := (@wdrop R _ _).
Local Notation one r := (tables [::] r).

(* "CE 11.3 (mixture background): p_m = mean p_i ... p_0=(.1,.9), p_1=(.9,.1), target .9: .50, .249, .083 at k=2,3,5" *)
Definition mean (rs : seq row) : row := [seq Qred (qsum [seq entry r y | r <- rs] / inject_Z (Z.of_nat (size rs)))%Q | y <- iota 0 2].
Definition mixed k := [:: 9#10; 1#10] :: nseq k.-1 [:: 1#10; 9#10].
Theorem counterexample_11_3 :
  let inside k := comp wcancel (model R 1 (one (mean (mixed k)))) (experts R 1 [seq one r | r <- mixed k]) [::] ord0 in
  [/\ inside 2%N = 1 %/ 2,
      inside 3%N = 361 %/ 1450, 2485 %/ 10000 <= inside 3%N /\ inside 3%N <= 2495 %/ 10000
    & 825 %/ 10000 <= inside 5%N /\ inside 5%N <= 835 %/ 10000].
Proof.
split.
- by rewrite cancel_comp modelE; apply: QR_eqb; vm_compute.
- by rewrite cancel_comp modelE; apply: QR_eqb; vm_compute.
- by rewrite cancel_comp modelE !QR_leE; split; vm_compute.
- by rewrite cancel_comp modelE !QR_leE; split; vm_compute.
Qed.
End OneStep.

(* 11.3, the shape.  "p_m = mean p_i is exact off intervals, but inside weight becomes p_0·r(k/(k-1+r))^{k-1}" *)
Local Transparent wcancel wdrop.
Section Shape.
Variables (R : realFieldType) (V I : finType) (p0 : dist R V) (p : I -> dist R V).
Hypotheses (d0 : is_dist p0) (dp : forall i, is_dist (p i)).
Local Notation k := #|I|.
Definition mixture : dist R V := [ffun y => (\sum_i p i y) / k%:R].
Definition inside (n : nat) (r : R) := r * (n%:R / (n.-1%:R + r)) ^+ n.-1.

Theorem counterexample_11_3_off : (0 < k)%N -> (forall i, p i = p0) -> norm (@wcancel R V I) mixture p = p0.
Proof.
move=> k0 e; have -> : mixture = p0.
  apply/ffunP => y; rewrite ffunE (eq_bigr (fun=> p0 y)) => [|i _]; last by rewrite e.
  by rewrite sumr_const -[p0 y *+ _]mulr_natr mulfK // pnatr_eq0 -lt0n.
have w := wcancel_none e; apply/ffunP => y; rewrite ffunE /Z (eq_bigr _ (fun z _ => w z)).
by rewrite d0.2 divr1 w.
Qed.

Theorem counterexample_11_3_weight i y : (forall j, j != i -> p j = p0) -> 0 < p0 y -> let r := p i y / p0 y in
  wcancel mixture p y = p0 y * inside k r.
Proof.
move=> off py r; have p0n : p0 y != 0 by rewrite gt_eqF.
have k0 : (0 < k)%N by apply/card_gt0P; exists i.
have r0 : 0 <= r by rewrite divr_ge0 ?(dp i).1 ?ltW.
have card (j : I) : #|[pred l | l != j]| = k.-1.
  transitivity #|predC1 j|; [by apply: eq_card => l; rewrite !inE|exact: cardC1].
have kn : k%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have m : mixture y = p0 y * ((k.-1%:R + r) / k%:R).
  rewrite ffunE (bigD1 i) //= (eq_bigr (fun=> p0 y)) => [|j ji]; last by rewrite off.
  rewrite sumr_const card -[p0 y *+ _]mulr_natr mulrA mulrDr addrC; congr ((_ + _) / _).
  by rewrite /r mulrC divfK.
have [s0|sn] := eqVneq (k.-1%:R + r) 0.
  have := paddr_eq0 (ler0n R k.-1) r0; rewrite s0 eqxx => /esym/andP[/eqP k1 /eqP r00].
  have piy : p i y = 0 by rewrite -[p i y](divfK p0n) -/r r00 mul0r.
  rewrite (wcancel_sole (i := i)) ?piy /inside ?r00 ?mul0r ?mulr0 // => j ji.
  have : k.-1 = 0%N by apply/eqP; rewrite -(eqr_nat R) k1.
  by rewrite -(card i) => /card0_eq/(_ j); rewrite inE ji.
have mn : mixture y != 0 by rewrite m !mulf_neq0 ?invr_eq0.
rewrite wcancel_supp // /wdrop (bigD1 i) //= (eq_bigr (fun=> p0 y / mixture y)) => [|j ji]; last by rewrite off.
rewrite prodr_const card mulrA [mixture y * _]mulrC divfK //.
have -> : p0 y / mixture y = k%:R / (k.-1%:R + r).
  by rewrite m invfM mulrA divff // mul1r invf_div.
by rewrite /inside mulrA /r [p0 y * _]mulrC divfK.
Qed.

(* "saturates at 2 for k = 2": it increases, and what is missing to 2 is 2/(1+r) *)
Theorem counterexample_11_3_saturates (r : R) : 0 <= r -> inside 2 r = 2%:R - 2%:R / (1 + r).
Proof.
move=> r0; have n : 1 + r != 0 by rewrite gt_eqF // ltr_spaddl ?ltr01.
rewrite /inside expr1 mulrA; apply: (mulIf n); rewrite mulrBl !divfK // [2%:R * (1 + r)]mulrDr mulr1.
by rewrite addrAC subrr add0r mulrC.
Qed.

Lemma natr1 n : n%:R + 1 = n.+1%:R :> R. Proof. by rewrite -(natrD _ n 1) addn1. Qed.
(* Bernoulli's inequality *)
Lemma bernoulli (x : R) n : -1 < x -> 1 + n%:R * x <= (1 + x) ^+ n.
Proof.
move=> x1; have x0 : 0 <= 1 + x by rewrite -ler_subl_addl sub0r ltW.
elim: n => [|n IH]; first by rewrite mul0r addr0 expr0.
rewrite exprS; apply: le_trans (ler_wpmul2l x0 IH).
rewrite mulrDl mul1r mulrDr mulr1 addrA -natr1 mulrDl mul1r [n%:R * x + x]addrC addrA addrAC ler_addl.
by rewrite mulrCA mulr_ge0 ?ler0n // -expr2 sqr_ge0.
Qed.
Lemma bernoulli_strict (x : R) n : -1 < x -> x != 0 -> (1 < n)%N -> 1 + n%:R * x < (1 + x) ^+ n.
Proof.
case: n => [|n] // x1 xn n1; have x0 : 0 < 1 + x by rewrite -ltr_subl_addl sub0r.
rewrite exprS; apply: lt_le_trans (ler_wpmul2l (ltW x0) (bernoulli n x1)).
rewrite mulrDl mul1r mulrDr mulr1 addrA -natr1 mulrDl mul1r [n%:R * x + x]addrC addrA addrAC ltr_addl.
by rewrite mulrCA mulr_gt0 ?ltr0n // -expr2 lt_def sqrf_eq0 xn sqr_ge0.
Qed.

(* "for k >= 3 non-monotone, maximum at r = (k-1)/(k-2)", and nowhere else *)
Theorem counterexample_11_3_maximum n (r : R) : (3 <= n)%N -> let top := n.-1%:R / n.-2%:R in
  0 <= r -> r != top -> inside n r < inside n top.
Proof.
case: n => [|[|[|l]]] // _ top r0 rn; have topE : top = l.+2%:R / l.+1%:R by [].
rewrite /inside -[l.+3.-1]/l.+2; clearbody top; set m := l.+2 in topE *; set n := m.+1.
have m1 : l.+1%:R != 0 :> R by rewrite pnatr_eq0.
have m0 : 0 < m%:R :> R by rewrite ltr0n.
have top0 : 0 < top by rewrite topE divr_gt0 ?ltr0n.
pose s := r / top; have rs : r = s * top by rewrite divfK ?gt_eqF.
have s0 : 0 <= s by rewrite divr_ge0 // ltW.
have s1 : s - 1 != 0 by rewrite subr_eq0; apply: contraNneq rn => e; rewrite rs e mul1r.
have mt : m%:R + top = m%:R * top.
  apply: (mulIf m1); rewrite mulrDl -mulrA topE divfK //.
  by rewrite -[in LHS](mulr1 (m%:R : R)) -mulrA -mulrDr mul1r natr1.
have mr : m%:R + r = top * (m%:R * (1 + (s - 1) / m%:R)).
  have -> : m%:R * (1 + (s - 1) / m%:R) = m%:R + (s - 1) by rewrite mulrDr mulr1 [m%:R * (_ / _)]mulrC divfK ?gt_eqF.
  rewrite mulrDr [top * m%:R]mulrC -mt mulrBr mulr1 [top * s]mulrC -rs -addrA; congr (_ + _).
  by rewrite addrC subrK.
pose u := 1 + (s - 1) / m%:R.
have xm : -1 < (s - 1) / m%:R.
  rewrite ltr_pdivl_mulr // mulN1r ltr_subr_addr (lt_le_trans _ s0) // addrC subr_lt0 ltr1n //.
have u0 : 0 < u by rewrite -ltr_subl_addl sub0r.
have b : s < u ^+ m.
  have x0 : (s - 1) / m%:R != 0 by rewrite mulf_neq0 // invr_eq0 gt_eqF.
  have := @bernoulli_strict ((s - 1) / m%:R) m xm x0 isT.
  by rewrite [m%:R * (_ / _)]mulrC divfK ?gt_eqF // addrCA subrr addr0.
have tu0 : 0 < top * m%:R by rewrite mulr_gt0.
have -> : r * (n%:R / (m%:R + r)) ^+ m = top * (n%:R / (m%:R + top)) ^+ m * (s / u ^+ m).
  have -> : n%:R / (m%:R + r) = n%:R / (m%:R + top) / u by rewrite mr mt mulrA [top * m%:R]mulrC invfM mulrA.
  by rewrite expr_div_n rs [s * top]mulrC mulrACA.
rewrite gtr_pmulr; first by rewrite ltr_pdivr_mulr ?mul1r // exprn_gt0.
by rewrite mulr_gt0 // exprn_gt0 // divr_gt0 ?ltr0n // addr_gt0.
Qed.
End Shape.
