from . import converters
from .paths import normalise, split_path

OPEN, CLOSE = "<", ">"


class Pattern:
    """A path with variables."""

    def __init__(self, text):
        self.text = normalise(text)
        self.parts = [parse_part(part) for part in split_path(text)]

    def match(self, path):
        """The values of a path, or None."""
        given = split_path(path)
        if len(given) != len(self.parts):
            return None
        return match_parts(self.parts, given)

    def variables(self):
        """The names of the variables."""
        return [name for name, kind in self.parts if kind is not None]


def parse_part(part):
    """Name and converter of a part; no converter for fixed text."""
    if not (part.startswith(OPEN) and part.endswith(CLOSE)):
        return part, None
    kind, _, name = part[1:-1].rpartition(":")
    return name, kind or converters.DEFAULT


def match_parts(parts, given):
    """The values of path parts, or None."""
    values = {}
    for (name, kind), text in zip(parts, given):
        if kind is None:
            if name != text:
                return None
            continue
        values[name] = converters.convert(text, kind)
        if values[name] is None:
            return None
    return values


def compile_pattern(text):
    """A pattern, checked for double variables."""
    pattern = Pattern(text)
    names = pattern.variables()
    if len(set(names)) < len(names):
        raise ValueError("double variable in " + text)
    return pattern
