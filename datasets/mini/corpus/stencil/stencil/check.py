import stencil.tokens as tk
from stencil.filters import find_filter
from stencil.tokens import FILTER_MARK


def unknown_filters(text):
    """Names of filters that a template uses and nobody registered."""
    unknown = []
    for inside in tk.holes(text):
        for name in inside.split(FILTER_MARK)[1:]:
            if find_filter(name.strip()) is None:
                unknown.append(name.strip())
    return unknown


def is_valid(text):
    """Whether a template can be read."""
    try:
        tk.split_tokens(text)
    except tk.TemplateError:
        return False
    return not unknown_filters(text)


def count_holes(text):
    """How many holes there are."""
    return len(tk.holes(text))
