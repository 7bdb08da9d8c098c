"""The composition operator: at one prefix, and as a model."""

from factorcomp.composition.story import compose as compose
