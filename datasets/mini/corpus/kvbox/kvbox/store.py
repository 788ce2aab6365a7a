from . import codec, keys
from .errors import KeyMissing


class Store:
    """Values by key, encoded."""

    def __init__(self):
        self._raw = {}

    def put(self, key, value):
        """Keep a value."""
        self._raw[keys.check_key(key)] = codec.encode(value)

    def get(self, key, default=None):
        """The value of a key, or a default."""
        if key not in self._raw:
            return default
        return codec.decode(self._raw[key])

    def require(self, key):
        """The value of a key that must be there."""
        if key not in self._raw:
            raise KeyMissing(key)
        return self.get(key)

    def keys(self):
        """All keys, sorted."""
        return sorted(self._raw)

    def under(self, key):
        """The keys directly below another."""
        return [k for k in self.keys() if keys.parent(k) == key]

    def bytes_used(self):
        return sum(len(raw) for raw in self._raw.values())
