(* theory.md 7.4: JF-int at every horizon iff no reachable extended state has two active experts. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition skills automata.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.

Section Ext.
Variables (V I Q : finType) (delta : Q -> V -> Q) (ok : Q -> V -> bool) (q0 : Q) (D : Q -> {set I}) (v0 : V).
(* scope R^ = legal words; Dev_i = legal words whose state is in D_i *)
Local Notation rn h := (run delta q0 h).
Local Notation legal := (legal delta ok).
Definition DevA i : pred (seq V) := fun h => legal q0 h && (i \in D (rn h)).

(* extended automaton: state + set of experts that have deviated so far (pre / started) *)
Definition X := (Q * {set I})%type.
Definition xdelta (x : X) y : X := (delta x.1 y, x.2 :|: D (delta x.1 y)).
Definition xok (x : X) y := ok x.1 y.
Definition x0 : X := (q0, D q0).
Definition canreach q i := [exists q', connect (edge delta ok) q q' && (i \in D q')].
Definition xact (x : X) i := (i \in x.2) && canreach x.1 i.
Definition xbad (x : X) := [exists i, [exists j, [&& i != j, xact x i & xact x j]]].

Lemma legal_cat q u v : legal q (u ++ v) = legal q u && legal (run delta q u) v.
Proof. by elim: u q => [|y u IH] q //=; rewrite IH andbA. Qed.
Lemma run_cat q u v : run delta q (u ++ v) = run delta (run delta q u) v.
Proof. exact: foldl_cat. Qed.

Definition st h i := has (fun m => i \in D (rn (take m h))) (iota 0 (size h).+1).
Lemma st_rcons h y i : st (rcons h y) i = st h i || (i \in D (delta (rn h) y)).
Proof.
rewrite /st size_rcons -[(size h).+2]addn1 iotaD has_cat; congr (_ || _).
  apply: eq_in_has => m; rewrite mem_iota add0n ltnS => /= ml.
  by rewrite -cats1 takel_cat.
by rewrite has_seq1 add0n -(size_rcons h y) take_size /run foldl_rcons.
Qed.
Lemma xrun h : run xdelta x0 h = (rn h, [set i | st h i]).
Proof.
elim/last_ind: h => [|h y IH]; first by congr pair; apply/setP => i; rewrite inE /st /= orbF.
rewrite /run foldl_rcons -/(run _ _ _) IH /xdelta foldl_rcons; congr pair; apply/setP => i.
by rewrite !inE st_rcons.
Qed.
Lemma xlegal x h : automata.legal xdelta xok x h = legal x.1 h.
Proof. by elim: h x => [|y h IH] x //=; rewrite IH. Qed.

Lemma canreachP q i : reflect (exists2 u, legal q u & i \in D (run delta q u)) (canreach q i).
Proof.
apply: (iffP existsP) => [[q' /andP[/connectP[s ps ->] iD]]|[u lu iu]].
  by have [u [_ lu ru]] := path_word ps; exists u => //; rewrite ru.
by exists (run delta q u); rewrite (word_path lu).
Qed.

Lemma act_xact T i (y : T.-tuple V) l : act (DevA i) l y ->
  legal q0 (pre l y) && xact (run xdelta x0 (pre l y)) i.
Proof.
case/and3P => lT /existsP[z /andP[/eqP e /hasP[k]]]; rewrite mem_iota => /andP[lk _] /andP[lz iz].
have ez : pre k z = pre l y ++ drop l (pre k z) by rewrite -e (pre_pre _ lk) cat_take_drop.
move: lz iz; rewrite ez legal_cat run_cat => /andP[ly lu] iu /hasP[m]; rewrite mem_iota ltnS /= => ml /andP[_ im].
rewrite ly xrun /xact /= inE; apply/andP; split; last by apply/canreachP; exists (drop l (pre k z)).
apply/hasP; exists m; last by rewrite -(pre_pre _ ml).
by rewrite mem_iota /= add0n ltnS /pre size_takel ?size_tuple // ltnW.
Qed.

Definition pad T (h : seq V) : T.-tuple V := [tuple nth v0 h i | i < T].
Lemma pre_pad T h l : (l <= size h)%N -> (l <= T)%N -> pre l (pad T h) = take l h.
Proof.
move=> lh lT; apply: (@eq_from_nth _ v0); rewrite /pre !size_takel ?size_tuple // => i il.
rewrite !nth_take // -[i]/(val (Ordinal (leq_trans il lT))) -tnth_nth tnth_mktuple //.
Qed.

Lemma xact_act h i : legal q0 h -> xact (run xdelta x0 h) i ->
  exists n, forall T (y : T.-tuple V), (n < T)%N -> pre (size h) y = h -> act (DevA i) (size h) y.
Proof.
move=> lh; rewrite xrun /xact inE => /andP[/hasP[m]]; rewrite mem_iota /= add0n ltnS => mh im.
move/canreachP => [u lu iu]; exists (size (h ++ u)) => T y nT yh.
have hT : (size h < T)%N by apply: leq_ltn_trans nT; rewrite size_cat leq_addr.
apply/and3P; split => //; last first.
  apply/hasP; exists m; first by rewrite mem_iota ltnS.
  rewrite (pre_pre _ mh) yh /DevA im andbT.
  by move: lh; rewrite -{1}(cat_take_drop m h) legal_cat => /andP[].
apply/existsP; exists (pad T (h ++ u)); rewrite pre_pad ?(ltnW hT) //; last by rewrite size_cat leq_addr.
rewrite take_size_cat // yh eqxx; apply/hasP; exists (size (h ++ u)).
  by rewrite mem_iota subnKC ?(ltnW hT) // nT andbT size_cat leq_addr.
by rewrite pre_pad ?(ltnW nT) // take_size /DevA legal_cat lh lu run_cat.
Qed.

Theorem jf_int_all : (forall T, jf_int T DevA) <->
  (forall x, connect (edge xdelta xok) x0 x -> ~~ xbad x).
Proof.
split=> [jf x cx|nb T].
  apply/negP => /existsP[i /existsP[j /and3P[ij ai aj]]].
  have /connectP[s ps lsx] := cx; have [h [_ lh rh]] := path_word ps.
  rewrite xlegal /= in lh; rewrite lsx -rh in ai aj.
  have [n1 H1] := xact_act lh ai; have [n2 H2] := xact_act lh aj.
  pose T := (maxn (maxn n1 n2) (size h)).+1.
  have /jf_intP/(_ i j (pad T h) (size h)) := jf T.
  have ph : pre (size h) (pad T h) = h by rewrite pre_pad ?take_size // leqW // leq_maxr.
  rewrite H1 ?H2 ?ph //; first by move/(_ isT isT)/eqP; rewrite (negPf ij).
    by rewrite ltnS !leq_max leqnn orbT.
  by rewrite ltnS !leq_max leqnn.
apply/jf_intP => i j y l /act_xact/andP[ly ai] /act_xact/andP[_ aj].
apply/eqP; apply: contraT => ij; have := nb (run xdelta x0 (pre l y)).
rewrite word_path ?xlegal // => /(_ isT)/negP[]; apply/existsP; exists i; apply/existsP; exists j.
by rewrite ij ai aj.
Qed.
End Ext.
