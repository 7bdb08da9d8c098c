(* theory.md 4.4: when the composition is one of its models. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition local_global.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* ---- (1), at one prefix: b = p_b(.|h), p i = p_i(.|h) ---- *)
Section OneStep.
Variables (R : realFieldType) (V I : finType) (c : convention).
Local Notation w := (@weight R V I c).
Implicit Types (b f : dist R V) (p : I -> dist R V).

(* p^ = f for a dist f: p^ is proportional to w *)
Lemma norm_dist b p f : (forall y, 0 <= w b p y) -> is_dist f ->
  norm w b p = f <-> exists2 k, 0 < k & forall y, w b p y = k * f y.
Proof.
move=> w0 [f0 f1]; split=> [e|[k k0 e]]; last first.
  have Zk : Z w b p = k by rewrite /Z (eq_bigr _ (fun y _ => e y)) -mulr_sumr f1 mulr1.
  by apply/ffunP => y; rewrite ffunE Zk e mulrAC divff ?mul1r // gt_eqF.
have Zn : Z w b p != 0.
  apply: contraTneq (oner_neq0 R) => z; rewrite negbK -f1 -e big1 // => y _.
  by rewrite ffunE z invr0 mulr0.
exists (Z w b p) => [|y]; first by rewrite lt_def Zn sumr_ge0.
by rewrite -e ffunE mulrC divfK.
Qed.

(* 4.4 (1): "p^(.|h) = p_i(.|h) iff w(y|h) = 0 wherever p_i(y|h) = 0 and r_{-i}(.|h) = w/p_i is constant and positive on
   supp p_i(.|h)" *)
Theorem theorem_4_4_1 b p i : is_dist b -> (forall j, is_dist (p j)) ->
  norm w b p = p i <->
  (forall y, p i y = 0 -> w b p y = 0) /\ exists2 k, 0 < k & forall y, p i y != 0 -> w b p y / p i y = k.
Proof.
move=> db dp; have w0 y : 0 <= w b p y by apply: weight_ge0.
rewrite norm_dist //; split=> [[k k0 e]|[z [k k0 e]]].
  by split=> [y py|]; [rewrite e py mulr0|exists k => // y py; rewrite e mulfK].
by exists k => // y; have [py|py] := eqVneq (p i y) 0; [rewrite py mulr0 z|rewrite -(e y py) divfK].
Qed.

(* 4.4 (1): "(automatic under strict/drop)" *)
Theorem theorem_4_4_1_automatic b p i y : c <> Cancel -> p i y = 0 -> w b p y = 0.
Proof. by case: c => // _ py; rewrite /= /wdrop (bigD1 i) //= py mul0r mul0r mulr0. Qed.

(* 4.4 (1): "p^ = p_b iff (AC) prod_j r_j is constant and positive on supp p_b" *)
Theorem theorem_4_4_1_background b p : is_dist b -> (forall j, is_dist (p j)) -> AC b p ->
  norm w b p = b <-> exists2 k, 0 < k & forall y, b y != 0 -> \prod_j (p j y / b y) = k.
Proof.
move=> db dp ac; have w0 y : 0 <= w b p y by apply: weight_ge0.
rewrite norm_dist //; split=> -[k k0 e]; exists k => // y.
  by move=> by0; apply: (mulfI by0); rewrite mulrC [RHS]mulrC -e weight_AC // /wdrop mulrC.
rewrite weight_AC // /wdrop; have [->|by0] := eqVneq (b y) 0; first by rewrite mul0r mulr0.
by rewrite e // mulrC.
Qed.
End OneStep.

(* ---- (2) ---- *)
Section Exact.
Variables (R : realFieldType) (V I : finType) (c : convention).
Local Notation w := (@weight R V I c).
Variables (b : kernel R V) (p : I -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).

(* "at most one expert deviates at h" *)
Definition one_deviator h := forall i j, dev b p i h -> dev b p j h -> i = j.

Section Prefix.
Variable h : seq V.
Hypotheses (fh : faithful c (b h) (p^~ h)) (one : one_deviator h).

Lemma weight_switch : wk w b p h =1 switch b p h.
Proof.
move=> y; rewrite /wk /switch /assign; case: pickP => [i di|nd].
  apply: (weight_sole (i := i) fh) => j ji; apply/eqP; apply: contraNT ji => dj.
  by rewrite (one dj di).
by apply: weight_none => j; apply/eqP; have := nd j; rewrite /dev => /negbFE.
Qed.

Lemma Z_one : Zk w b p h = 1.
Proof.
rewrite /Zk /Z -(switch_model mb mp h).2.
by apply: eq_bigr => y _; rewrite -weight_switch.
Qed.

Lemma comp_switched : comp w b p h = switch b p h.
Proof. by apply/ffunP => y; rewrite compE Z_one divr1 weight_switch. Qed.

Lemma one_valid : valid c (b h) (p^~ h).
Proof.
case: c fh => [/valid_strict//|_|_]; [exact: valid_drop|apply/valid_cancel => y by0].
have dy i : p i h y != 0 -> dev b p i h by apply: contraNneq => ->; rewrite by0.
apply/card_le1P => i; rewrite inE => pi j; rewrite !inE.
by apply/idP/eqP => [pj|->//]; apply: one; apply: dy.
Qed.
End Prefix.

Lemma comp_sole h i : faithful c (b h) (p^~ h) -> (forall j, j != i -> p j h = b h) -> comp w b p h = p i h.
Proof.
move=> fh sole; have e := weight_sole fh sole; have z1 : Zk w b p h = 1.
  by rewrite /Zk /Z -(mp i h).2; apply: eq_bigr => y _; rewrite e.
by apply/ffunP => y; rewrite compE z1 divr1 /wk e.
Qed.

Variable T : nat.
Local Notation Rhat := (Rhat w T b p).

(* 4.4 (2), for every convention that reproduces a sole deviator on R^ *)
Lemma exact_on_reach : (forall h, Rhat h -> faithful c (b h) (p^~ h)) -> jf_pt b p Rhat ->
  [/\ forall h, Rhat h -> valid c (b h) (p^~ h),
      forall h, Rhat h -> ~~ dead w b p h,
      (forall h, Rhat h -> comp w b p h = switch b p h) /\
        (forall s, (size s <= T)%N -> law (comp w b p) [::] s = law (switch b p) [::] s),
      forall h, Rhat h -> Zk w b p h = 1
    & forall y : T.-tuple V, PG w b p T y = law (comp w b p) [::] y].
Proof.
move=> fR jf; have one h (Rh : Rhat h) : one_deviator h by apply: jf.
have z1 h : Rhat h -> Zk w b p h = 1 by move=> Rh; apply: Z_one; [apply: fR|apply: one].
have alive h : Rhat h -> Zk w b p h != 0 by move/z1->; apply: oner_neq0.
have sw h : Rhat h -> comp w b p h = switch b p h by move=> Rh; apply: comp_switched; [apply: fR|apply: one].
split=> // [h Rh||y].
- by apply: one_valid; [apply: fR|apply: one].
- by split=> //; apply: law_eq_on_reach => h hT rh; apply: sw; rewrite /composition.Rhat hT.
apply: (theorem_1_5_2 mb mp alive).2; exists 1 => {}y; rewrite -/(reach _ _).
have : (size y <= T)%N by rewrite size_tuple.
elim/last_ind: {y}(val y) => [//|s v IH]; rewrite size_rcons reach_rcons pathZ_rcons => sT /andP[rs _].
by rewrite IH ?(ltnW sT) // mul1r z1 // /composition.Rhat sT.
Qed.
End Exact.

Section Conventions.
Variables (R : realFieldType) (V I : finType) (b : kernel R V) (p : I -> kernel R V) (T : nat).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).

(* JF-pt on R^ => no error, no dead prefix, P^ = S, Z = 1, P_L = P_G *)
Definition exact_composition c :=
  let w := @weight R V I c in let R' := Rhat w T b p in
  [/\ forall h, R' h -> valid c (b h) (p^~ h),
      forall h, R' h -> ~~ dead w b p h,
      (forall h, R' h -> comp w b p h = switch b p h) /\
        (forall s, (size s <= T)%N -> law (comp w b p) [::] s = law (switch b p) [::] s),
      forall h, R' h -> Zk w b p h = 1
    & forall y : T.-tuple V, PG w b p T y = law (comp w b p) [::] y].

(* 4.4 (2): "Under cancel" *)
Theorem theorem_4_4_2_cancel : jf_pt b p (Rhat (@weight R V I Cancel) T b p) -> exact_composition Cancel.
Proof. exact: exact_on_reach. Qed.

(* 4.4 (2): "or under strict where no error occurs on R^" *)
Theorem theorem_4_4_2_strict :
  (forall h, Rhat (@weight R V I Strict) T b p h -> valid Strict (b h) (p^~ h)) ->
  jf_pt b p (Rhat (@weight R V I Strict) T b p) -> exact_composition Strict.
Proof. by move=> ok; apply: exact_on_reach => // h /ok/valid_strict. Qed.

(* 4.4 (2): "Under drop this needs AC" *)
Theorem theorem_4_4_2_drop : (forall h, Rhat (@weight R V I Drop) T b p h -> AC (b h) (p^~ h)) ->
  jf_pt b p (Rhat (@weight R V I Drop) T b p) -> exact_composition Drop.
Proof. exact: exact_on_reach. Qed.
End Conventions.

(* ---- (3), (3'), (5): one support ---- *)
Definition same_support (R : realFieldType) (V : finType) (f g : dist R V) := forall y, (f y == 0) = (g y == 0).

Section TwoExperts.
Variables (R : realFieldType) (V : finType) (c : convention).
Local Notation w := (@weight R V _ c).
Section Step.
Variables (b : dist R V) (p : bool -> dist R V).
Hypotheses (db : is_dist b) (dp : forall i, is_dist (p i)) (supp : forall i, same_support (p i) b).

Lemma w_two y : w b p y = p true y * p false y / b y.
Proof.
have ac : AC b p by move=> i z bz; apply/eqP; rewrite supp bz.
rewrite weight_AC // /wdrop big_bool /=.
have [->|bn] := eqVneq (b y) 0; first by rewrite invr0 !mulr0.
by rewrite mulrA [b y * _]mulrCA divff // mulr1 mulrA.
Qed.

Lemma two_exact : (exists i, norm w b p = p i) <-> (exists i, p (~~ i) = b).
Proof.
have w0 y : 0 <= w b p y by apply: weight_ge0.
have wE i y : w b p y = p i y * (p (~~ i) y / b y) by rewrite w_two; case: i; rewrite mulrA // [p true y * _]mulrC.
split=> -[i e]; exists i; last first.
  apply/norm_dist => //; exists 1 => [|y]; first exact: ltr01.
  rewrite (wE i) e mul1r; have [py|py] := eqVneq (p i y) 0; first by rewrite py mul0r.
  by rewrite divff ?mulr1 // -(supp i).
have [k _ wk] := (norm_dist w0 (dp i)).1 e.
have pk y : p (~~ i) y = k * b y.
  have [by0|bn] := eqVneq (b y) 0; first by rewrite by0 mulr0; apply/eqP; rewrite supp by0.
  have pn : p i y != 0 by rewrite supp.
  by have := wk y; rewrite (wE i) mulrC => /(mulIf pn) <-; rewrite divfK.
have k1 : k = 1 by rewrite -(dp (~~ i)).2 (eq_bigr _ (fun y _ => pk y)) -mulr_sumr db.2 mulr1.
by apply/ffunP => y; rewrite pk k1 mul1r.
Qed.

(* Jensen's step of (3'): r_1 r_2 = 1 forces r_1 = 1 *)
Lemma reciprocal : (forall y, w b p y = b y) -> p true = b.
Proof.
move=> wb; have pp y : p true y * p false y = b y * b y.
  have [by0|bn] := eqVneq (b y) 0; last by rewrite -{1}(wb y) w_two divfK.
  by rewrite by0 mulr0; apply/eqP; rewrite mulf_eq0 supp by0 eqxx.
have sq y : p true y + p false y - (b y + b y) = (p true y - b y) ^+ 2 / p true y.
  have [p0|pn] := eqVneq (p true y) 0.
    have b0 : b y = 0 by apply/eqP; rewrite -(supp true) p0.
    have pf : p false y = 0 by apply/eqP; rewrite (supp false) b0.
    by rewrite p0 b0 pf !addr0 subr0 invr0 mulr0.
  apply: (mulIf pn); rewrite divfK // sqrrB mulrBl mulrDl -expr2 [p false y * _]mulrC pp -expr2.
  by rewrite mulrDl -mulr2n [b y * _]mulrC addrAC.
have s0 : \sum_y (p true y - b y) ^+ 2 / p true y = 0.
  rewrite -(eq_bigr _ (fun y _ => sq y)) sumrB !big_split /= !(dp _).2 db.2.
  by rewrite subrr.
apply/ffunP => y; apply/eqP; rewrite -subr_eq0.
have := psumr_eq0P (fun z _ => _) s0 (i := y) isT => /(_ (fun z => divr_ge0 (sqr_ge0 _) ((dp true).1 z)))/eqP.
rewrite mulf_eq0 expf_eq0 /= invr_eq0 => /orP[//|p0].
by rewrite (eqP p0) sub0r oppr_eq0 -(supp true).
Qed.

(* "iff p^(.|h) in {p_b, p_1, p_2}(.|h) and Z(h) = 1" *)
Lemma two_exact_background :
  (exists i, p (~~ i) = b) <-> (norm w b p = b \/ exists i, norm w b p = p i) /\ Z w b p = 1.
Proof.
have w0 y : 0 <= w b p y by apply: weight_ge0.
split=> [ex|[[e|e] z1]]; last exact/two_exact.
  have ei := two_exact.2 ex; split; first by right.
  case: ex => i e; rewrite -(dp i).2; apply: eq_bigr => y _; rewrite w_two.
  have -> : p true y * p false y = p i y * b y by rewrite -[b in RHS]e; case: (i); rewrite //= mulrC.
  have [b0|bn] := eqVneq (b y) 0; last by rewrite mulfK.
  by rewrite b0 mulr0 mul0r; apply/esym/eqP; rewrite supp b0.
exists false; apply: reciprocal => y.
by have := congr1 (fun f : dist R V => f y) e; rewrite ffunE z1 divr1.
Qed.
End Step.

Variables (b : kernel R V) (p : bool -> kernel R V).
Hypotheses (mb : is_model b) (mp : forall i, is_model (p i)).

Lemma one_deviator_two h : one_deviator b p h <-> exists i, p (~~ i) h = b h.
Proof.
split=> [one|[i e] j l]; last first.
  have dn : dev b p (~~ i) h = false by rewrite /dev e eqxx.
  by case: i j l dn {e} => [] [] [] // ->.
have [e|d1] := eqVneq (p true h) (b h); first by exists false.
have [e|d2] := eqVneq (p false h) (b h); first by exists true.
by have := one true false d1 d2.
Qed.

(* 4.4 (3): "If supp p_b = supp p_1 = supp p_2 at every h in R and k = 2:
   [p^(.|h) in {p_1(.|h), p_2(.|h)} for all h in R] iff JF-pt on R" *)
Theorem theorem_4_4_3 (S : pred (seq V)) : (forall h, S h -> forall i, same_support (p i h) (b h)) ->
  (forall h, S h -> exists i, comp w b p h = p i h) <-> jf_pt b p S.
Proof.
move=> supp; have one h : S h -> (exists i, comp w b p h = p i h) <-> one_deviator b p h.
  by move=> Sh; rewrite one_deviator_two; apply: two_exact; [|move=> i; apply: mp|apply: supp].
by split=> H h Sh; apply/one => //; apply: H.
Qed.

(* 4.4 (3'): "under the supports of (3), at most one expert deviates at h iff p^(.|h) in {p_b, p_1, p_2}(.|h) and Z(h) = 1" *)
Theorem theorem_4_4_3_background h : (forall i, same_support (p i h) (b h)) ->
  one_deviator b p h <-> (comp w b p h = b h \/ exists i, comp w b p h = p i h) /\ Zk w b p h = 1.
Proof.
by move=> supp; rewrite one_deviator_two; apply: two_exact_background; [|move=> i; apply: mp|].
Qed.
End TwoExperts.

(* 4.4 (5): "Any k, common support: JF-pt at h iff for every pair the two-expert composition at h is one of its two experts" *)
Theorem theorem_4_4_5 (R : realFieldType) (V I : finType) (c : convention) (b : kernel R V) (p : I -> kernel R V) h :
  is_model b -> (forall i, is_model (p i)) -> (forall i, same_support (p i h) (b h)) ->
  one_deviator b p h <->
  forall i j, i != j -> let pair (x : bool) := if x then p i else p j in
    comp (@weight R V _ c) b pair h = p i h \/ comp (@weight R V _ c) b pair h = p j h.
Proof.
move=> mb mp supp; pose pair i j (x : bool) := if x then p i else p j.
have key i j : (comp (@weight R V _ c) b (pair i j) h = p i h \/ comp (@weight R V _ c) b (pair i j) h = p j h) <->
    (p i h = b h \/ p j h = b h).
  have dp x : is_dist (pair i j x h) by case: x; apply: mp.
  have sp x : same_support (pair i j x h) (b h) by case: x; apply: supp.
  have E := two_exact c (mb h) dp sp; split=> -[e|e].
  - by have [[] e'] := E.1 (ex_intro _ true e); [right|left].
  - by have [[] e'] := E.1 (ex_intro _ false e); [right|left].
  - by have [[] e'] := E.2 (ex_intro _ false e); [left|right].
  - by have [[] e'] := E.2 (ex_intro _ true e); [left|right].
split=> [one i j ij|H i j di dj].
  apply/key; have [e|di] := eqVneq (p i h) (b h); first by left.
  have [e|dj] := eqVneq (p j h) (b h); first by right.
  by rewrite (one i j di dj) eqxx in ij.
apply/eqP; apply: contraT => ij; have /key := H i j ij.
by case=> e; [move: di|move: dj]; rewrite /dev e eqxx.
Qed.
