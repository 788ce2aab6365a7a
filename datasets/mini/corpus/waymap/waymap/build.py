import waymap.paths as paths
from waymap import Pattern
from waymap.errors import RouteError


def build(pattern, **values):
    """The path of a pattern with values."""
    parts = []
    for name, kind in pattern.parts:
        if kind is not None and name not in values:
            raise RouteError("no value for " + name)
        parts.append(name if kind is None else str(values[name]))
    return paths.join_path(*parts)


def build_text(text, **values):
    """The path of a pattern given as text."""
    return build(Pattern(text), **values)


def relative(path, base):
    """A path without the base that it begins with."""
    parts, above = paths.split_path(path), paths.split_path(base)
    if parts[: len(above)] != above:
        raise RouteError("%s is not below %s" % (path, base))
    return paths.join_path(*parts[len(above) :])


def same_path(first, second):
    """Whether two paths lead to the same place."""
    return paths.normalise(first) == paths.normalise(second)
