"""Units with their dimension and their size in base units."""

UNITS = {
    "m": ("length", 1.0),
    "km": ("length", 1000.0),
    "cm": ("length", 0.01),
    "s": ("time", 1.0),
    "min": ("time", 60.0),
    "h": ("time", 3600.0),
    "kg": ("mass", 1.0),
    "g": ("mass", 0.001),
}
BASE = {"length": "m", "time": "s", "mass": "kg"}


def dimension(unit):
    """What a unit measures."""
    return UNITS[unit][0]


def factor(unit):
    """How many base units a unit is."""
    return UNITS[unit][1]


def base_unit(unit):
    """The base unit of the same dimension."""
    return BASE[dimension(unit)]


def units_of(kind):
    """All units of a dimension."""
    return [name for name, (what, _) in UNITS.items() if what == kind]
