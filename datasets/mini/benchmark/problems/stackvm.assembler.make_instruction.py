# dependencies: Instruction EFFECTS needs_argument UnknownOperation
# --- tests
def test_argument():
    assert make_instruction("push", 3) == Instruction("push", 3)

def test_no_argument():
    assert make_instruction("add", 3) == Instruction("add")

def test_unknown():
    from stackvm.errors import UnknownOperation as Wanted
    try:
        make_instruction("div")
    except Wanted as error:
        assert str(error) == "div"
    else:
        assert False
# --- right
def make_instruction(name: str, argument=None) -> Instruction:
    if name not in EFFECTS:
        raise UnknownOperation(name)
    if not needs_argument(name):
        argument = None
    return Instruction(name, argument)
# --- wrong
def make_instruction(name: str, argument=None) -> Instruction:
    return Instruction(name, argument)
# --- wrong
def make_instruction(name: str, argument=None) -> Instruction:
    if name not in OPCODES:
        raise UnknownOperation(name)
    return Instruction(name, argument if OPCODES[name].has_argument else None)
