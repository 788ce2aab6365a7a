"""The states of a task."""

WAITING = "waiting"
RUNNING = "running"
DONE = "done"
FAILED = "failed"
FINAL = (DONE, FAILED)
NEXT = {WAITING: (RUNNING,), RUNNING: (DONE, FAILED, WAITING), DONE: (), FAILED: (WAITING,)}


class BadTransition(RuntimeError):
    """A change of state that is not allowed."""


def may_follow(old, new):
    """Whether a state may come after another."""
    return new in NEXT[old]


def is_final(state):
    """Whether nothing more will happen."""
    return state in FINAL
