# dependencies: run MachineError
# --- tests
from stackvm.assembler import assemble

def test_good():
    assert try_run(assemble("push 4")) == 4

def test_stopped():
    assert try_run(assemble("add"), "no") == "no"

def test_other_errors_leave():
    try:
        try_run(None)
    except TypeError:
        return
    assert False
# --- right
def try_run(program: list, default=None):
    try:
        result = run(program)
    except MachineError:
        result = default
    return result
# --- wrong
def try_run(program: list, default=None):
    try:
        return run(program)
    except Exception:
        return default
# --- wrong
def try_run(program: list, default=None):
    try:
        return run(program)
    except RuntimeError:
        return default
