from .loader import load
from .parts import Template


def render(text, **values):
    """Fill a template given as text."""
    return Template(text).fill(values)


def render_file(name, **values):
    """Fill a template given by name."""
    return render(load(name), **values)


def render_all(texts, values):
    """Fill many templates with the same values."""
    return [render(text, **values) for text in texts]


def missing(text, values):
    """The names that a template needs and that are not given."""
    return sorted(Template(text).names() - set(values))
