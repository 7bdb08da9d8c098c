"""The theory, tested: a statement for every numbered sentence of theory.md (`python -m proofs_checks`)."""
