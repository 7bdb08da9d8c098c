"""The definitions of theory.md, literally, in fractions: slow, and independent of the library.

Words: a *prefix* and a *sequence* are tuples of token numbers from 0; a *row* is a tuple of fractions; a *kernel* is a
mapping from every prefix to its row; a *law* is a mapping from sequence to probability, without the zeros.
"""
