from .clock import later
from .states import FAILED, WAITING

MAX_TRIES = 3
BACKOFF = 2


def wait_time(tries):
    """Seconds to wait after so many tries."""
    return BACKOFF ** tries


def should_retry(task):
    """Whether a failed task gets another chance."""
    return task.state == FAILED and task.tries < MAX_TRIES


def reschedule(task):
    """Let a failed task wait again, for longer each time."""
    if not should_retry(task):
        return False
    task.move(WAITING)
    task.due = later(wait_time(task.tries))
    return True
