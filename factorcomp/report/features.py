"""What is said of a feature map, on a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType

from factorcomp.report import pieces, words
from factorcomp.verdicts import FeatureMeasures

CONDITIONS = {
    "bijective": "one to one",
    "causal": "causal, both ways (6.2)",
    "factorized_conditionals": "factorized conditionals (2.1)",
    "informs_about_one": "tokens inform about one expert (6.4)",
    "independent_given_prefix": "experts independent given prefix (6.4')",
}
"""The conditions of theory.md, section 6, in words."""


def features(measures: FeatureMeasures) -> Iterator[RenderableType]:
    """The map, the conditions under which composing in tokens is right for it, and how wrong it is."""
    yield pieces.title("Features")
    tokens = words.path(measures.tokens, most=6)
    said = {"map": f"{measures.kind.replace('_', '-')} · {words.count('token', len(measures.tokens))}: {tokens}"}
    if measures.coordinates is not None:
        said["map"] += f" · {words.count('coordinate', measures.coordinates)}"
    if measures.masks:
        said["masks"] = " · ".join(
            f"{words.names([name])} {pieces.positions(mask)}" for name, mask in measures.masks.items()
        )
    yield pieces.indented(pieces.pairs(said))
    rows = {}
    for name, condition in measures.conditions.items():
        rows[CONDITIONS.get(name, name)] = f"{condition.verdict}: {words.printable(condition.why)}"
    if measures.path_oscillation is not None:
        rows["path oscillation of log Z, nats"] = words.number(measures.path_oscillation)
    for name, (local, whole) in (measures.gaps or {}).items():
        gaps = f"{words.number(local)} stepwise · {words.number(whole)} sequence-level"
        rows[f"TV on the features of {words.names([name])}"] = gaps
    yield pieces.indented(pieces.pairs(rows))
