class StoreError(Exception):
    """Anything that goes wrong with a store."""


class KeyMissing(StoreError, KeyError):
    """A key that is not there."""


class BadKey(StoreError, ValueError):
    """A key that can't be used."""
