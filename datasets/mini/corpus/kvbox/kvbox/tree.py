from .keys import SEPARATOR, depth, join_key
from .store import Store


def nest(store):
    """The content as nested dictionaries."""
    root = {}
    for key in store.keys():
        place = root
        *above, last = key.split(SEPARATOR)
        for part in above:
            place = place.setdefault(part, {})
        place[last] = store.get(key)
    return root


def flatten(mapping, above=()):
    """A store out of nested dictionaries."""
    store = Store()
    for name, value in mapping.items():
        if isinstance(value, dict):
            for key in flatten(value).keys():
                store.put(join_key(*above, name, key), flatten(value).get(key))
        else:
            store.put(join_key(*above, name), value)
    return store


def deepest(store):
    """The greatest depth of a key."""
    return max((depth(key) for key in store.keys()), default=0)
