# dependencies: sentences SENTENCE_END WIDTH
# --- tests
def test_first():
    assert headline("It rains!  Stay in.") == "It rains"

def test_cut():
    assert len(headline("word " * 30)) == 40

def test_short_forms():
    assert headline("Dr. Who came. He left.") == "doctor Who came"

def test_empty():
    assert headline("") == ""
# --- right
def headline(text: str) -> str:
    for sentence in sentences(text):
        return sentence.rstrip(SENTENCE_END)[:WIDTH]
    return ""
# --- wrong
def headline(text: str) -> str:
    return text.split(".")[0][:WIDTH]
# --- wrong
def headline(text: str) -> str:
    return sentences(text)[0].rstrip(SENTENCE_END)[:WIDTH]
