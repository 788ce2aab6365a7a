# dependencies: is_label strip_line
# --- tests
def test_places():
    source = ["start:", "push 1", "", "; note", "LOOP:", "jump start", "end: ; over"]
    assert find_labels(source) == {"start": 0, "loop": 1, "end": 2}

def test_none():
    assert find_labels(["push 1"]) == {}
# --- right
def find_labels(lines: list) -> dict:
    labels, count = {}, 0
    for line in lines:
        text = strip_line(line)
        if is_label(line):
            labels[text.rstrip(":")] = count
        elif text:
            count += 1
    return labels
# --- wrong
def find_labels(lines: list) -> dict:
    return {line.strip()[:-1]: number for number, line in enumerate(lines) if line.strip().endswith(":")}
# --- wrong
def find_labels(lines: list) -> dict:
    labels, count = {}, 0
    for line in lines:
        if is_label(line):
            labels[line.strip()[:-1]] = count
        else:
            count += 1
    return labels
