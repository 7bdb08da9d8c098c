"""The level-wise engine: every prefix, length after length.

All levels are kept, so that memory is a few times that of the tables; what would not fit is refused beforehand.
"""

from collections.abc import Mapping

from factorcomp.certificates.claims import Question
from factorcomp.enumeration.levels import advance, root
from factorcomp.enumeration.size import count_prefixes, require_room
from factorcomp.enumeration.summary import Summary, summarize
from factorcomp.models.tabular import TabularModel
from factorcomp.surveys import Progress, Survey

NUMBERS_TO_KEEP = 1 << 22
"""Up to so many numbers in all tables the models' rows are kept, for what is asked of them beyond the claims."""


def levels(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    progress: Progress | None = None,
    *,
    keep_rows: bool = False,
) -> Summary:
    """Visits every prefix shorter than `question.horizon` of models with one vocabulary and EOS.

    With `keep_rows` each step holds the models' rows, unless they are too many. Raises `InputError`, with the size it
    would take, where the enumeration would not fit into memory.
    """
    vocab = len(background.vocabulary)
    require_room(vocab, question.horizon, len(experts))
    models, weights = list(experts.values()), [question.weight(name) for name in experts]
    laws, steps = [root(len(models) + 1)], []
    done, total = 0, count_prefixes(vocab, question.horizon)
    keep_rows = keep_rows and total * vocab * (len(models) + 1) <= NUMBERS_TO_KEEP
    for length in range(question.horizon):
        step, following = advance(laws[-1], length, background, models, weights, question, keep_rows=keep_rows)
        steps.append(step)
        laws.append(following)
        done += len(step.settled)
        if progress is not None:
            progress(done, total)
    return Summary(laws, steps, vocab)


def survey(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    progress: Progress | None = None,
) -> Survey:
    """What is seen on the levels."""
    seen = levels(background, experts, question, progress)
    return summarize(seen, question, list(experts), has_eos=background.eos is not None)
