class MachineError(Exception):
    """Anything that stops the machine."""


class StackEmpty(MachineError):
    """Something was taken from an empty stack."""


class UnknownOperation(MachineError):
    """An operation that the machine does not have."""


class OutOfSteps(MachineError):
    """A program that runs for too long."""


class BadSource(MachineError):
    """Source text that can't be assembled."""

    def __init__(self, line, text):
        super().__init__("line %d: %s" % (line, text))
        self.line = line
