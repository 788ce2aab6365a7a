from .event import error_event, make_event
from .format import format_event
from .levels import DEBUG, WARNING, at_least


class Log:
    """Events in order."""

    def __init__(self, minimum=DEBUG):
        self.minimum = minimum
        self.events = []

    def add(self, event):
        """Keep an event that is important enough."""
        if at_least(event.level, self.minimum):
            self.events.append(event)

    def note(self, text, **fields):
        """Add an ordinary event."""
        self.add(make_event(text, **fields))

    def failure(self, error):
        """Add an exception."""
        self.add(error_event(error))

    def lines(self):
        """All events as lines."""
        return [format_event(event) for event in self.events]

    def warnings(self):
        return [event for event in self.events if at_least(event.level, WARNING)]
