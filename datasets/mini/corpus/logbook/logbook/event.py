from .levels import DEFAULT, ERROR, level_name


class Event:
    """Something that happened."""

    def __init__(self, text, level=DEFAULT, fields=None):
        self.text = text
        self.level = level
        self.fields = dict(fields or {})

    def is_error(self):
        """Whether it is at least an error."""
        return self.level >= ERROR

    def label(self):
        """Level and text."""
        return "[%s] %s" % (level_name(self.level), self.text)


def make_event(text, **fields):
    """An event of the default level with fields."""
    return Event(text, DEFAULT, fields)


def error_event(error):
    """An event out of an exception."""
    return Event(str(error), ERROR, {"type": type(error).__name__})
