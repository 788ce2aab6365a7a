import math

EPSILON = 1e-9


class Point:
    """A place in the plane."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def shifted(self, dx, dy):
        """A point beside this one."""
        return Point(self.x + dx, self.y + dy)

    def __eq__(self, other):
        return distance(self, other) < EPSILON


ORIGIN = Point(0, 0)


def distance(a, b):
    """The straight way between two points."""
    return math.hypot(a.x - b.x, a.y - b.y)


def midpoint(a, b):
    """The point half-way between two."""
    return Point((a.x + b.x) / 2, (a.y + b.y) / 2)


def cross(o, a, b):
    """The cross product of the ways from o to a and to b."""
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x)
