from . import cells
from .errors import ColumnMissing, SheetError

DELIMITER = ";"


class Table:
    """Rows under named columns."""

    def __init__(self, header, rows=()):
        self.header = list(header)
        self.rows = [list(row) for row in rows]

    def index(self, name):
        """The place of a column."""
        if name not in self.header:
            raise ColumnMissing(name)
        return self.header.index(name)

    def column(self, name):
        """All cells of a column."""
        place = self.index(name)
        return [row[place] for row in self.rows]

    def numbers(self, name):
        """The numbers of a column; empty cells are left out."""
        return [cells.to_number(cell) for cell in self.column(name) if not cells.is_empty(cell)]

    def append(self, row):
        """Add a row of the right width."""
        if len(row) != len(self.header):
            raise SheetError("a row of %d cells" % len(row))
        self.rows.append([cells.clean(cell) for cell in row])


def split_line(line):
    """The cells of a line of text."""
    return line.rstrip("\n").split(DELIMITER)


def read_table(lines):
    """A table out of lines, the first of which is the header."""
    first, *rest = lines
    table = Table(split_line(first))
    for line in rest:
        table.append(split_line(line))
    return table
