import json

from .errors import StoreError

ENCODING = "utf-8"


def encode(value):
    """A value as bytes."""
    return json.dumps(value, sort_keys=True).encode(ENCODING)


def decode(raw):
    """Bytes back into a value."""
    try:
        return json.loads(raw.decode(ENCODING))
    except ValueError as error:
        raise StoreError("broken value") from error


def size_of(value):
    """How many bytes a value takes."""
    return len(encode(value))
