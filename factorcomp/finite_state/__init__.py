"""Finite-state models: every length, and lengths beyond enumeration. Source: theory.md, section 7."""
