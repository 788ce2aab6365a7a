import taskline.states as states
from taskline.retry import MAX_TRIES


def count_states(tasks):
    """How many tasks are in each state."""
    counts = dict.fromkeys(states.NEXT, 0)
    for task in tasks:
        counts[task.state] += 1
    return counts


def all_done(tasks):
    """Whether every task is in a final state."""
    return all(states.is_final(task.state) for task in tasks)


def given_up(tasks):
    """Failed tasks that will not be tried again."""
    return [t for t in tasks if t.state == states.FAILED and t.tries >= MAX_TRIES]


def success_rate(tasks):
    """The part of tasks that is done."""
    counts = count_states(tasks)
    return counts[states.DONE] / len(tasks) if tasks else 0.0
