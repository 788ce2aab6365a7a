from . import levels
from .event import Event

SEPARATOR = " | "


def format_fields(fields):
    """Fields as key=value, sorted."""
    return " ".join("%s=%s" % item for item in sorted(fields.items()))


def format_event(event):
    """A line of text for an event."""
    parts = [event.label()]
    if event.fields:
        parts.append(format_fields(event.fields))
    return SEPARATOR.join(parts)


def parse_fields(text):
    """Fields out of key=value words."""
    return dict(word.split("=", 1) for word in text.split())


def parse_line(line):
    """An event out of its line."""
    label, _, rest = line.partition(SEPARATOR)
    name, _, text = label[1:].partition("] ")
    return Event(text, levels.parse_level(name), parse_fields(rest))
