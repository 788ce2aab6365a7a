# dependencies: straight_quotes WORD
# --- tests
def test_words():
    assert split_words("The cat's 2 Hats, red.") == ["the", "cat's", "hats", "red"]

def test_curly():
    assert split_words("Don’t") == ["don't"]
# --- right
def split_words(text: str) -> list:
    text = straight_quotes(text).lower()
    return [match.group(0) for match in WORD.finditer(text)]
# --- wrong
def split_words(text: str) -> list:
    return text.lower().split()
# --- wrong
def split_words(text: str) -> list:
    return re.findall(r"[a-z']+", text.lower())
