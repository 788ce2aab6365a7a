# dependencies: stem content_words
# --- tests
def test_stems():
    assert stems("The cats walked on the roofs") == ["cat", "walk", "roof"]

def test_empty():
    assert stems("of the") == []
# --- right
def stems(text: str) -> list:
    return list(map(stem, content_words(text)))
# --- wrong
def stems(text: str) -> list:
    return [stem(word) for word in split_words(text)]
# --- wrong
def stems(text: str) -> list:
    return sorted({stem(word) for word in content_words(text)})
