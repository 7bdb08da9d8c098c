"""Which statements are proved formally, by which theorems of proofs_checks/coq, and why the others are not.

`PROVED` maps the number of a statement to its theorems, and to what these say differently, if anything. `INFORMAL` maps
the others to the reason.
"""

from typing import NamedTuple


class Proof(NamedTuple):
    """The theorems that are a statement, and how they differ from it: `""` where they say the same."""

    theorems: tuple[str, ...]
    differs: str = ""


ANALYSIS = "needs logarithms, square roots or limits, which the proofs over any ordered field do without"
FLOATS = "about floating point or logits of it"
COUNTED = "a count: enumerated in Python"
SMALLEST = "that nothing is smaller: enumerated in Python"
STATISTICS = "about samples: needs real analysis (Beta and exponential functions)"
NUMERICAL = "a rounded number"
UNDONE = "could be proved; not done"
LIBRARY = "about what the library says"
OPEN = "open"

PROVED: dict[str, Proof] = {
    "1.1": Proof(("definition_1_1_law", "definition_1_1_missing_mass")),
    "1.2": Proof(("counterexample_1_2", "W_gW"), "the path product is the rule for sequences under AC, or drop"),
    "1.2 conventions": Proof(("counterexample_1_2",)),
    "1.3": Proof(("cell_weight", "definition_1_3_single")),
    "1.3 limit": Proof(("cancel_limit",), "an equation for every ε; not the error cells"),
    "1.3 one expert": Proof(("definition_1_3_single",)),
    "1.3 shifts": Proof(("definition_1_3_shift",), "that strict and drop do not notice; not that cancel does"),
    "1.3 sole opener": Proof(("wcancel_sole",), "cancel alone: counterexample_4_4_2 for drop"),
    "1.4": Proof(("lemma_1_4_kernel", "lemma_1_4_reach")),
    "1.4 dead prefix": Proof(("counterexample_1_4_dead", "counterexample_1_4_dead_one_expert")),
    "1.4 under cancel": Proof(("counterexample_1_4_inclusions", "counterexample_1_4_certificate")),
    "1.5 (1)": Proof(("theorem_1_5_1", "theorem_1_5_1_mean"), "e^S is the path product of Z"),
    "1.5 (2)": Proof(
        ("theorem_1_5_2", "theorem_1_5_2_sufficient", "theorem_1_5_2_truncations"), "e^S is the path product of Z"
    ),
    "1.5 (3)": Proof(("theorem_1_5_3", "theorem_1_5_3_leaf", "theorem_1_5_3_step", "theorem_1_5_3_equality")),
    "1.5 (4)": Proof(("theorem_1_5_4_tv", "theorem_1_5_4_kl"), "the bound on TV; of KL the identities without osc²/8"),
    "1.5 (5)": Proof(("theorem_1_5_5_one_step", "theorem_1_5_5_one_expert")),
    "1.5 under cancel": Proof(("theorem_1_5_1", "theorem_1_5_2", "theorem_1_5_3"), "(4) as above"),
    "1.6": Proof(("counterexample_1_6",)),
    "1.7": Proof(("counterexample_1_7",)),
    "1.8": Proof(("lemma_1_8",)),
    "1.8 one deviator": Proof(("lemma_1_8_one_deviator", "counterexample_1_8_drop")),
    "1.8 three tokens": Proof(("counterexample_1_8",)),
    "1.8 two experts": Proof(("lemma_1_8_covariance", "lemma_1_8_chi2"), "the bound is squared"),
    "1.8 two tokens": Proof(("lemma_1_8_two_tokens",)),
    "1.9 (a)": Proof(("proposition_1_9a",), "for powers with an exponential as a parameter, and any tilt"),
    "1.9 (a) sequences": Proof(("counterexample_1_9_a",)),
    "1.9 (a) sole deviator": Proof(("proposition_1_9a_sole",), "with an exponential as a parameter"),
    "1.9 (b)": Proof(("proposition_1_9b_invariant", "proposition_1_9b_exact", "proposition_1_9b_idempotent")),
    "1.9 (c)": Proof(("proposition_1_9c",), "for every multiplicative tilt"),
    "1.9 (c) cancel": Proof(("counterexample_1_9_c",)),
    "2.2": Proof(("theorem_2_2",)),
    "2.3": Proof(("theorem_2_3",)),
    "2.3 reach of the composition": Proof(("counterexample_2_3",)),
    "2.3b": Proof(("lemma_2_3b",)),
    "2.4": Proof(("theorem_2_4",)),
    "2.5a": Proof(("counterexample_2_5a",)),
    "2.5b": Proof(("counterexample_2_5b",)),
    "2.5c": Proof(("counterexample_2_5c",)),
    "2.6b": Proof(("theorem_2_6b",)),
    "2.7": Proof(("corollary_2_7", "corollary_2_7_background", "corollary_2_7_independence")),
    "2.7 own histories": Proof(("corollary_2_7_own",)),
    "2.7 reach of the composition": Proof(("counterexample_2_7",)),
    "2.8": Proof(("counterexample_2_8",)),
    "2.9": Proof(
        (
            "theorem_2_9_local",
            "theorem_2_9_global",
            "theorem_2_9_automatic",
            "theorem_2_9_density",
            "theorem_2_9_density_iff",
        )
    ),
    "2.11": Proof(
        (
            "theorem_2_11",
            "theorem_2_11_marginals",
            "theorem_2_11_weight",
            "theorem_2_11_global",
            "theorem_2_11_inherited",
            "bendE",
        ),
        "the factors are e^g; tanh(o/4) is (c-1)/(c+1), c = e^(o/2)",
    ),
    "3.1": Proof(("theorem_3_4_certifies",), "the definition is `certifies`"),
    "3.1 time convention": Proof(("stopping_leq", "definition_3_3_act")),
    "3.2": Proof(("remark_3_2",)),
    "3.3": Proof(("definition_3_3_act",)),
    "3.4": Proof(
        (
            "theorem_3_4_stopping",
            "theorem_3_4_certifies",
            "theorem_3_4_minimal",
            "theorem_3_4_intersection",
            "theorem_3_4_unique",
        )
    ),
    "3.5": Proof(("counterexample_3_5",)),
    "3.6": Proof(("definition_3_6_one_run", "definition_3_6_exit")),
    "3.6 runs": Proof(
        ("definition_3_6_stopping", "definition_3_6_runs", "definition_3_6_smallest", "definition_3_6_reentrant")
    ),
    "3.7": Proof(("act_monotone", "jf_int_scope")),
    "3.7 out of reach": Proof(("counterexample_3_7",)),
    "4.1": Proof(("jf_pointP",), "the definitions are `jf_pt` and `jf_int`"),
    "4.2": Proof(("theorem_4_2_active", "theorem_4_2_pointwise", "theorem_4_2_gap_free", "theorem_4_2_not_conversely")),
    "4.3": Proof(("counterexample_4_3", "counterexample_4_3_models", "theorem_4_4_2_cancel")),
    "4.3 smallest": Proof(("counterexample_4_3_smallest",)),
    "4.4 (1)": Proof(("theorem_4_4_1", "theorem_4_4_1_automatic", "theorem_4_4_1_background")),
    "4.4 (1) looser": Proof(("counterexample_4_4_1",)),
    "4.4 (2)": Proof(("theorem_4_4_2_cancel", "theorem_4_4_2_strict", "theorem_4_4_2_drop")),
    "4.4 (2) looser": Proof(("counterexample_4_4_2",)),
    "4.4 (3')": Proof(("theorem_4_4_3_background",)),
    "4.4 (3') background": Proof(("counterexample_4_4_3_background",)),
    "4.4 (3)": Proof(("theorem_4_4_3",)),
    "4.4 (4)": Proof(("theorem_4_4_2_cancel", "counterexample_4_3_models"), "an instance: interleaving, and exact"),
    "4.4 (5)": Proof(("theorem_4_4_5",)),
    "4.4 not necessary": Proof(("counterexample_4_4_i", "counterexample_4_4_ii", "counterexample_4_4_iii")),
    "4.4 not necessary (i)": Proof(("counterexample_4_4_i",), "one instance"),
    "4.4 switching model": Proof(("theorem_4_4_2_cancel",), "the definition is `switch`"),
    "4.5": Proof(("theorem_4_5", "theorem_4_5_event", "theorem_4_5_quotient")),
    "4.5 canonical": Proof(("theorem_4_5_jf_int",)),
    "4.6": Proof(("counterexample_4_6",)),
    "4.6 inclusions FC": Proof(
        ("inclusion_FC_MA_composed", "inclusion_FC_JF_pt", "inclusion_FC_MA", "inclusion_FC_kernels")
    ),
    "4.6 inclusions JF": Proof(("inclusion_JF_int_JF_pt",)),
    "4.6 inclusions MA": Proof(("inclusion_MA_JF_pt",)),
    "4.6 inclusions contiguous": Proof(("inclusion_MA_JF_int",)),
    "4.6 inclusions incomparable": Proof(("inclusion_MA_not_JF_int", "inclusion_JF_int_not_MA"), "on all prefixes"),
    "4.7": Proof(
        ("remark_4_7", "remark_4_7_FC", "remark_4_7_exact", "remark_4_7_success"), "for every prompt and 1 - 3e > 0"
    ),
    "5.1": Proof(("theorem_5_1_composed", "theorem_5_1_expert")),
    "5.1 (1)": Proof(("theorem_5_1_1",)),
    "5.1 (1) no drift": Proof(("theorem_5_1_1_no_drift",)),
    "5.1 (2)": Proof(("theorem_5_1_2",)),
    "5.1 (3)": Proof(("theorem_5_1_3",)),
    "5.1 (3) near": Proof(("theorem_5_1_3_near",)),
    "5.1 (4)": Proof(("theorem_5_1_4",)),
    "5.1 (5)": Proof(("theorem_5_1_5",)),
    "5.3": Proof(("counterexample_5_3",)),
    "5.4": Proof(("counterexample_5_4",)),
    "5.5": Proof(("counterexample_5_5",)),
    "6.1": Proof(("theorem_6_1", "theorem_6_1_injective")),
    "6.1 FC": Proof(("theorem_6_1_FC",)),
    "6.1 image": Proof(("theorem_6_1_image",)),
    "6.2 (<=)": Proof(("theorem_6_2_if",), "for full support, as in theory.md"),
    "6.2 (=>)": Proof(("theorem_6_2",)),
    "6.3": Proof(("counterexample_6_3",)),
    "6.4": Proof(("theorem_6_4",)),
    "6.4'": Proof(
        (
            "theorem_6_4_prime_iv_i",
            "theorem_6_4_prime_ii_iii",
            "theorem_6_4_prime_iii_iff_iv",
            "theorem_6_4_prime_iv_iii",
            "theorem_6_4_prime_iii_iv",
            "theorem_6_4_prime_iii_ii",
        ),
        "(ii), (iii) and (iv) are equivalent, and (iv) gives (i); not that (i) gives (ii)",
    ),
    "6.5": Proof(("counterexample_6_5",), "one product and one pair of experts"),
    "6.5 overlap": Proof(("counterexample_6_5",), "one product and one pair of experts"),
    "7.1": Proof(("theorem_7_1",), "with the total variation itself as the budget; from the conclusion of 5.1 (2)"),
    "7.1 exact": Proof(("theorem_7_1_exact",), "nothing is subtracted; from the conclusion of 5.1 (2)"),
    "7.3": Proof(("theorem_7_3", "theorem_7_3_witness", "theorem_7_3_horizon")),
    "7.3 product": Proof(("legal_reach", "scope_Rhat"), "DFAs are total; a faulty state keeps its other edges"),
    "7.4": Proof(
        (
            "theorem_7_4",
            "theorem_7_4_scope",
            "theorem_7_4_models",
            "theorem_7_4_monotone",
            "theorem_7_4_models_monotone",
            "theorem_7_4_horizon",
            "theorem_7_4_models_horizon",
        )
    ),
    "7.5": Proof(("theorem_7_5", "theorem_7_5_support", "theorem_7_5_decided")),
    "8.1": Proof(
        ("lemma_8_1_tv", "lemma_8_1_log_ratio", "lemma_8_1_mean", "lemma_8_1_jensen", "lemma_8_1_jensen_reverse"),
        "tanh(o/4) is (c-1)/(c+1), c = e^(o/2); of KL the identities without o²/8",
    ),
    "8.1 (attained)": Proof(("lemma_8_1_attained",)),
    "8.2 (1)": Proof(("theorem_8_2_1", "counterexample_8_2"), "the chain rule, with an exponential as a parameter"),
    "8.2 (2)": Proof(("theorem_8_2_2",)),
    "8.2 (3)": Proof(("theorem_8_2_3",)),
    "8.2 (4)": Proof(
        (
            "theorem_8_2_4",
            "theorem_8_2_oscillation",
            "theorem_8_2_4_prefix",
            "theorem_8_2_4_background",
            "theorem_8_2_4_inside",
        ),
        "the term linear in T",
    ),
    "8.2 (5)": Proof(("theorem_8_2_5",), "that no event is; not that one is. No dead prefix"),
    "8.3": Proof(("counterexample_8_3",), "for every η; without the sentence on KL"),
    "8.4": Proof(("lemma_8_4",), "the part on TV"),
    "8 (composite)": Proof(
        ("composite_certificate", "theorem_5_1_3_near"),
        "the last bound, for skills that are always entered; and 5.1 (3)",
    ),
    "8 (direct TV)": Proof(("direct_certificate", "direct_certificate_composed", "direct_certificate_range")),
    "8 (prefix sampling)": Proof(("prefix_sampling",)),
    "9.1": Proof(("theorem_9_1",), "with an exponential as a parameter"),
    "9.1 (converse)": Proof(("theorem_9_1_converse",), "with an exponential as a parameter"),
    "9.2 (bilinear)": Proof(("counterexample_9_2_bilinear",)),
    "9.2 (linear probabilities)": Proof(("counterexample_9_2_probabilities",)),
    "10.1": Proof(("theorem_10_1", "theorem_10_1_logit"), "the logits with an exponential as a parameter"),
    "10.1 (boundary)": Proof(
        ("theorem_10_1_no_content", "theorem_10_1_never_stops", "theorem_10_1_dead", "theorem_10_1_stops")
    ),
    "10.1 (joint)": Proof(("theorem_10_1_one_deviator", "theorem_4_4_2_cancel"), "at a prefix; for the law by 4.4 (2)"),
    "10.1 (new tokens)": Proof(("counterexample_10_1",), "2/7 under cancel, 2/5 under drop"),
    "10.1 M1": Proof(("theorem_10_M1",), "the odds, not the mean length"),
    "10.1 M2 (numbers)": Proof(("counterexample_10_1_conflict",)),
    "10.1 M4": Proof(("counterexample_10_1_never",), "an instance: hazards 1/2"),
    "10.2": Proof(("counterexample_10_2", "counterexample_10_2_horizon")),
    "10 (repair)": Proof(("repair_exact",)),
    "11.1": Proof(
        (
            "theorem_11_1",
            "theorem_11_1_weight",
            "theorem_11_1_immune",
            "theorem_11_1_oscillation",
            "theorem_11_1_off",
            "theorem_11_1_remedy",
        ),
        "p_i << p_b too",
    ),
    "11.2": Proof(("theorem_11_2_shared", "theorem_11_2_median")),
    "11.2 (median)": Proof(("theorem_11_2_median",)),
    "11.2 (two experts)": Proof(("theorem_11_2_two",)),
    "11.3": Proof(("counterexample_11_3_weight", "counterexample_11_3_off")),
    "11.3 (numbers)": Proof(("counterexample_11_3",)),
    "11.3 (shape)": Proof(("counterexample_11_3_saturates", "counterexample_11_3_maximum")),
    "11.4": Proof(("proposition_11_4", "proposition_11_4_kernel"), "with an exponential as a parameter"),
    "11.4 (all prefixes)": Proof(("proposition_11_4_affine",), "at one prefix and for one component"),
    "11.4 (independent)": Proof(("proposition_11_4_independent",), "λ_a is free for an a that does not deviate"),
    "11.4 (positive weights)": Proof(("proposition_11_4_two",), "where all deviators are independent, two or more"),
}

INFORMAL: dict[str, str] = {
    "1.3 logits": FLOATS,
    "1.4 smallest": SMALLEST,
    "1.5 (4) attained": ANALYSIS,
    "1.9 (c) sequences": UNDONE,
    "1.9 (d)": UNDONE,
    "1.9 (d) subtracted penalty": UNDONE,
    "2.1": "a definition: `FC`",
    "2.4 one tilt": UNDONE,
    "2.4'": "in part: where Z = 1 for every composition of tilts (local_converse_Z1); the induction on T is not done",
    "2.6a": "a definition: `MA`",
    "2.8 smallest": SMALLEST,
    "2.9 under cancel": UNDONE,
    "2.10": ANALYSIS,
    "2.10 attained": ANALYSIS,
    "3.4 count": COUNTED,
    "3.5 smallest": SMALLEST,
    "3.6 count": COUNTED,
    "3.6 gap mass": "a definition",
    "3.7 own reach": UNDONE,
    "4.2 count": COUNTED,
    "4.7 prompts": LIBRARY,
    "5.2": "a definition; that it is the least one could be proved",
    "6.2 counts": COUNTED,
    "6.4 special cases": UNDONE,
    "6.4' corollary": UNDONE,
    "6.4' counts": COUNTED,
    "6.5 check": UNDONE,
    "6.5 increments": UNDONE,
    "7.2": ANALYSIS,
    "7.2 number": NUMERICAL,
    "7.2 rate": ANALYSIS,
    "7.3 attained": UNDONE,
    "7.4 re-entrant": UNDONE,
    "7.6": "needs vector spaces of series: linear algebra over the rationals in Python",
    "7.6 series": "needs vector spaces of series: linear algebra over the rationals in Python",
    "8.1 (sharp)": ANALYSIS,
    "8.2 (1, oscillation)": ANALYSIS,
    "8.2 (3, attained)": UNDONE,
    "8.2 (4, attained)": ANALYSIS,
    "8.2 (4, numbers)": NUMERICAL,
    "8.2 (4, order)": ANALYSIS,
    "8 (anytime)": STATISTICS,
    "8 (anytime, means)": UNDONE,
    "8 (anytime, numbers)": NUMERICAL,
    "8 (anytime, peeking)": STATISTICS,
    "8 (bounded means)": STATISTICS,
    "8 (composite, confidence)": STATISTICS,
    "8 (diagnostics)": UNDONE,
    "8 (may claim)": STATISTICS,
    "8 (overlap)": STATISTICS,
    "8 (overlap, attained)": STATISTICS,
    "8 (overlap, numbers)": NUMERICAL,
    "8 (prefix sampling, attained)": UNDONE,
    "9.2 (bound)": ANALYSIS,
    "9.2 (factors)": UNDONE,
    "9.2 (formula)": ANALYSIS,
    "9.2 (kernels)": ANALYSIS,
    "9.2 (order)": ANALYSIS,
    "9.2 (separable)": ANALYSIS,
    "9 (remark)": UNDONE,
    "10.1 M1 (numbers)": NUMERICAL,
    "10.1 M2": UNDONE,
    "10.1 M3": UNDONE,
    "10.1 M4 (positive hazards)": ANALYSIS,
    "10 (diagnostics)": ANALYSIS,
    "10 (diagnostics, content)": ANALYSIS,
    "10 (repair, mean shift)": ANALYSIS,
    "10 (termination)": ANALYSIS,
    "10 (termination, floor)": ANALYSIS,
    "10 (termination, length)": ANALYSIS,
    "11.1 (numbers)": NUMERICAL,
    "11.5 (JF-int)": UNDONE,
    "11.5 (JF-pt)": UNDONE,
    "11.6 (common support)": UNDONE,
    "11.6 (reduction)": "about the cost of deciding",
    "11.7": UNDONE,
    "11.7 (attained)": UNDONE,
    "11 (interference, FC)": ANALYSIS,
    "11 (interference, Jensen)": ANALYSIS,
    "13.1": OPEN,
    "13.1 normalizer": OPEN,
    "13.1 projective": OPEN,
    "13.3": OPEN,
}


def proof_of(number: str) -> str:
    """The theorems of a statement, in a line: the first, and how many more; `"–"` where there is none.

    >>> proof_of("1.6"), proof_of("2.2"), proof_of("7.2")
    ('counterexample_1_6', 'theorem_2_2', '–')
    """
    if number not in PROVED:
        return "–"
    first, *others = PROVED[number].theorems
    return f"{first} +{len(others)}" if others else first


def formally(number: str) -> str:
    """All that is known of the formal proof of a statement, in a sentence."""
    if number not in PROVED:
        return f"not proved formally: {INFORMAL[number]}"
    theorems, differs = PROVED[number]
    return f"proved formally: {', '.join(theorems)}" + (f"; there: {differs}" if differs else "")
