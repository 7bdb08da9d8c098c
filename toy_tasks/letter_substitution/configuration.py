"""What is trained: the configuration of a run, and one for smoke tests."""

from dataclasses import dataclass, field, replace

from toy_tasks.letter_substitution.letters import EIGHT, Letters
from toy_tasks.networks import Architecture, Positions
from toy_tasks.training import Training


@dataclass(frozen=True)
class Configuration:
    """A run: the networks, their training, the experts, and on how many held-out prompts they are evaluated.

    `prompts` of the trained lengths, `long_prompts` of each length beyond.
    """

    shape: Architecture = field(default_factory=lambda: Architecture(len(Letters().vocabulary)))
    training: Training = field(default_factory=Training)
    names: tuple[str, ...] = EIGHT[:2]
    prompts: int = 2048
    long_prompts: int = 128
    lengths: tuple[int, ...] = (32, 64, 128)

    def at(self, positions: Positions) -> "Configuration":
        """The same with another architecture.

        >>> Configuration().at("window").shape.sees
        2
        """
        return replace(self, shape=replace(self.shape, positions=positions))


SMOKE = Configuration(
    shape=Architecture(len(Letters().vocabulary), width=16),
    training=Training(batch=16, steps=300, fine_steps=100, rate=1e-2, longest=4, noise=1e-3),
    prompts=64,
    long_prompts=16,
    lengths=(8,),
)
"""A few seconds; what it trains is not good."""
