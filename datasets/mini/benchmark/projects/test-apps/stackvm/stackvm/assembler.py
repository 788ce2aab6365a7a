"""Text into programs."""

import stackvm.opcodes as op
from .errors import BadSource, UnknownOperation
from .opcodes import EFFECTS, needs_argument


class Instruction:
    """An operation with its argument."""

    def __init__(self, name, argument=None):
        self.name = name
        self.argument = argument

    def __eq__(self, other):
        return (self.name, self.argument) == (other.name, other.argument)

    def __repr__(self):
        return "%s %s" % (self.name, self.argument)


def strip_line(line: str) -> str:
    """
    A line without its comment and the spaces around it, in lower case.

    :param line: The line.
    :return: What is left, perhaps nothing.
    """
    return line.split(op.COMMENT)[0].strip().lower()


def is_label(line: str) -> bool:
    """
    Whether a line, once stripped of its comment, is a label: a word with a colon behind it.

    :param line: The line.
    :return: True for a label.
    """
    text = strip_line(line)
    return text.endswith(op.LABEL_END) and text[:-1].isidentifier()


def find_labels(lines: list) -> dict:
    """
    The labels of a source and the number of the instruction that each stands before.

    :param lines: The source; empty lines and comments are no instructions.
    :return: Numbers by label, without the colon.
    """
    labels = {}
    count = 0
    for line in lines:
        if is_label(line):
            labels[strip_line(line)[:-1]] = count
        elif strip_line(line):
            count += 1
    return labels


def make_instruction(name: str, argument=None) -> Instruction:
    """
    An instruction of a known operation.

    :param name: The operation.
    :param argument: Its argument; left out where the operation has none.
    :return: The instruction.
    :raises UnknownOperation: If there is no such operation.
    """
    if name not in EFFECTS:
        raise UnknownOperation(name)
    return Instruction(name, argument if needs_argument(name) else None)


def parse_line(line: str, number: int, labels: dict) -> Instruction:
    """
    The instruction of a line. An argument is a label or a whole number.

    :param line: The line, which is neither empty nor a label.
    :param number: The line's number, for errors.
    :param labels: Instruction numbers by label.
    :return: The instruction.
    :raises BadSource: If an argument is missing, too much, or neither label nor number.
    :raises UnknownOperation: If there is no such operation.
    """
    name, *arguments = strip_line(line).split()
    instruction = make_instruction(name)
    if len(arguments) != int(needs_argument(name)):
        raise BadSource(number, line)
    if arguments:
        text = arguments[0]
        if text in labels:
            instruction.argument = labels[text]
        elif text.lstrip("-").isdigit():
            instruction.argument = int(text)
        else:
            raise BadSource(number, line)
    return instruction


def assemble(source: str) -> list:
    """
    The program of a source text.

    :param source: One instruction or label a line; comments begin with ';'.
    :return: The instructions.
    :raises BadSource: With the number of the bad line, counted from 1.
    """
    lines = source.splitlines()
    labels = find_labels(lines)
    program = []
    for number, line in enumerate(lines, 1):
        if strip_line(line) and not is_label(line):
            program.append(parse_line(line, number, labels))
    return program
