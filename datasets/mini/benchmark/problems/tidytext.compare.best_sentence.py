# dependencies: sentences similarity
# --- tests
TEXT = "Dr. Who has a cat. The dog sleeps! Cats walk."

def test_best():
    assert best_sentence(TEXT, "Where do cats walk?") == "Cats walk."

def test_first_of_equals():
    assert best_sentence(TEXT, "unrelated") == "doctor Who has a cat."
# --- right
def best_sentence(text: str, question: str) -> str:
    best, score = None, -1.0
    for sentence in sentences(text):
        alike = similarity(sentence, question)
        if alike > score:
            best, score = sentence, alike
    return best
# --- wrong
def best_sentence(text: str, question: str) -> str:
    return max(text.split("."), key=lambda sentence: similarity(sentence, question))
# --- wrong
def best_sentence(text: str, question: str) -> str:
    return sorted(sentences(text), key=lambda s: similarity(s, question))[-1]
