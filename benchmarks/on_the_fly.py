"""Function models whose tables would not fit: 10^9 and 10^10 sequences, and the same work by one process and by two.

The functions walk a finite-state model of 64 states, so that the answer is known: the finite-state engine computes the
probability of a conflict in time linear in the length.
"""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks import apart, automata, ours
from benchmarks.floor import cores
from benchmarks.measuring import ENVIRONMENT, timed
from factorcomp import Question

STATES, CHANGED = 64, 0.25
SIZES = ((8, 10), (8, 11))
TOLERANCE = 1e-5
"""Functions may answer in float32."""


def measure(vocab: int, length: int, limit: float) -> dict[str, Any]:
    """One survey of all sequences, compilation included, in a process of its own."""
    arguments = {"vocab": vocab, "length": length, "runs": 1}
    return {"vocab": vocab, "length": length, "sequences": vocab**length} | _tried(arguments, limit)


def by_processes(vocab: int, length: int, limit: float) -> list[dict[str, Any]]:
    """The same survey by one process on one core, and by two, each on one of its own: the best of three runs each."""
    rows = []
    for count in (1, 2):
        common = {"vocab": vocab, "length": length, "runs": 4, "processes": count, "port": _free_port()}
        with ThreadPoolExecutor(count) as threads:
            ranks = [{**common, "rank": rank} for rank in range(count)]
            found = list(threads.map(lambda arguments: _tried(arguments, limit), ranks))
        rows.append({"vocab": vocab, "length": length, "processes": count} | _slowest(found))
    return rows


def _tried(arguments: dict[str, Any], limit: float) -> dict[str, Any]:
    try:
        return apart.call("benchmarks.on_the_fly:in_this_process", arguments, environment=ENVIRONMENT, limit=limit)
    except apart.ApartError as error:
        return {"why": str(error), "asked": error.kind != TooFewCoresError.__name__}


def _slowest(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Of several processes that did one work together."""
    failed = [one for one in found if "why" in one]
    return failed[0] if failed else max(found, key=lambda one: one["seconds"])


class TooFewCoresError(RuntimeError):
    """Two processes on one core are not faster than one."""


def in_this_process(
    vocab: int, length: int, runs: int, rank: int = 0, processes: int = 0, port: int = 0
) -> dict[str, Any]:
    """The best run, and its answer, which must be the finite-state engine's.

    **Arguments:** `processes`: how many share the work, each on one core; 0: this one alone, on all cores.
    """
    if processes:
        _take_one_core(rank, processes)
    if processes > 1:
        import jax

        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{port}", processes, rank)
    background, experts = automata.shared(STATES, vocab, CHANGED)
    functions = {name: automata.as_function(expert) for name, expert in experts.items()}
    question = Question(length)
    seconds, answers = [], []
    for _ in range(runs):
        took, answer = timed(lambda: ours.on_the_fly(automata.as_function(background), functions, question))
        seconds.append(took)
        answers.append(answer["conflict"])
    expected = ours.conflict_at_length(background, experts, question)
    if not all(abs(answer - expected) <= TOLERANCE for answer in answers):
        raise ArithmeticError(f"the probability of a conflict is {answers}, of the finite-state models {expected}")
    return {"seconds": min(seconds), "first_s": seconds[0], "conflict": answers[0]}


def _take_one_core(rank: int, processes: int) -> None:
    if cores() < processes:
        raise TooFewCoresError(f"{processes} processes need a core each; there are {cores()}")
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
