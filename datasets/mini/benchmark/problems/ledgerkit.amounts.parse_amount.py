# dependencies: BadAmount CENTS GROUP POINT
# --- tests
def test_grouped():
    assert parse_amount(" 1.234,50 ") == 123450

def test_short_cents():
    assert parse_amount("3,5") == 350 and parse_amount("7") == 700

def test_negative():
    assert parse_amount("-0,05") == -5

def test_bad():
    from ledgerkit.errors import BadAmount as Wanted
    for text in ("", "x", "1,234", "1,x"):
        try:
            parse_amount(text)
        except Wanted:
            continue
        assert False, text
# --- right
def parse_amount(text: str) -> int:
    text = text.strip().replace(GROUP, "")
    negative = text.startswith("-")
    whole, _, cents = text.lstrip("-").partition(POINT)
    if not whole.isdigit() or len(cents) > 2 or (cents and not cents.isdigit()):
        raise BadAmount(text)
    value = int(whole) * CENTS + int((cents + "00")[:2])
    return -value if negative else value
# --- wrong
def parse_amount(text: str) -> int:
    return int(float(text.replace(".", "").replace(",", ".")) * 100)
# --- wrong
def parse_amount(text: str) -> int:
    try:
        whole, cents = text.strip().replace(GROUP, "").split(POINT)
        return int(whole) * CENTS + int(cents)
    except ValueError:
        raise ValueError("not an amount: " + text)
