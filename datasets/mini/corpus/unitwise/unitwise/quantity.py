from . import convert as conversion
from .errors import UnitError
from .table import dimension


class Quantity:
    """A value with a unit."""

    def __init__(self, value, unit):
        self.value = value
        self.unit = unit

    def to(self, unit):
        """The same quantity in another unit."""
        return Quantity(conversion.convert(self.value, self.unit, unit), unit)

    def base(self):
        """The value in base units."""
        return conversion.to_base(self.value, self.unit)

    def __add__(self, other):
        if not isinstance(other, Quantity):
            raise UnitError("not a quantity")
        return Quantity(self.value + other.to(self.unit).value, self.unit)

    def __lt__(self, other):
        conversion.check_same(self.unit, other.unit)
        return self.base() < other.base()

    def kind(self):
        """What it measures."""
        return dimension(self.unit)
