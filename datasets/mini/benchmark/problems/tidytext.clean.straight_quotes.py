# dependencies: QUOTES
# --- tests
def test_quotes():
    assert straight_quotes("“Don’t”") == "\"Don't\""

def test_single():
    assert straight_quotes("‘a’") == "'a'"
# --- right
def straight_quotes(text: str) -> str:
    return "".join(QUOTES.get(letter, letter) for letter in text)
# --- plain
def straight_quotes(text: str) -> str:
    return text.translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'"})
# --- wrong
def straight_quotes(text: str) -> str:
    return text.replace("“", '"').replace("”", '"')
# --- wrong
def straight_quotes(text: str) -> str:
    return normalize_quotes(text)
