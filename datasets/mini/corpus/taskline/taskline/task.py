from . import clock
from .states import RUNNING, WAITING, BadTransition, is_final, may_follow


class Task:
    """A named piece of work."""

    def __init__(self, name, work, due=None):
        self.name = name
        self.work = work
        self.due = clock.now() if due is None else due
        self.state = WAITING
        self.tries = 0

    def move(self, state):
        """Change the state, if that is allowed."""
        if not may_follow(self.state, state):
            raise BadTransition(self.state + " -> " + state)
        self.state = state

    def start(self):
        """Note that work begins."""
        self.move(RUNNING)
        self.tries += 1

    def ready(self):
        """Whether it waits and its time has come."""
        return self.state == WAITING and clock.passed(self.due)

    def finished(self):
        return is_final(self.state)


def make_task(name, work, delay=0):
    """A task that is due after a delay."""
    return Task(name, work, clock.later(delay))
