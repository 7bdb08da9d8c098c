"""Random feature maps by construction, as the files that describe them: of all kinds, causal and not."""

import json
import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path

FORMAT = "factorcomp-features/1"
KINDS = ("table", "grid", "rank", "position_wise", "prefix_dependent", "transducer")


def random_features(draw: random.Random, vocabulary: Sequence[str], length: int, names: Sequence[str]) -> dict:
    """A features file for the sequences of `length` tokens, with masks for some of the experts `names`.

    `table`: any bijection of `V^T`; `grid`: onto tuples of another shape; `rank`: into more tuples than there are
    sequences. The vocabulary stands in any order.
    """
    tokens = list(vocabulary)
    draw.shuffle(tokens)
    kind = draw.choice(KINDS)
    if kind == "transducer":
        file = transducer(draw, tokens)
    elif kind == "position_wise":
        file = {"positions": [relabelling(draw, tokens) for _ in range(length)], "features": tokens}
    elif kind == "prefix_dependent":
        steps = [[draw.sample(tokens, len(tokens)) for _ in range(len(tokens) ** t)] for t in range(length)]
        file = {"steps": steps, "features": tokens}
    else:
        file = {"length": length, **table(draw, tokens, length, kind)}
        kind = "table"
    width = len(file["table"][0]) if kind == "table" else length
    owners = [draw.choice([None, *names]) for _ in range(width)]
    masks = {name: [c for c, owner in enumerate(owners) if owner == name] for name in names if draw.random() < 0.9}
    features = list(file.pop("features"))
    return {"format": FORMAT, "kind": kind, "vocabulary": tokens, "features": features, "masks": masks, **file}


def relabelling(draw: random.Random, tokens: Sequence[str]) -> dict[str, str]:
    return dict(zip(tokens, draw.sample(tokens, len(tokens)), strict=True))


def table(draw: random.Random, tokens: Sequence[str], length: int, kind: str) -> dict:
    count = len(tokens) ** length
    if kind == "grid":
        sides = [side for side in range(1, count + 1) if count % side == 0]
        rows = draw.choice(sides)
        names = [str(number) for number in range(max(rows, count // rows))]
        tuples = [[names[r], names[c]] for r in range(rows) for c in range(count // rows)]
        features = names
    elif kind == "rank":
        features = [*tokens, "more"]
        tuples = [list(row) for row in product(features, repeat=length)] if length else [[]]
    else:
        features, tuples = tokens, [list(row) for row in product(tokens, repeat=length)]
    draw.shuffle(tuples)
    return {"table": tuples[:count], "features": features}


def transducer(draw: random.Random, tokens: Sequence[str]) -> dict:
    states = [f"q{number}" for number in range(draw.randint(1, 3))]
    said = {
        state: {"output": relabelling(draw, tokens), "next": {token: draw.choice(states) for token in tokens}}
        for state in states
    }
    return {"initial": states[0], "states": said, "features": tokens}


def written(file: dict, folder: Path, name: str = "features.json") -> Path:
    """The file, in a folder."""
    path = folder / name
    path.write_text(json.dumps(file), encoding="utf-8")
    return path
