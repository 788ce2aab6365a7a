class SheetError(Exception):
    """A table that is not what it should be."""


class ColumnMissing(SheetError):
    """A column that is not there."""

    def __init__(self, name):
        super().__init__("no column " + name)
        self.name = name
