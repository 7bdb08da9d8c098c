"""Theory.md, section 1: the composition operator."""
