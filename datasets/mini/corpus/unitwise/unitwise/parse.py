import re

from unitwise.errors import ParseError
from unitwise.quantity import Quantity
from unitwise.table import UNITS

PATTERN = re.compile(r"([0-9.]+)\s*([a-z]+)")


def parse(text):
    """A quantity out of text such as '3 km'."""
    match = PATTERN.fullmatch(text.strip())
    if match is None or match.group(2) not in UNITS:
        raise ParseError(text)
    return Quantity(float(match.group(1)), match.group(2))


def parse_all(text):
    """All quantities of a list with commas."""
    return [parse(part) for part in text.split(",")]


def is_quantity(text):
    """Whether a text is a quantity."""
    try:
        parse(text)
    except ParseError:
        return False
    return True
