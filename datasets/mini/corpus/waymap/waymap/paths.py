SLASH = "/"


def split_path(path):
    """The parts of a path without empty ones."""
    return [part for part in path.split(SLASH) if part]


def join_path(*parts):
    """One path out of parts."""
    return SLASH + SLASH.join(part.strip(SLASH) for part in parts)


def normalise(path):
    """A path without double slashes and a slash at the end."""
    return join_path(*split_path(path))
