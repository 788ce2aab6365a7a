"""Plane geometry."""

from .point import ORIGIN, Point, distance
from .shapes import Circle, Polygon, Rectangle
