# dependencies: Stack StackEmpty
# --- tests
def test_order():
    stack = Stack([1, 2, 3])
    assert pop_two(stack) == (2, 3) and stack.values == [1]

def test_too_few():
    from stackvm.errors import StackEmpty as Wanted
    stack = Stack([1])
    try:
        pop_two(stack)
    except Wanted:
        assert stack.values == [1]
    else:
        assert False
# --- right
def pop_two(stack: Stack) -> tuple:
    if len(stack.values) < 2:
        raise StackEmpty()
    top = stack.pop()
    below = stack.pop()
    return below, top
# --- wrong
def pop_two(stack: Stack) -> tuple:
    second = stack.pop()
    first = stack.pop()
    return first, second
# --- wrong
def pop_two(stack: Stack) -> tuple:
    if len(stack.values) < 2:
        raise IndexError("pop from empty stack")
    return stack.values.pop(-2), stack.values.pop()
