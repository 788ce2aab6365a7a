from .queue import Queue
from .task import Task, make_task
