import gridsheet.cells as cells
from gridsheet import Table
from gridsheet.errors import SheetError


def where(table, name, value):
    """The rows whose cell is a value."""
    place = table.index(name)
    return Table(table.header, [row for row in table.rows if row[place] == value])


def sort_by(table, name):
    """The rows in the order of a column's numbers, empty ones last."""
    place = table.index(name)
    return Table(table.header, sorted(table.rows, key=lambda row: cells.to_number(row[place], float("inf"))))


def total(table, name):
    """The sum of a column."""
    return sum(table.numbers(name))


def mean(table, name):
    """The mean of a column."""
    numbers = table.numbers(name)
    if not numbers:
        raise SheetError("no numbers in " + name)
    return total(table, name) / len(numbers)


def flagged(table, name):
    """How many cells of a column say yes."""
    return sum(1 for cell in table.column(name) if cells.to_flag(cell))
