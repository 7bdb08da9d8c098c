"""Theory.md, section 13: open points. 13.2 compares definitions with a text, which no instance can test."""
