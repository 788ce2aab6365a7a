# dependencies: ENDINGS MIN_STEM
# --- tests
def test_endings():
    assert [stem(w) for w in ("walking", "walked", "boxes", "cats")] == ["walk", "walk", "box", "cat"]

def test_short():
    assert stem("red") == "red" and stem("is") == "is" and stem("king") == "king"

def test_first_that_fits():
    assert stem("uses") == "use"
# --- right
def stem(word: str) -> str:
    for ending in ENDINGS:
        root = word[: len(word) - len(ending)]
        if word.endswith(ending) and len(root) >= MIN_STEM:
            return root
    return word
# --- wrong
def stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending):
            return word[: -len(ending)]
    return word
# --- wrong
def stem(word: str) -> str:
    return word.rstrip("s")
