class UnitError(ValueError):
    """Units that don't go together."""


class ParseError(UnitError):
    """Text that is no quantity."""
