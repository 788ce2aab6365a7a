from .cells import is_empty
from .table import DELIMITER


def to_lines(table):
    """A table as lines of text."""
    return [DELIMITER.join(row) for row in [table.header] + table.rows]


def to_records(table):
    """A dictionary for each row, without empty cells."""
    return [{n: c for n, c in zip(table.header, row) if not is_empty(c)} for row in table.rows]


def widths(table):
    """The width of each column in characters."""
    return [max(map(len, column)) for column in zip(table.header, *table.rows)]


def to_text(table):
    """A table with aligned columns."""
    sizes = widths(table)
    rows = [table.header] + table.rows
    return "\n".join(" ".join(c.ljust(s) for c, s in zip(row, sizes)).rstrip() for row in rows)
