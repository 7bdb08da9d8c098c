"""The pytest plugin of factorcomp: the options of its test classes, `ComposerLaws` and `ModelLaws`.

It is a module of its own: pytest imports plugins before anything else, and what it imports here could no longer be
instrumented (by jaxtyping's import hook, by coverage). Nothing of factorcomp is imported until a test uses it.
"""


def pytest_addoption(parser):
    group = parser.getgroup("factorcomp", "laws of models and composers")
    group.addoption(
        "--factorcomp-examples",
        type=_positive,
        metavar="N",
        help="cases of each law (default: 50, or what the class says)",
    )
    group.addoption(
        "--factorcomp-dtype",
        metavar="DTYPE",
        help="the floating-point type that the tolerance is derived from, such as float32",
    )
    group.addoption(
        "--factorcomp-tolerance",
        type=_tolerance,
        metavar="NATS",
        help="so far may log-probabilities be off, instead of the derived tolerance",
    )


def _positive(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _tolerance(text):
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number
