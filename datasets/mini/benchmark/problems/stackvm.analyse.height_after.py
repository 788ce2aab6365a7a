# dependencies: stack_change
# --- tests
from stackvm.assembler import assemble

def test_height():
    assert height_after(assemble("push 1\npush 2\ndup\nadd")) == 2

def test_negative():
    assert height_after(assemble("pop\nadd")) == -2

def test_empty():
    assert height_after([]) == 0
# --- right
def height_after(program: list) -> int:
    height = 0
    for instruction in program:
        height += stack_change(instruction.name)
    return height
# --- plain
def height_after(program: list) -> int:
    changes = {"push": 1, "dup": 1, "add": -1, "sub": -1, "mul": -1, "pop": -1, "jz": -1}
    return sum(changes.get(instruction.name, 0) for instruction in program)
# --- wrong
def height_after(program: list) -> int:
    return len([i for i in program if i.name == "push"])
# --- wrong
def height_after(program: list) -> int:
    height = 0
    for instruction in program:
        height = max(0, height + stack_change(instruction.name))
    return height
