"""Theory.md, section 7: length generalization."""
