# dependencies: squeeze WIDTH RuleError
# --- tests
def test_full():
    assert wrap("aa bb  cc\ndd", 5) == ["aa bb", "cc dd"]

def test_long_word():
    assert wrap("a longword b", 4) == ["a", "longword", "b"]

def test_default():
    assert wrap("x" * 20 + " " + "y" * 19) == ["x" * 20 + " " + "y" * 19]

def test_bad():
    from tidytext.rules import RuleError as Wanted
    try:
        wrap("a", 0)
    except Wanted:
        return
    assert False
# --- right
def wrap(text: str, width: int = WIDTH) -> list:
    if width < 1:
        raise RuleError("width %d" % width)
    lines, line = [], ""
    for word in cleaning.squeeze(text).split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    return lines + [line] if line else lines
# --- wrong
def wrap(text: str, width: int = WIDTH) -> list:
    import textwrap
    return textwrap.wrap(text, width)
# --- wrong
def wrap(text: str, width: int = WIDTH) -> list:
    if width < 1:
        raise RuleError("width %d" % width)
    return [text[at : at + width] for at in range(0, len(text), width)]
