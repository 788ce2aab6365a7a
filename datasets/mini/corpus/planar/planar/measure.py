import planar.angle as angles
from planar import Circle, Point, Rectangle, distance
from planar.point import cross, midpoint


def bounding_box(points):
    """The smallest rectangle that holds all points."""
    xs = [p.x for p in points]
    ys = [p.y for p in points]
    corner = Point(min(xs), min(ys))
    return Rectangle(corner, max(xs) - min(xs), max(ys) - min(ys))


def circle_over(a, b):
    """The circle whose diameter runs from a to b."""
    return Circle(midpoint(a, b), distance(a, b) / 2)


def in_line(a, b, c):
    """Whether three points lie on one line."""
    return abs(cross(a, b, c)) < 1e-9


def turn_text(angle):
    """An angle as text in degrees."""
    return "%.1f°" % angles.degrees(angles.normalise(angle))


def path_length(points):
    """The length of the way along points."""
    return sum(distance(a, b) for a, b in zip(points, points[1:]))
