"""Theory.md, section 3: skills, their intervals and stopping times."""
