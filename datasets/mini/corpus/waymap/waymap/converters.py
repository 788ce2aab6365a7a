"""Text of a path into values."""

CONVERTERS = {"int": int, "str": str, "float": float}
DEFAULT = "str"


def converter(name):
    """The function of a converter."""
    return CONVERTERS[name or DEFAULT]


def convert(text, name):
    """A value out of text; None if it does not fit."""
    try:
        return converter(name)(text)
    except ValueError:
        return None


def add_converter(name, function):
    """Make a converter known."""
    CONVERTERS[name] = function
