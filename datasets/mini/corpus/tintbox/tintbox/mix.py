from .colour import BLACK, WHITE, Colour
from .limits import clamp, to_byte, to_part


def blend(first, second, share=0.5):
    """A colour between two."""
    share = clamp(share, 0, 1)
    pairs = zip(first.channels(), second.channels())
    return Colour(*(round(a + (b - a) * share) for a, b in pairs))


def lighter(colour, share=0.2):
    """A colour nearer to white."""
    return blend(colour, WHITE, share)


def darker(colour, share=0.2):
    """A colour nearer to black."""
    return blend(colour, BLACK, share)


def gradient(first, second, steps):
    """Colours from one to the other."""
    if steps < 2:
        return [first]
    return [blend(first, second, step / (steps - 1)) for step in range(steps)]


def grey(colour):
    """The grey of the same brightness."""
    return Colour(*[to_byte(colour.brightness())] * 3)


def multiply(first, second):
    """Channel by channel as parts of 1."""
    return Colour(*(to_byte(to_part(a) * to_part(b)) for a, b in zip(first.channels(), second.channels())))
