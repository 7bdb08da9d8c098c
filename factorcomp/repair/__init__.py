"""The cheapest change that makes experts jointly factorizable. Source: theory.md 11.5."""

from factorcomp.repair.outcome import Repair as Repair
from factorcomp.repair.story import repair as repair
