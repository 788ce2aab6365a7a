# dependencies: Machine MAX_STEPS peek step OutOfSteps
# --- tests
from stackvm.assembler import assemble

def test_result():
    assert run(assemble("push 2\npush 3\nmul")) == 6

def test_loop():
    source = "push 3\nloop:\ndup\njz end\npush 1\nsub\njump loop\nend:\npush 9\nhalt\npush 1"
    assert run(assemble(source)) == 9

def test_empty():
    assert run([]) is None

def test_endless():
    from stackvm.errors import OutOfSteps as Wanted
    try:
        run(assemble("loop:\njump loop"))
    except Wanted:
        return
    assert False
# --- right
def run(program: list):
    machine = Machine(program)
    steps = 0
    while machine.running():
        if steps >= MAX_STEPS:
            raise OutOfSteps(MAX_STEPS)
        step(machine)
        steps += 1
    return peek(machine.stack)
# --- wrong
def run(program: list):
    machine = Machine(program)
    for instruction in program:
        step(machine)
    return machine.stack.pop()
# --- wrong
def run(program: list):
    machine = Machine(program)
    machine.execute()
    return machine.result()
# --- endless
def run(program: list):
    machine = Machine(program)
    while machine.running():
        step(machine)
    return peek(machine.stack)
