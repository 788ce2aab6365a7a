import math

FULL = 2 * math.pi
RIGHT = math.pi / 2


def degrees(radians):
    """Radians to degrees."""
    return radians * 360 / FULL


def normalise(angle):
    """The same angle between 0 and a full turn."""
    return angle % FULL


def is_right(angle, tolerance=1e-6):
    """Whether it is a right angle."""
    return abs(normalise(angle) - RIGHT) < tolerance
