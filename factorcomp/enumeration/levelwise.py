"""The level-wise engine: every prefix, length after length; the rows' arithmetic in JAX, the tree's in NumPy.

All levels are kept, so that memory is a few times that of the tables; what would not fit is refused beforehand.
"""

from collections.abc import Mapping

from factorcomp.certificates.claims import Question
from factorcomp.enumeration.levels import advance, root
from factorcomp.enumeration.size import count_prefixes, require_room
from factorcomp.enumeration.summary import Summary, summarize
from factorcomp.models.tabular import TabularModel
from factorcomp.surveys import Progress, Survey


def survey(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    progress: Progress | None = None,
) -> Survey:
    """Visits every prefix shorter than `question.horizon` of models with one vocabulary and EOS.

    Raises `InputError`, with the size it would take, where the enumeration would not fit into memory.
    """
    vocab = len(background.vocabulary)
    require_room(vocab, question.horizon, len(experts))
    models, weights = list(experts.values()), [question.weight(name) for name in experts]
    laws, steps = [root(len(models) + 1)], []
    done, total = 0, count_prefixes(vocab, question.horizon)
    for length in range(question.horizon):
        step, following = advance(laws[-1], length, background, models, weights, question)
        steps.append(step)
        laws.append(following)
        done += len(step.settled)
        if progress is not None:
            progress(done, total)
    return summarize(Summary(laws, steps, vocab), question, list(experts), has_eos=background.eos is not None)
