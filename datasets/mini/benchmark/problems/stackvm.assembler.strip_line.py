# dependencies: COMMENT
# --- tests
def test_comment():
    assert strip_line("  PUSH 3 ; three") == "push 3"

def test_nothing():
    assert strip_line("; only a comment") == "" and strip_line("   ") == ""
# --- right
def strip_line(line: str) -> str:
    code, _, _ = line.partition(op.COMMENT)
    return code.strip().lower()
# --- plain
def strip_line(line: str) -> str:
    return line.split(";", 1)[0].strip().lower()
# --- wrong
def strip_line(line: str) -> str:
    return line.split("#")[0].strip().lower()
# --- wrong
def strip_line(line: str) -> str:
    return line.strip().lower()
