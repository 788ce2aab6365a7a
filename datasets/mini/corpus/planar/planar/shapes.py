import math

from . import point as pt
from .transform import rotate_all, scale


class Shape:
    """Anything with an area."""

    def area(self):
        raise NotImplementedError

    def larger_than(self, other):
        """Whether it covers more than another shape."""
        return self.area() > other.area()


class Circle(Shape):
    """A circle."""

    def __init__(self, centre, radius):
        self.centre = centre
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2

    def contains(self, point):
        """Whether a point lies inside."""
        return pt.distance(self.centre, point) <= self.radius


class Polygon(Shape):
    """Corners in order."""

    def __init__(self, corners):
        self.corners = list(corners)

    def sides(self):
        """Pairs of neighbouring corners."""
        return list(zip(self.corners, self.corners[1:] + self.corners[:1]))

    def perimeter(self):
        """The length of all sides."""
        return sum(pt.distance(a, b) for a, b in self.sides())

    def area(self):
        return abs(sum(pt.cross(pt.ORIGIN, a, b) for a, b in self.sides())) / 2

    def turned(self, angle):
        """The polygon turned around the origin."""
        return Polygon(rotate_all(self.corners, angle))

    def scaled(self, factor):
        """The polygon made larger."""
        return Polygon(scale(corner, factor) for corner in self.corners)


class Rectangle(Polygon):
    """A rectangle along the axes."""

    def __init__(self, corner, width, height):
        right = corner.shifted(width, 0)
        super().__init__([corner, right, right.shifted(0, height), corner.shifted(0, height)])
