# dependencies: Stack pop_two ADD SUB MUL
# --- tests
def result(values, name):
    stack = Stack(values)
    calculate(stack, name)
    return stack.values

def test_all():
    assert result([9, 2, 5], "add") == [9, 7]
    assert result([2, 5], "sub") == [-3]
    assert result([2, 5], "mul") == [10]

def test_empty():
    from stackvm.errors import StackEmpty
    stack = Stack([4])
    try:
        calculate(stack, "add")
    except StackEmpty:
        assert stack.values == [4]
    else:
        assert False
# --- right
def calculate(stack: Stack, name: str) -> None:
    first, second = stacks.pop_two(stack)
    results = {ADD: first + second, SUB: first - second, MUL: first * second}
    stack.push(results[name])
# --- wrong
def calculate(stack: Stack, name: str) -> None:
    first, second = stack.pop(), stack.pop()
    if name == ADD:
        stack.push(first + second)
    elif name == SUB:
        stack.push(first - second)
    else:
        stack.push(first * second)
# --- wrong
def calculate(stack: Stack, name: str) -> None:
    second, first = stack.pop(), stack.pop()
    stack.push({"add": first + second, "sub": first - second, "mul": first * second}[name])
