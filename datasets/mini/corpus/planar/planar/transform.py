import math

from .angle import normalise
from .point import ORIGIN, Point


def rotate(point, angle, around=ORIGIN):
    """Turn a point around another, against the clock."""
    angle = normalise(angle)
    dx, dy = point.x - around.x, point.y - around.y
    x = dx * math.cos(angle) - dy * math.sin(angle)
    y = dx * math.sin(angle) + dy * math.cos(angle)
    return Point(around.x + x, around.y + y)


def scale(point, factor, around=ORIGIN):
    """Move a point away from another by a factor."""
    return Point(around.x + (point.x - around.x) * factor, around.y + (point.y - around.y) * factor)


def mirror(point):
    """Mirror a point in the y axis."""
    return Point(-point.x, point.y)


def rotate_all(points, angle):
    """Turn many points around the origin."""
    return [rotate(point, angle) for point in points]
