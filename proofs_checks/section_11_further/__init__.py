"""Theory.md, section 11: further results."""
