from .errors import UnitError
from .table import base_unit, dimension, factor


def check_same(first, second):
    """Raise unless two units measure the same."""
    if dimension(first) != dimension(second):
        raise UnitError("%s is not %s" % (first, second))


def convert(value, source, target):
    """A value in another unit."""
    check_same(source, target)
    return value * factor(source) / factor(target)


def to_base(value, unit):
    """A value in the base unit of its dimension."""
    return convert(value, unit, base_unit(unit))


def ratio(a, unit_a, b, unit_b):
    """How many times b goes into a."""
    return to_base(a, unit_a) / to_base(b, unit_b)
