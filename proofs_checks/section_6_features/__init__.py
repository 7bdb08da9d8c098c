"""Theory.md, section 6: feature space."""
