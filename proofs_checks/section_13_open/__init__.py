"""Theory.md, section 13: open points.

13.1 asks for a theorem and 13.2 to compare with a text: no instance can test either.
"""
