# dependencies: stems
# --- tests
def test_part():
    assert similarity("red cats", "a red dog") == 1 / 3

def test_same():
    assert similarity("Cats walk", "the cat walked") == 1.0

def test_empty():
    assert similarity("the", "of") == 1.0
# --- right
def similarity(first: str, second: str) -> float:
    a = set(stems(first))
    b = set(stems(second))
    if not a and not b:
        return 1.0
    return len(a.intersection(b)) / len(a.union(b))
# --- wrong
def similarity(first: str, second: str) -> float:
    a, b = set(first.lower().split()), set(second.lower().split())
    return len(a & b) / len(a | b)
# --- wrong
def similarity(first: str, second: str) -> float:
    a, b = set(stems(first)), set(stems(second))
    return len(a & b) / max(len(a), len(b))
