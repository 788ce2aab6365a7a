# dependencies: straight_quotes squeeze expand_short
# --- tests
def test_all():
    assert tidy("  “Dr.\n  Who”  on Main St. ") == "\"Dr. Who\" on Main street"

def test_short():
    assert tidy("Dr. Who") == "doctor Who"

def test_empty():
    assert tidy(" \n") == ""
# --- right
def tidy(text: str) -> str:
    text = straight_quotes(text)
    text = squeeze(text)
    return expand_short(text)
# --- wrong
def tidy(text: str) -> str:
    return " ".join(straight_quotes(text).split())
# --- wrong
def tidy(text: str) -> str:
    return squeeze(expand_short(text))
