"""An event log."""

from .event import Event, make_event
from .log import Log
