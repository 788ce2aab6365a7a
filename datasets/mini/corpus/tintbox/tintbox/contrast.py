import tintbox.parse as parsing
from tintbox import BLACK, WHITE


def contrast(first, second):
    """The difference of brightness, 0 to 1."""
    return abs(first.brightness() - second.brightness())


def readable(text_colour, background, minimum=0.4):
    """Whether text can be read on a background; both as text."""
    return contrast(parsing.parse(text_colour), parsing.parse(background)) >= minimum


def best_text(background):
    """Black or white, whichever stands out more."""
    return max((BLACK, WHITE), key=lambda colour: contrast(colour, background))


def all_colours(words):
    """The colours among words."""
    return [parsing.parse(word) for word in words if parsing.is_colour(word)]
