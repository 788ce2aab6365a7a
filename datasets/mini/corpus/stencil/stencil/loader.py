"""Where templates come from."""

SUFFIX = ".txt"
_STORE = {}


def store(name, text):
    """Keep a template."""
    _STORE[full_name(name)] = text


def full_name(name):
    """The name with its suffix."""
    return name if name.endswith(SUFFIX) else name + SUFFIX


def load(name):
    """The text of a template."""
    return _STORE[full_name(name)]
