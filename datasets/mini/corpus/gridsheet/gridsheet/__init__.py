"""Tables of text."""

from .table import Table, read_table
from .errors import SheetError
