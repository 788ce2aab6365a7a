# dependencies: stem split_words
# --- tests
def test_forms():
    assert mentions("Walking, he walked past walks.", "Walk") == 3

def test_other_words():
    assert mentions("A walker", "walk") == 0
# --- right
def mentions(text: str, word: str) -> int:
    target = stem(word.lower())
    return [stem(found) for found in split_words(text)].count(target)
# --- wrong
def mentions(text: str, word: str) -> int:
    return text.lower().count(word.lower())
# --- wrong
def mentions(text: str, word: str) -> int:
    return split_words(text).count(stem(word))
