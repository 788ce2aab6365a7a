from .errors import BadKey

SEPARATOR = "/"
MAX_LENGTH = 64
FORBIDDEN = set("\n\t\0")


def check_key(key):
    """Return the key, or raise if it can't be used."""
    if not key or len(key) > MAX_LENGTH or FORBIDDEN & set(key):
        raise BadKey(repr(key))
    return key


def join_key(*parts):
    """One key out of parts."""
    return check_key(SEPARATOR.join(parts))


def parent(key):
    """The key above, or an empty string."""
    return key.rpartition(SEPARATOR)[0]


def depth(key):
    """How many levels a key has."""
    return key.count(SEPARATOR) + 1
