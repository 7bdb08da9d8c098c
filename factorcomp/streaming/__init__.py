"""The streaming engine: one pass over the conditionals of trees too large to keep, in blocks that stay in cache.

A tree is cut into slabs of levels. The subtree below a prefix is visited from its root to its leaves and back: on the
way down laws and flags are handed from each prefix to its children, on the way up what lies below is handed back. The
leaves of one slab are the roots of the next; in the last they are visited many at once, side by side as the lanes of
the processor. No array over all sequences ever exists. Source: theory.md, sections 1-4, 10.
"""

from factorcomp.streaming.engine import TooExtremeError as TooExtremeError
from factorcomp.streaming.summary import suits as suits
from factorcomp.streaming.summary import survey as survey
