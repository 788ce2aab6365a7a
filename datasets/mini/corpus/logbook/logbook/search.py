import logbook.format as fmt
from logbook import Log
from logbook.levels import level_name


def containing(log, word):
    """Events whose line holds a word."""
    return [event for event in log.events if word in fmt.format_event(event)]


def with_field(log, name, value):
    """Events with a field of a value."""
    return [event for event in log.events if event.fields.get(name) == value]


def count_levels(log):
    """How many events there are of each level."""
    counts = {}
    for event in log.events:
        name = level_name(event.level)
        counts[name] = counts.get(name, 0) + 1
    return counts


def read_log(lines):
    """A log out of lines."""
    log = Log()
    for line in lines:
        log.add(fmt.parse_line(line))
    return log


def errors_only(log):
    """A log with the errors alone."""
    result = Log()
    for event in log.events:
        if event.is_error():
            result.add(event)
    return result
