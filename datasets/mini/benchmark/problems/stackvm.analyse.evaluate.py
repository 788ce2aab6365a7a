# dependencies: run assemble
# --- tests
def test_sum():
    assert evaluate("push 2\npush 5\nadd ; seven") == 7

def test_nothing():
    assert evaluate("") is None

def test_labels():
    assert evaluate("jump end\npush 1\nend:\npush 2") == 2
# --- right
def evaluate(source: str):
    program = assembler.assemble(source)
    return run(program)
# --- wrong
def evaluate(source: str):
    return eval(source)
# --- wrong
def evaluate(source: str):
    return run(assembler.parse(source))
