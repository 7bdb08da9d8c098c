(* theory.md 7, finite-state models, and Theorem 7.3: JF-pt at every length. *)
From mathcomp Require Import all_ssreflect all_algebra.
From factorcomp Require Import setting composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.

(* ---- automata: a state that words reach, they reach by a word shorter than the number of reachable states ---- *)
Section DFA.
Variables (Q V : finType) (delta : Q -> V -> Q) (ok : Q -> V -> bool) (q0 : Q).
(* ok q y: the edge is there *)
Definition run := foldl delta.
Fixpoint legal q w := if w is y :: w' then ok q y && legal (delta q y) w' else true.
Definition edge : rel Q := fun q q' => [exists y, ok q y && (delta q y == q')].

Lemma path_word q s : path edge q s ->
  exists w, [/\ size w = size s, legal q w & run q w = last q s].
Proof.
elim: s q => [|q' s IH] q /=; first by exists [::].
case/andP => /existsP[y /andP[oky /eqP dy]] /IH [w [sw lw rw]].
by exists (y :: w); split; rewrite /= ?sw ?oky ?dy.
Qed.

Lemma word_path q w : legal q w -> connect edge q (run q w).
Proof.
elim: w q => [|y w IH] q /=; first by rewrite connect0.
case/andP => oky /IH; apply: connect_trans; apply: connect1.
by apply/existsP; exists y; rewrite oky eqxx.
Qed.

Lemma legal_cat q u v : legal q (u ++ v) = legal q u && legal (run q u) v.
Proof. by elim: u q => [|y u IH] q //=; rewrite IH andbA. Qed.
Lemma run_cat q u v : run q (u ++ v) = run (run q u) v.
Proof. exact: foldl_cat. Qed.
Lemma run_rcons q u y : run q (rcons u y) = delta (run q u) y.
Proof. exact: foldl_rcons. Qed.
Lemma connect_word q q' : connect edge q q' -> exists2 w, legal q w & run q w = q'.
Proof. by case/connectP=> s /path_word[w [_ lw rw]] ->; exists w. Qed.

Definition reachable q := [set q' | connect edge q q'].

Theorem small_model (bad : pred Q) :
  (exists2 w, legal q0 w & bad (run q0 w)) ->
  exists w, [/\ legal q0 w, bad (run q0 w) & (size w < #|reachable q0|)%N].
Proof.
case=> w lw bw; have /connectP[s ps ls] := word_path lw.
rewrite ls in bw; case/shortenP: ps bw => s' ps' us' _ bw.
have [w' [sw' lw' rw']] := path_word ps'.
exists w'; split; rewrite ?rw' // /reachable sw' -[_.+1]/(size (q0 :: s')) -(card_uniqP us').
apply/subset_leq_card/subsetP => q; rewrite inE => /(path_connect ps') //.
Qed.
End DFA.

Lemma weight_ext (R : realFieldType) (V I : finType) c (b : dist R V) (p q : I -> dist R V) y :
  (forall i, p i = q i) -> weight c b p y = weight c b q y.
Proof.
move=> e; have d : wdrop b p y = wdrop b q y by congr (_ * _)%R; apply: eq_bigr => i _; rewrite e.
have o : [set i | p i y != 0%R] = [set i | q i y != 0%R] by apply/setP => i; rewrite !inE e.
by case: c => //=; rewrite /wcancel d o (eq_bigr (fun i => q i y)) // => i _; rewrite e.
Qed.

(* ---- finite-state models and their product ---- *)
Section Product.
Local Open Scope ring_scope.
Variables (R : realFieldType) (V I : finType).
(* "Model j = DFA (Q_j, delta_j) with kernel per state" *)
Variables (Qb : finType) (delta_b : Qb -> V -> Qb) (start_b : Qb) (row_b : Qb -> dist R V).
Variables (Qe : I -> finType) (delta_e : forall i, Qe i -> V -> Qe i) (start_e : forall i, Qe i).
Variable row_e : forall i, Qe i -> dist R V.
Hypotheses (db : forall q, is_dist (row_b q)) (de : forall i (q : Qe i), is_dist (row_e q)).

(* p(.|h) = the kernel of the state that h leads to *)
Definition model_b : kernel R V := fun h => row_b (run delta_b start_b h).
Definition model_e i : kernel R V := fun h => row_e (run (@delta_e i) (start_e i) h).

(* "Product automaton over (b, 1..k)" *)
Definition state := (Qb * {dffun forall i, Qe i})%type.
Definition delta (q : state) y : state := (delta_b q.1 y, [ffun i => delta_e (q.2 i) y]).
Definition start : state := (start_b, [ffun i => start_e i]).
Definition row (q : state) i := row_e (q.2 i).
(* "D_i = states where kernel i <> kernel b" *)
Definition D i : pred state := fun q => row q i != row_b q.1.

Lemma run_product h : run delta start h =
  (run delta_b start_b h, [ffun i => run (@delta_e i) (start_e i) h]).
Proof.
elim/last_ind: h => [|h y IH]; first by congr pair; apply/ffunP => i; rewrite !ffunE.
by rewrite run_rcons IH /delta run_rcons; congr pair; apply/ffunP => i; rewrite !ffunE run_rcons.
Qed.
Lemma row_bE h : row_b (run delta start h).1 = model_b h. Proof. by rewrite run_product. Qed.
Lemma rowE h i : row (run delta start h) i = model_e i h. Proof. by rewrite /row run_product ffunE. Qed.
Lemma D_dev i h : D i (run delta start h) = dev model_b model_e i h.
Proof. by rewrite /D /dev row_bE rowE. Qed.

Lemma model_b_model : is_model model_b. Proof. by move=> h; apply: db. Qed.
Lemma model_e_model i : is_model (model_e i). Proof. by move=> h; apply: de. Qed.

(* ---- Theorem 7.3, for any edges: along supp w (scope R^), along every token (scope all) ---- *)
Section Scope.
Variable ok : state -> V -> bool.
Definition scope T : pred (seq V) := [pred h | (size h < T)%N && legal delta ok start h].
Local Notation R_ := (reachable delta ok start).
Definition two_deviate (q : state) := [exists i, [exists j, [&& i != j, D i q & D j q]]].

Lemma two_deviateP h : reflect (exists i j, [/\ i != j, dev model_b model_e i h & dev model_b model_e j h])
  (two_deviate (run delta start h)).
Proof.
apply: (iffP existsP) => [[i /existsP[j /and3P[ij]]]|[i [j [ij di dj]]]].
  by rewrite !D_dev; exists i, j.
by exists i; apply/existsP; exists j; rewrite ij !D_dev di.
Qed.

Lemma violated T : ~ jf_pt model_b model_e (scope T) <-> exists2 h, scope T h & two_deviate (run delta start h).
Proof.
split=> [nj|[h Sh /two_deviateP[i [j [ij di dj]]]] jf]; last by rewrite (jf h Sh i j di dj) eqxx in ij.
have [/existsP[t /andP[St bt]]|none] := boolP [exists t : T.-bseq V, scope T t && two_deviate (run delta start t)].
  by exists t.
case: nj => h Sh i j di dj; apply/eqP; apply: contraT => ij; case/negP: none; apply/existsP.
have hT : (size h <= T)%N by case/andP: Sh => /ltnW.
by exists (Bseq hT); rewrite Sh /=; apply/two_deviateP; exists i, j.
Qed.

(* 7.3: "JF-pt holds for every T iff no reachable state lies in two D_i" *)
Theorem theorem_7_3 : (forall T, jf_pt model_b model_e (scope T)) <->
  (forall q, q \in R_ -> forall i j, D i q -> D j q -> i = j).
Proof.
split=> [jf q|one T h /andP[_ lh] i j di dj]; last first.
  by apply: (one (run delta start h)); rewrite ?D_dev // inE word_path.
rewrite inE => /connect_word[h lh <-] i j; rewrite !D_dev; apply: (jf (size h).+1 h).
by apply/andP; split.
Qed.

(* 7.3: "A violation has a witness prefix of length < |R|" *)
Theorem theorem_7_3_witness T : ~ jf_pt model_b model_e (scope T) ->
  exists h, [/\ legal delta ok start h, (size h < #|R_|)%N &
    exists i j, [/\ i != j, dev model_b model_e i h & dev model_b model_e j h]].
Proof.
case/violated => h /andP[_ lh] bh.
have [|w [lw bw sw]] := @small_model _ V delta ok start two_deviate; first by exists h.
by exists w; split=> //; apply/two_deviateP.
Qed.

(* 7.3: "so checking T = |R| decides all T" *)
Theorem theorem_7_3_horizon : jf_pt model_b model_e (scope #|R_|) -> forall T, jf_pt model_b model_e (scope T).
Proof.
move=> jf T h Sh i j di dj; apply/eqP; apply: contraT => ij.
have [|g [lg sg [i' [j' [ij' di' dj']]]]] := @theorem_7_3_witness T.
  by apply/violated; exists h => //; apply/two_deviateP; exists i, j.
have Sg : scope #|R_| g by apply/andP.
by rewrite (jf g Sg i' j' di' dj') eqxx in ij'.
Qed.
End Scope.

(* "edges along supp w": the words of the product are the prefixes of R^.  In a state with an error cell the other tokens keep
   their edges (composition.v), so that |R| can be larger than where such a state has no successors; whether JF-pt holds is the
   same, as two experts deviate there *)
Variable c : convention.
Local Notation w := (@weight R V I c).
Definition supp_w (q : state) y := w (row_b q.1) (row q) y != 0.

Lemma legal_reach h : legal delta supp_w start h = reach (comp w model_b model_e) h.
Proof.
have w0 g y : 0 <= wk w model_b model_e g y by apply: wk_ge0; [apply: model_b_model|apply: model_e_model].
elim/last_ind: h => [|h y IH]; first by rewrite reach0.
rewrite reach_rcons comp_neq0 // -IH -cats1 legal_cat /= andbT; congr (_ && (_ != 0)).
by rewrite /wk row_bE; apply: weight_ext => i; apply: rowE.
Qed.

Lemma scope_Rhat T : scope supp_w T =1 Rhat w T model_b model_e.
Proof. by move=> h; rewrite /scope /Rhat /= legal_reach. Qed.
End Product.
