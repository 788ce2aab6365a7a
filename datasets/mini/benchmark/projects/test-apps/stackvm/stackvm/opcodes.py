"""Operations and how many values they take and leave."""

PUSH, ADD, SUB, MUL, DUP, SWAP, POP = "push", "add", "sub", "mul", "dup", "swap", "pop"
JUMP, JUMP_ZERO, HALT = "jump", "jz", "halt"
EFFECTS = {
    PUSH: (0, 1),
    ADD: (2, 1),
    SUB: (2, 1),
    MUL: (2, 1),
    DUP: (1, 2),
    SWAP: (2, 2),
    POP: (1, 0),
    JUMP: (0, 0),
    JUMP_ZERO: (1, 0),
    HALT: (0, 0),
}
WITH_ARGUMENT = (PUSH, JUMP, JUMP_ZERO)
COMMENT = ";"
LABEL_END = ":"


def needs_argument(name: str) -> bool:
    """
    Whether an operation has an argument.

    :param name: The operation.
    :return: True for push and the jumps.
    """
    return name in WITH_ARGUMENT


def stack_change(name: str) -> int:
    """
    By how much an operation changes the height of the stack.

    :param name: The operation.
    :return: Values left less values taken.
    """
    taken, left = EFFECTS[name]
    return left - taken
