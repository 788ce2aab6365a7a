import unitwise.convert as conversion
from unitwise import Quantity


def speed(way, time):
    """Metres per second out of two quantities."""
    return way.base() / time.base()


def pace(way, time, unit="km"):
    """Minutes for a unit of length."""
    return conversion.convert(time.value, time.unit, "min") / way.to(unit).value


def travel_time(way, metres_per_second):
    """How long a way takes."""
    return Quantity(way.base() / metres_per_second, "s").to("min")


def total(quantities):
    """The sum of quantities, in the unit of the first."""
    first, *rest = quantities
    for quantity in rest:
        first = first + quantity
    return first
