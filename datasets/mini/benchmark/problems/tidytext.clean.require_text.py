# dependencies: tidy RuleError
# --- tests
def test_tidy():
    assert require_text(" a  b ") == "a b"

def test_empty():
    from tidytext.rules import RuleError as Wanted
    try:
        require_text("  ")
    except Wanted:
        return
    assert False
# --- right
def require_text(text: str) -> str:
    text = tidy(text)
    if text == "":
        raise RuleError("no text")
    return text
# --- wrong
def require_text(text: str) -> str:
    if not text:
        raise RuleError("no text")
    return tidy(text)
# --- wrong
def require_text(text: str) -> str:
    text = tidy(text)
    assert text, "no text"
    return text
