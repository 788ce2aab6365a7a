# dependencies: stems
# --- tests
def test_counts():
    assert frequencies("A cat and two cats walked") == {"cat": 2, "two": 1, "walk": 1}

def test_empty():
    assert frequencies("the") == {}
# --- right
def frequencies(text: str) -> dict:
    found = stems(text)
    return {word: found.count(word) for word in found}
# --- wrong
def frequencies(text: str) -> dict:
    counts = {}
    for word in split_words(text):
        counts[word] = counts.get(word, 0) + 1
    return counts
# --- wrong
def frequencies(text: str) -> dict:
    return Counter(stems(text))
