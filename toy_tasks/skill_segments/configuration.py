"""What is trained and measured: the configuration of a run, of a full one, and one for smoke tests."""

from dataclasses import dataclass, field, replace

from toy_tasks.networks import Architecture
from toy_tasks.skill_segments.grammar import VARIANTS, Grammar, Variant
from toy_tasks.training import Training

PROMPTS: dict[Variant, tuple[str, ...]] = {
    "plain": tuple("(11)[02|"),
    "repeated": tuple("(11)[02|"),
    "nested": tuple("(11[02|"),
    "feeding": tuple("(1122)["),
}
"""Beginnings of texts after which the square segment's answer is due: what follows is verified on every prefix."""


@dataclass(frozen=True)
class Configuration:
    """A run.

    **Fields:** `variants`: those that networks are trained for; the ideal models are verified for all. `texts`: how
    many are drawn of each model, cut at `length`. `horizon`: of the exhaustive verification.
    """

    variants: tuple[Variant, ...] = ("plain",)
    width: int = 32
    heads: int = 4
    layers: int = 2
    training: Training = field(
        default_factory=lambda: Training(batch=64, steps=600, fine_steps=600, fine_rate=4e-3, longest=20, noise=0.0)
    )
    texts: int = 512
    length: int = 24
    horizon: int = 5

    def shape(self, grammar: Grammar) -> Architecture:
        """The networks of a grammar."""
        return Architecture(len(grammar.vocabulary), "rotary", self.width, self.heads, self.layers)


FULL = replace(Configuration(), variants=VARIANTS, texts=1024)
SMOKE = Configuration(
    width=8,
    heads=2,
    layers=1,
    training=Training(batch=8, steps=50, fine_steps=50, longest=8, noise=0.0),
    texts=16,
    length=8,
    horizon=3,
)
"""A few seconds; what it trains is not good."""
