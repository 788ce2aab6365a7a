from . import names
from .colour import Colour

MARK = "#"


class ColourError(ValueError):
    """Text that is no colour."""


def parse_hex(text):
    """A colour out of '#rgb' or '#rrggbb'."""
    digits = text.lstrip(MARK)
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) != 6:
        raise ColourError(text)
    return Colour(*(int(digits[at : at + 2], 16) for at in (0, 2, 4)))


def parse(text):
    """A colour out of a name or digits."""
    named = names.by_name(text)
    if named is not None:
        return named
    if not text.startswith(MARK):
        raise ColourError(text)
    return parse_hex(text)


def is_colour(text):
    """Whether a text is a colour."""
    try:
        parse(text)
    except ColourError:
        return False
    return True
