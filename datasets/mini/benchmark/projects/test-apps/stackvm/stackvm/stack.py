from .errors import StackEmpty

LIMIT = 256


class Stack:
    """Numbers, the last one first."""

    def __init__(self, values=()):
        self.values = list(values)

    def push(self, value):
        self.values.append(value)

    def pop(self):
        if not self.values:
            raise StackEmpty()
        return self.values.pop()


def pop_two(stack: Stack) -> tuple:
    """
    Take two values; the one that was pushed first comes first.

    :param stack: The stack.
    :return: The two values.
    :raises StackEmpty: If there are fewer; nothing is then taken.
    """
    if len(stack.values) < 2:
        raise StackEmpty()
    second = stack.pop()
    return stack.pop(), second


def peek(stack: Stack, default=None):
    """
    The value on top, which stays there.

    :param stack: The stack.
    :param default: What to return if there is none.
    :return: The value or the default.
    """
    return stack.values[-1] if stack.values else default
