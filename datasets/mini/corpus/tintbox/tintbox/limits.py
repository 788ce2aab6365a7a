LOWEST = 0
HIGHEST = 255


def clamp(value, low=LOWEST, high=HIGHEST):
    """A value within limits."""
    return max(low, min(high, value))


def to_byte(part):
    """A part of 1 as a byte."""
    return clamp(round(part * HIGHEST))


def to_part(byte):
    """A byte as a part of 1."""
    return clamp(byte) / HIGHEST
