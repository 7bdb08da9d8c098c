"""Theory.md, section 8: robust bounds and certificates."""
