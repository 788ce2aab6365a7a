"""Time that tests can set."""

import time

_fixed = None
TICK = 0.5


def freeze(moment):
    """Stop the clock at a moment; None lets it go."""
    global _fixed
    _fixed = moment


def now():
    """Seconds since the epoch, or the frozen moment."""
    return time.time() if _fixed is None else _fixed


def later(seconds):
    """The moment so many seconds from now."""
    return now() + seconds


def passed(moment):
    """Whether a moment is over."""
    return now() >= moment
