"""Theory.md, section 10: more than two experts, and the end of a sequence."""
