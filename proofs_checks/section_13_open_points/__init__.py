"""Theory.md, section 13: open points."""
