from .colour import BLACK, WHITE, Colour

NAMED = {
    "black": BLACK,
    "white": WHITE,
    "red": Colour(255, 0, 0),
    "green": Colour(0, 128, 0),
    "blue": Colour(0, 0, 255),
}


def by_name(name):
    """The colour of a name, or None."""
    return NAMED.get(name.strip().lower())


def name_of(colour):
    """The name of a colour, or its hexadecimal form."""
    for name, known in NAMED.items():
        if known == colour:
            return name
    return colour.hex()
