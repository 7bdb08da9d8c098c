"""Probabilities as they are written: the text of a number, and the fraction that it means.

A number of a JSON file is `bytes` (`b"0.25"`: the decimal written), a string is `str` (`"1/4"`).
"""

MAX_DIGITS = 4300
"""Longer numbers are refused, as Python itself refuses to convert them: it takes quadratic time."""
MAX_EXPONENT = 5000


class NumberError(ValueError):
    """Not a probability: the message says what was needed."""


class Numbers(dict[bytes | str, int]):
    """The text of a number -> its place in the lists `numerators`, `denominators` (not in lowest terms), `decimal`.

    >>> numbers = Numbers()
    >>> [numbers["2/4"], numbers[b"0.25"], numbers["2/4"]]
    [0, 1, 0]
    >>> numbers.numerators, numbers.denominators, numbers.decimal
    ([2, 25], [4, 100], [False, True])

    **Raises:** `NumberError`, when asked for what is not a probability.
    """

    def __init__(self):
        self.numerators: list[int] = []
        self.denominators: list[int] = []
        self.decimal: list[bool] = []

    def __missing__(self, written: bytes | str) -> int:
        numerator, denominator, decimal = fraction(written)
        self.numerators.append(numerator)
        self.denominators.append(denominator)
        self.decimal.append(decimal)
        place = self[written] = len(self.decimal) - 1
        return place


def fraction(written: object) -> tuple[int, int, bool]:
    """Numerator and denominator as written, and whether it is a decimal.

    **Raises:** `NumberError`, if it is not a probability.
    """
    if type(written) is str:
        return _ratio(written)
    if type(written) is bytes:
        return _decimal(written.decode())
    raise NumberError('needed a number, or a string such as "1/3"')


def _decimal(text: str) -> tuple[int, int, bool]:
    if text in ("NaN", "Infinity", "-Infinity"):
        raise NumberError("needed a finite number")
    if len(text) > MAX_DIGITS:
        raise NumberError(f"needed a number of at most {MAX_DIGITS} digits")
    mantissa, _, exponent = text.lower().partition("e")
    whole, point, decimals = mantissa.partition(".")
    numerator, power = int(whole + decimals), -len(decimals)
    if numerator < 0:
        raise NumberError("needed a probability, which is not negative")
    if exponent:
        power += int(exponent)
        if not -MAX_EXPONENT <= power + len(decimals) <= MAX_EXPONENT:
            raise NumberError(f"needed an exponent between -{MAX_EXPONENT} and {MAX_EXPONENT}")
    if power < 0:
        return numerator, 10**-power, True
    return numerator * 10**power, 1, bool(point or exponent)


def _ratio(text: str) -> tuple[int, int, bool]:
    above, slash, below = text.partition("/")
    digits = above.removeprefix("-")
    if not (text.isascii() and digits.isdigit() and (below.isdigit() or not slash)):
        raise NumberError('needed a string such as "1/3" or "1"; decimals are numbers, written without quotes')
    if len(digits) > MAX_DIGITS or len(below) > MAX_DIGITS:
        raise NumberError(f"needed a number of at most {MAX_DIGITS} digits")
    numerator, denominator = int(above), int(below or 1)
    if numerator < 0:
        raise NumberError("needed a probability, which is not negative")
    if denominator == 0:
        raise NumberError("needed a denominator other than 0")
    return numerator, denominator, False
