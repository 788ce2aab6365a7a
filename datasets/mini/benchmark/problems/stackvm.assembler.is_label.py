# dependencies: strip_line LABEL_END
# --- tests
def test_label():
    assert is_label("Loop:  ; here it begins") and is_label("a1:")

def test_no_label():
    assert not is_label("push 1") and not is_label("two words:") and not is_label(":")

def test_comment():
    assert not is_label("; not a label:")
# --- right
def is_label(line: str) -> bool:
    line = strip_line(line)
    return line[-1:] == op.LABEL_END and line[:-1].isidentifier()
# --- wrong
def is_label(line: str) -> bool:
    return line.strip().endswith(":")
# --- wrong
def is_label(line: str) -> bool:
    return strip_line(line).endswith(op.LABEL_END)
