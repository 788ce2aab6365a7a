from . import filters, tokens
from .tokens import FILTER_MARK, TemplateError


class Hole:
    """A name with filters."""

    def __init__(self, name, names=()):
        self.name = name
        self.filters = list(names)

    def fill(self, values):
        """The filtered value."""
        if self.name not in values:
            raise TemplateError("no value for " + self.name)
        return apply_filters(values[self.name], self.filters)


class Template:
    """A parsed template."""

    def __init__(self, text):
        self.pieces = parse(text)

    def names(self):
        """The names that must be given."""
        return {piece.name for piece in self.pieces if isinstance(piece, Hole)}

    def fill(self, values):
        """The text with all holes filled."""
        return "".join(p.fill(values) if isinstance(p, Hole) else p for p in self.pieces)


def apply_filters(value, names):
    """Run a value through filters, one after the other."""
    for name in names:
        function = filters.find_filter(name)
        if function is None:
            raise TemplateError("no filter " + name)
        value = function(value)
    return str(value)


def parse_hole(inside):
    """A hole out of 'name | filter | filter'."""
    name, *names = [part.strip() for part in inside.split(FILTER_MARK)]
    return Hole(name, names)


def parse(text):
    """Literal strings and holes, in order."""
    pieces = []
    for kind, content in tokens.split_tokens(text):
        if kind == "text":
            pieces.append(content)
        elif not tokens.is_comment(content):
            pieces.append(parse_hole(content))
    return pieces
