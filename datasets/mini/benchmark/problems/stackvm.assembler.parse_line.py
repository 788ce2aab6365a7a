# dependencies: Instruction strip_line make_instruction needs_argument BadSource
# --- tests
def test_number():
    assert parse_line("push -3 ; three", 1, {}) == Instruction("push", -3)

def test_label():
    assert parse_line("jz end", 1, {"end": 4}) == Instruction("jz", 4)

def test_bad():
    from stackvm.errors import BadSource as Wanted
    for line in ("push", "add 1", "push x"):
        try:
            parse_line(line, 9, {})
        except Wanted as error:
            assert error.line == 9
        else:
            assert False, line

def test_unknown():
    from stackvm.errors import UnknownOperation as Wanted
    try:
        parse_line("div", 1, {})
    except Wanted:
        return
    assert False
# --- right
def parse_line(line: str, number: int, labels: dict) -> Instruction:
    words = strip_line(line).split()
    instruction = make_instruction(words[0])
    if len(words) - 1 != (1 if needs_argument(words[0]) else 0):
        raise BadSource(number, line)
    if len(words) == 2:
        if words[1] in labels:
            instruction.argument = labels[words[1]]
        else:
            try:
                instruction.argument = int(words[1])
            except ValueError:
                raise BadSource(number, line)
    return instruction
# --- wrong
def parse_line(line: str, number: int, labels: dict) -> Instruction:
    name, *rest = line.split()
    if rest:
        return make_instruction(name, labels.get(rest[0], int(rest[0])))
    return make_instruction(name)
# --- wrong
def parse_line(line: str, number: int, labels: dict) -> Instruction:
    words = strip_line(line).split()
    if needs_argument(words[0]) and len(words) < 2:
        raise BadSource(number, line)
    argument = words[1] if len(words) > 1 else None
    return make_instruction(words[0], labels.get(argument, argument))
