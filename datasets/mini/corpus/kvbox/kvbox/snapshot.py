import kvbox.codec as codec
from kvbox import Store, StoreError

VERSION = 2


def dump(store):
    """A whole store as bytes."""
    content = {key: store.get(key) for key in store.keys()}
    return codec.encode({"version": VERSION, "content": content})


def restore(raw):
    """A store out of bytes."""
    document = codec.decode(raw)
    if document.get("version") != VERSION:
        raise StoreError("another version")
    store = Store()
    for key, value in document["content"].items():
        store.put(key, value)
    return store


def copy(store):
    """An independent copy."""
    return restore(dump(store))


def same(first, second):
    """Whether two stores hold the same."""
    return dump(first) == dump(second)
