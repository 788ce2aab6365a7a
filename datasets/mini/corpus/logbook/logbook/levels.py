"""How important an event is."""

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
NAMES = {DEBUG: "debug", INFO: "info", WARNING: "warning", ERROR: "error"}
DEFAULT = INFO


def level_name(level):
    """The name of a level."""
    return NAMES.get(level, "level-%d" % level)


def parse_level(text):
    """A level out of its name."""
    for level, name in NAMES.items():
        if name == text.lower():
            return level
    raise ValueError(text)


def at_least(level, minimum):
    """Whether a level is important enough."""
    return level >= minimum
