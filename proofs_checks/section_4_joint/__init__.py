"""Theory.md, section 4: joint factorizability and exactness."""
