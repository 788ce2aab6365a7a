# dependencies: Stack
# --- tests
def test_stays():
    stack = Stack([1, 2])
    assert peek(stack) == 2 and stack.values == [1, 2]

def test_default():
    assert peek(Stack()) is None and peek(Stack(), 7) == 7

def test_zero():
    assert peek(Stack([0]), 7) == 0
# --- right
def peek(stack: Stack, default=None):
    if not stack.values:
        return default
    return stack.values[-1]
# --- wrong
def peek(stack: Stack, default=None):
    return stack.pop() if stack.values else default
# --- wrong
def peek(stack: Stack, default=None):
    return (stack.values and stack.values[-1]) or default
