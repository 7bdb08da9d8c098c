(* The decision by enumeration (decision.v) is right: what it accepts holds, what it refutes fails at the prefix that it
   names (theory.md 1.1, 4.1; 4.2 for the intervals).  The rows are tables of any numbers [N], with an injection [val]
   into a field that sends [zero] to 0; [tokens] and [experts] list all of them, once. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition laws skills joint decision.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.

Section Lists.
Variables (I : eqType) (experts : seq I).
Hypothesis experts_uniq : uniq experts.

Lemma two_of (a : pred I) : reflect (exists i j, [/\ i != j, i \in experts, j \in experts, a i & a j])
  (1 < size [seq i <- experts | a i]).
Proof.
set s := filter _ _; have us : uniq s by rewrite filter_uniq.
have ms i : (i \in s) = a i && (i \in experts) by rewrite mem_filter.
apply: (iffP idP) => [|[i [j [ij ie je ai aj]]]].
  case: s us ms => [|i [|j s]] //= /andP[]; rewrite inE negb_or => /andP[ij _] _ ms _.
  have := ms i; have := ms j; rewrite !inE !eqxx !orbT => /esym/andP[aj je] /esym/andP[ai ie].
  by exists i, j.
have sub : {subset [:: i; j] <= s} by move=> x; rewrite !inE => /orP[]/eqP->; rewrite ms ?ai ?aj ?ie ?je.
by have := uniq_leq_size _ sub; apply; rewrite /= inE ij.
Qed.

Lemma ohead_filter (a : pred I) : if ohead [seq i <- experts | a i] is Some i then i \in experts /\ a i
  else forall i, i \in experts -> ~~ a i.
Proof.
case e: [seq i <- experts | a i] => [|i s] /=.
  move=> i ie; apply/negP => ai; have := mem_filter a i experts.
  by rewrite e ai ie.
by have := mem_filter a i experts; rewrite e inE eqxx => /esym/andP[].
Qed.
End Lists.

Section Correct.
Local Open Scope ring_scope.
Variables (R : realFieldType) (V I : finType) (N : eqType) (zero : N) (val : N -> R).
Hypotheses (val_inj : injective val) (val0 : val zero = 0).
Variables (tokens : seq V) (experts : seq I).
Hypotheses (tokens_all : forall y, y \in tokens) (experts_uniq : uniq experts) (experts_all : forall i, i \in experts).
Variables (background : seq V -> V -> N) (expert : I -> seq V -> V -> N).

Let b : kernel R V := fun h => [ffun y => val (background h y)].
Let p i : kernel R V := fun h => [ffun y => val (expert i h y)].
Hypotheses (b_model : is_model b) (p_model : forall i, is_model (p i)).

Local Notation deviating := (deviating tokens experts background expert).
Local Notation opening := (opening zero experts expert).
Local Notation undefined := (undefined zero tokens experts background expert).
Local Notation follows := (follows zero tokens experts background expert).
Local Notation level := (level zero tokens experts background expert).
Local Notation scope := (scope zero tokens experts background expert).
Local Notation begun := (begun tokens experts background expert).
Local Notation alive := (alive zero tokens experts background expert).
Local Notation active := (active zero tokens experts background expert).
Local Notation w := (@wcancel R V I).
Local Notation reached := (reach (comp w b p)).                        (* R^ (1.1) *)

Lemma val_eq0 n : (val n == 0) = (n == zero).
Proof. by rewrite -val0 (inj_eq val_inj). Qed.

Lemma mem_deviating i h : (i \in deviating h) = dev b p i h.
Proof.
rewrite mem_filter experts_all andbT /dev; apply/idP/idP => [/hasP[y _]|].
  by apply: contra => /eqP/ffunP/(_ y); rewrite !ffunE => /val_inj->.
apply: contraR => /hasPn same; apply/eqP/ffunP => y; rewrite !ffunE.
by have /negbNE/eqP-> := same y (tokens_all y).
Qed.

Lemma size_opening h y : size (opening h y) = #|[set i | p i h y != 0]|.
Proof.
have same : perm_eq experts (enum I) by apply: uniq_perm => // [|i]; rewrite ?enum_uniq // mem_enum experts_all.
rewrite cardsE -sum1_card size_filter -sum1_count (perm_big _ same) big_enum_cond.
by apply: eq_bigl => i; rewrite [RHS]unfold_in /= ffunE val_eq0.
Qed.

(* a token may follow iff it has weight, where no ratio is undefined *)
Lemma followsE h y : ~~ undefined h -> follows h y = (wk w b p h y != 0).
Proof.
move=> def; rewrite /follows def /wk /wcancel [b h y]ffunE val_eq0; case: eqP => [b0|/eqP bn0] /=.
  have few : (size (opening h y) <= 1)%N.
    by move/hasPn/(_ y (tokens_all y)): def; rewrite b0 eqxx /= -leqNgt.
  rewrite -size_opening few; move: few; rewrite size_opening.
  case c: #|_| => [|[|//]] _ /=; last first.
    have /cards1P[i e] : #|[set i | p i h y != 0]| == 1%N by rewrite c.
    have /(_ i) := congr1 (fun s : {set I} => _ \in s) e; rewrite !inE eqxx => pi.
    rewrite (bigD1 i) //= big1 ?addr0 ?pi // => j ji.
    by have := congr1 (fun s : {set I} => j \in s) e; rewrite !inE (negPf ji) => /negbFE/eqP.
  rewrite big1 ?eqxx // => i _; have /eqP/setP/(_ i) : [set i | p i h y != 0] == set0 by rewrite -cards_eq0 c.
  by rewrite !inE => /negbFE/eqP.
rewrite /wdrop mulf_eq0 ffunE val_eq0 (negPf bn0) /=; apply/allP/prodf_neq0 => [pos i _|pos i _].
  by rewrite mulf_neq0 ?invr_eq0 ?ffunE ?val_eq0 ?pos.
by have := pos i isT; rewrite ffunE mulf_eq0 negb_or val_eq0 => /andP[].
Qed.

Lemma w_ge0 h y : 0 <= wk w b p h y.
Proof.
have pos i : 0 <= p i h y by case: (p_model i h).
have b0 : 0 <= b h y by case: (b_model h).
rewrite /wk /wcancel; case: ifP => _; first by case: ifP => // _; apply: sumr_ge0 => i _; apply: pos.
by rewrite /wdrop mulr_ge0 // prodr_ge0 // => i _; rewrite divr_ge0.
Qed.

Lemma comp_neq0 h y : (comp w b p h y != 0) = (wk w b p h y != 0).
Proof.
rewrite /comp ffunE -/(wk w b p h y) -/(Zk w b p h); have [->|nz] := eqVneq (wk w b p h y) 0; first by rewrite mul0r eqxx.
rewrite mulf_neq0 // invr_eq0; apply: contra nz => /eqP Z0; apply/eqP.
by apply: (psumr_eq0P _ Z0) => // z _; apply: w_ge0.
Qed.

Lemma follows_comp h y : follows h y -> comp w b p h y != 0.
Proof. by move=> f; rewrite comp_neq0 -followsE //; case/andP: f. Qed.

Lemma level_rcons n h y : (rcons h y \in level n.+1) = (h \in level n) && follows h y.
Proof.
apply/allpairsPdep/andP => [[g [z [gl]]]|[hl f]].
  by rewrite mem_filter => /andP[f _] /rcons_inj[-> ->].
by exists h, y; rewrite mem_filter f tokens_all.
Qed.
Lemma level_size n h : h \in level n -> size h = n.
Proof.
elim: n h => [|n IH] h /=; first by rewrite inE => /eqP->.
by case/allpairsPdep => g [z [/IH <- _ ->]]; rewrite size_rcons.
Qed.
Lemma mem_scope T h : (h \in scope T) = (size h < T)%N && (h \in level (size h)).
Proof.
apply/flattenP/andP => [[s /mapP[n]]|[hT hl]].
  by rewrite mem_iota /= add0n => nT -> hl; rewrite (level_size hl).
by exists (level (size h)) => //; apply/mapP; exists (size h); rewrite ?mem_iota.
Qed.

Lemma level_reached h : h \in level (size h) -> reached h.
Proof.
elim/last_ind: h => [|h y IH]; first by rewrite /reach /= oner_neq0.
rewrite size_rcons level_rcons /reach law_rcons => /andP[/IH r f].
by rewrite mulf_neq0 // follows_comp.
Qed.
Lemma reached_take h m : reached h -> reached (take m h).
Proof. by rewrite /reach -{1}(cat_take_drop m h) law_cat mulf_eq0 negb_or => /andP[]. Qed.
Lemma level_take h m : h \in level (size h) -> take m h \in level (size (take m h)).
Proof.
elim/last_ind: h => [//|h y IH]; rewrite size_rcons level_rcons => /andP[hl f].
have [mh|hm] := leqP m (size h); first by rewrite -cats1 takel_cat // IH.
by rewrite take_oversize ?size_rcons ?level_rcons ?hl.
Qed.

(* an undefined ratio is opened by two experts, and both deviate *)
Lemma undefined_two h : undefined h -> (1 < size (deviating h))%N.
Proof.
case/hasP => y _ /andP[/eqP b0 /two_of[//|i [j [ij ie je pi pj]]]].
by apply/two_of => //; exists i, j; split => //; apply/hasP; exists y; rewrite ?b0 ?tokens_all.
Qed.

(* where at most one expert deviates in scope, the scope is R^ *)
Lemma scope_reached T : (forall h, h \in scope T -> ~~ undefined h) ->
  forall h, (size h < T)%N -> (h \in level (size h)) = reached h.
Proof.
move=> def; elim/last_ind => [|h y IH]; first by rewrite inE eqxx /reach /= oner_neq0.
rewrite size_rcons level_rcons => hT; have hT' := ltnW hT; rewrite IH // /reach law_rcons mulf_eq0 negb_or /=.
rewrite -/(reached h); case r: (reached h) => //=; rewrite comp_neq0 followsE //.
by apply: def; rewrite mem_scope hT' IH.
Qed.

Lemma deviatingP h : reflect (exists i j, [/\ i != j, dev b p i h & dev b p j h]) (1 < size (deviating h))%N.
Proof.
have devE i : has (fun y => expert i h y != background h y) tokens = dev b p i h.
  by rewrite -mem_deviating mem_filter experts_all andbT.
by apply: (iffP (two_of experts_uniq _)) => -[i [j]] [ij]; [rewrite !devE|]; exists i, j; rewrite ?devE.
Qed.

Definition in_scope T : pred (seq V) := [pred h | (size h < T)%N & reached h].

Lemma scope_in T h : h \in scope T -> in_scope T h.
Proof. by rewrite mem_scope => /andP[hT hl]; apply/andP; rewrite /= hT level_reached. Qed.

Lemma one_defined T : (forall h, h \in scope T -> ~~ (1 < size (deviating h))%N) ->
  forall h, (h \in scope T) = in_scope T h.
Proof.
move=> one h; rewrite mem_scope /in_scope /=; case hT: (_ < T)%N => //=; apply: (scope_reached _ hT) => g gs.
by apply: contra (one g gs); apply: undefined_two.
Qed.

(* theory.md 4.1, at the prefixes of R^ shorter than T, under `cancel` *)
Theorem decide_pointwise_right T :
  if decide_pointwise zero tokens experts background expert T is Some h
  then in_scope T h /\ exists i j, [/\ i != j, dev b p i h & dev b p j h]
  else jf_pt b p (in_scope T).
Proof.
have := ohead_filter (scope T) (fun h => 1 < size (deviating h))%N; rewrite /decide_pointwise.
case: ohead => [h [/scope_in hs /deviatingP two]|one] //.
move=> h; rewrite -(one_defined one) => /one no i j di dj; apply/eqP; apply: contraR no => ij.
by apply/deviatingP; exists i, j.
Qed.

Local Notation Dev := (Dev b p reached).                               (* Dev_i on R^ *)

Lemma activeP T h : reflect (exists i j, [/\ i != j, i \in active T h & j \in active T h]) (1 < size (active T h))%N.
Proof.
have actE i : (i \in active T h) = begun i h && alive (T - (size h).+1) i h by rewrite mem_filter experts_all andbT.
by apply: (iffP (two_of experts_uniq _)) => -[i [j]] [ij]; rewrite -?actE; exists i, j; rewrite -?actE.
Qed.

Lemma alive_iff n i h : h \in level (size h) ->
  reflect (exists s, [/\ size s <= n, h ++ s \in level (size (h ++ s)) & dev b p i (h ++ s)])%N (alive n i h).
Proof.
elim: n h => [|n IH] h hl /=.
  rewrite orbF mem_deviating; apply: (iffP idP) => [di|[s []]]; last by rewrite leqn0 => /nilP-> _; rewrite cats0.
  by exists [::]; rewrite cats0.
apply: (iffP orP) => [[|/hasP[y _ /andP[f /IH[|s [sn sl ds]]]]]|[[|y s] [sn sl ds]]].
- by rewrite mem_deviating => di; exists [::]; rewrite cats0.
- by rewrite size_rcons level_rcons hl.
- by exists (y :: s); rewrite -cat_rcons.
- by left; rewrite mem_deviating -[h]cats0.
have hyl : rcons h y \in level (size (rcons h y)).
  by have := level_take (size (rcons h y)) sl; rewrite -cat_rcons take_size_cat.
right; apply/hasP; exists y => //; move: (hyl); rewrite {1}size_rcons level_rcons => /andP[_ ->] /=.
by apply/IH => //; exists s; rewrite cat_rcons.
Qed.

Lemma active_act T i h : h \in scope T -> i \in active T h -> act T (Dev i) h.
Proof.
rewrite mem_scope mem_filter => /andP[hT hl] /andP[/andP[/hasP[m mh dm] /(alive_iff _ _ hl)[s [sn sl ds]]] _].
apply/andP; split.
  apply/aliveP; exists s; first by rewrite size_cat -(subnKC hT) addSn ltnS leq_add2l.
  by apply/andP; split; first exact: level_reached.
apply/startedP; exists m; first by move: mh; rewrite mem_iota add0n ltnS.
by apply/andP; split; [exact/reached_take/level_reached|rewrite -mem_deviating].
Qed.

Lemma act_active T i h : (forall g, (g \in scope T) = in_scope T g) -> act T (Dev i) h ->
  h \in scope T /\ i \in active T h.
Proof.
move=> same /andP[/aliveP[t tT /andP[rt dt]] /startedP[m mh /andP[_ dm]]].
have hT : (size h < T)%N by apply: leq_ltn_trans tT; rewrite size_cat leq_addr.
have tl : h ++ t \in level (size (h ++ t)) by have := same (h ++ t); rewrite mem_scope /in_scope /= tT rt.
have hl : h \in level (size h) by have := level_take (size h) tl; rewrite take_size_cat.
split; first by rewrite mem_scope hT.
rewrite mem_filter experts_all andbT; apply/andP; split.
  by apply/hasP; exists m; rewrite ?mem_iota ?add0n ?ltnS // mem_deviating.
by apply/alive_iff => //; exists t; split=> //; move: tT; rewrite size_cat leq_subRL // addSn ltnS.
Qed.

(* theory.md 4.1, by 4.2: disjoint intervals between stopping times, on the paths of length T; two experts are active at
   the prefix that is given *)
Theorem decide_interval_right T :
  if decide_interval zero tokens experts background expert T is Some h
  then [/\ in_scope T h, ~ jf_int T Dev & exists i j, [/\ i != j, act T (Dev i) h & act T (Dev j) h]]
  else jf_int T Dev.
Proof.
have [v0 _] := model_inhabited b_model.
have := ohead_filter (scope T) (fun h => 1 < size (active T h))%N; rewrite /decide_interval.
case: ohead => [h [hs /activeP[i [j [ij ai aj]]]]|one].
  have [acti actj] := (active_act hs ai, active_act hs aj); split; [exact: scope_in| |by exists i, j].
  by move/(theorem_4_2_active _ _ v0)/(_ h i j acti actj)/eqP; rewrite (negPf ij).
apply/(theorem_4_2_active _ _ v0) => h i j ai aj; apply/eqP.
have same : forall g, (g \in scope T) = in_scope T g.
  apply: one_defined => g gs; apply: contra (one g gs) => /deviatingP[i' [j' [ij di dj]]]; apply/activeP; exists i', j'.
  have now k : dev b p k g -> k \in active T g.
    rewrite -mem_deviating => dk; rewrite mem_filter experts_all andbT; apply/andP; split.
      by apply/hasP; exists (size g); rewrite ?take_size // mem_iota add0n ltnS leqnn.
    by case: (T - _)%N => /= [|n]; rewrite dk.
  by rewrite !now.
have [hs ii] := act_active same ai; have [_ jj] := act_active same aj.
by apply: contraR (one _ hs) => ij; apply/activeP; exists i, j.
Qed.

Lemma undefinedE h : undefined h = ~~ [forall y, (b h y == 0) ==> (#|[set i | p i h y != 0%R]| <= 1)%N].
Proof.
rewrite negb_forall; apply/hasP/existsP => [[y _]|[y]].
  by exists y; rewrite negb_imply -ltnNge -size_opening ffunE val_eq0.
by rewrite negb_imply -ltnNge -size_opening ffunE val_eq0; exists y.
Qed.

(* theory.md 1.1, 1.3: every ratio on R^ is defined (no token that the background excludes is opened by two), and no
   prefix is dead *)
Definition well_defined_at h := cancel_ok (b h) (fun i => p i h) /\ Zk w b p h != 0.

Lemma follows_some h : has (follows h) tokens <-> well_defined_at h.
Proof.
split=> [/hasP[y _ f]|[ok nz]].
  have def : ~~ undefined h by case/andP: f.
  split; last by move: (follows_comp f); rewrite /comp ffunE mulf_eq0 negb_or invr_eq0 => /andP[].
  by move: def; rewrite undefinedE negbK => /forallP ok z /eqP bz; apply: (implyP (ok z)).
have def : ~~ undefined h by rewrite undefinedE negbK; apply/forallP => y; apply/implyP => /eqP; apply: ok.
apply: contraR nz => /hasPn none; apply/eqP/big1 => y _; apply/eqP.
by have := none y (tokens_all y); rewrite followsE // negbK.
Qed.

Theorem decide_well_defined_right T :
  if decide_well_defined zero tokens experts background expert T is Some h
  then in_scope T h /\ ~ well_defined_at h
  else forall h, in_scope T h -> well_defined_at h.
Proof.
have := ohead_filter (scope T) (fun h => ~~ has (follows h) tokens); rewrite /decide_well_defined.
case: ohead => [h [/scope_in hs dead]|alive]; first by split=> // /follows_some; apply/negP.
have live h : h \in scope T -> has (follows h) tokens by move/alive/negbNE.
move=> h /andP[/= hT r]; apply/follows_some/live; rewrite mem_scope hT (scope_reached _ hT) // => g /live.
by case/hasP => y _ /andP[].
Qed.
End Correct.
