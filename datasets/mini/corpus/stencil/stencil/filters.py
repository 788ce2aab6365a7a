"""Filters by name."""

FILTERS = {}


def register(name):
    """A decorator that makes a function a filter."""

    def wrap(function):
        FILTERS[name] = function
        return function

    return wrap


@register("upper")
def upper(value):
    """Upper case."""
    return str(value).upper()


@register("title")
def title(value):
    """Title case."""
    return str(value).title()


@register("shorten")
def shorten(value, limit=10):
    """Cut long text."""
    text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def find_filter(name):
    """The filter of a name, or None."""
    return FILTERS.get(name)
