"""What can be said about a program without running it."""

import stackvm.assembler as assembler
from stackvm import run
from stackvm.opcodes import EFFECTS, JUMP, JUMP_ZERO, stack_change


def height_after(program: list) -> int:
    """
    The height of the stack after a program without jumps.

    :param program: The instructions.
    :return: The height, negative if more is taken than left.
    """
    return sum(stack_change(instruction.name) for instruction in program)


def underflow_at(program: list):
    """
    The number of the first instruction of a program without jumps that takes more values than
    there are.

    :param program: The instructions.
    :return: The number, counted from 0, or None if there is no such instruction.
    """
    height = 0
    for number, instruction in enumerate(program):
        if height < EFFECTS[instruction.name][0]:
            return number
        height += stack_change(instruction.name)
    return None


def jump_targets(program: list) -> list:
    """
    The places that a program jumps to, sorted, each once.

    :param program: The instructions.
    :return: Instruction numbers.
    """
    jumps = (JUMP, JUMP_ZERO)
    return sorted({i.argument for i in program if i.name in jumps})


def evaluate(source: str):
    """
    Assemble and run a source text.

    :param source: The source.
    :return: The value on top of the stack at the end.
    """
    return run(assembler.assemble(source))
