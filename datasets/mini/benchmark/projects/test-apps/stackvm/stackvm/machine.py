"""Running programs."""

from . import stack as stacks
from .errors import MachineError, OutOfSteps
from .opcodes import ADD, DUP, HALT, JUMP, JUMP_ZERO, MUL, POP, PUSH, SUB, SWAP
from .stack import Stack, peek

MAX_STEPS = 10000


class Machine:
    """A stack, and the place in a program."""

    def __init__(self, program):
        self.program = program
        self.stack = Stack()
        self.place = 0

    def running(self):
        return 0 <= self.place < len(self.program) and self.program[self.place].name != HALT


def calculate(stack: Stack, name: str) -> None:
    """
    Replace the two values on top by their sum, difference or product. The difference is the lower
    value less the upper one.

    :param stack: The stack.
    :param name: add, sub or mul.
    :raises StackEmpty: If there are fewer than two values.
    """
    first, second = stacks.pop_two(stack)
    if name == ADD:
        stack.push(first + second)
    elif name == SUB:
        stack.push(first - second)
    elif name == MUL:
        stack.push(first * second)


def arrange(stack: Stack, name: str) -> None:
    """
    Double the value on top, swap the two on top, or drop the one on top.

    :param stack: The stack.
    :param name: dup, swap or pop.
    :raises StackEmpty: If a value is missing.
    """
    if name == DUP:
        value = stack.pop()
        stack.push(value)
        stack.push(value)
    elif name == SWAP:
        first, second = stacks.pop_two(stack)
        stack.push(second)
        stack.push(first)
    elif name == POP:
        stack.pop()


def step(machine: Machine) -> None:
    """
    Run one instruction and move on to the next one; a jump moves to its argument, 'jz' only if
    the value that it takes is 0.

    :param machine: The machine, which is running.
    """
    instruction = machine.program[machine.place]
    machine.place += 1
    if instruction.name == PUSH:
        machine.stack.push(instruction.argument)
    elif instruction.name in (ADD, SUB, MUL):
        calculate(machine.stack, instruction.name)
    elif instruction.name in (DUP, SWAP, POP):
        arrange(machine.stack, instruction.name)
    elif instruction.name == JUMP:
        machine.place = instruction.argument
    elif instruction.name == JUMP_ZERO and machine.stack.pop() == 0:
        machine.place = instruction.argument


def run(program: list):
    """
    Run a program to its end.

    :param program: The instructions.
    :return: The value on top of the stack, or None if it is empty.
    :raises OutOfSteps: If it takes more than MAX_STEPS steps.
    """
    machine = Machine(program)
    for _ in range(MAX_STEPS):
        if not machine.running():
            return peek(machine.stack)
        step(machine)
    raise OutOfSteps(MAX_STEPS)


def try_run(program: list, default=None):
    """
    Run a program, and return a default if the machine stops with an error.

    :param program: The instructions.
    :param default: What to return then.
    :return: The value on top of the stack, or the default.
    """
    try:
        return run(program)
    except MachineError:
        return default
