"""Theory.md, section 13: open points.

13.1 asks for a theorem: only conjectures are searched. 13.2 asks to compare with a text: no instance can test it.
"""
