"""Theory.md, section 2: factorized conditionals and masks."""
