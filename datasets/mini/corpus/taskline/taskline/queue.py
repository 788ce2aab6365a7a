from .retry import reschedule
from .states import DONE, FAILED
from .task import make_task


class Queue:
    """Tasks in the order in which they are due."""

    def __init__(self):
        self.tasks = []

    def push(self, name, work, delay=0):
        """Add a task."""
        task = make_task(name, work, delay)
        self.tasks.append(task)
        return task

    def due(self):
        """Tasks that are ready, the earliest first."""
        return sorted((t for t in self.tasks if t.ready()), key=lambda t: t.due)

    def run_one(self):
        """Run the earliest task; False if there is none."""
        ready = self.due()
        if not ready:
            return False
        run_task(ready[0])
        return True

    def open_tasks(self):
        return [task for task in self.tasks if not task.finished()]


def run_task(task):
    """Run a task and note how it went."""
    task.start()
    try:
        task.work()
    except Exception:
        task.move(FAILED)
        reschedule(task)
    else:
        task.move(DONE)
