# dependencies: CENTS GROUP POINT SYMBOL
# --- tests
def test_grouped():
    assert format_amount(123450) == "1.234,50 EUR"

def test_small():
    assert format_amount(5) == "0,05 EUR"

def test_negative():
    assert format_amount(-100000007) == "-1.000.000,07 EUR"
# --- right
def format_amount(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), CENTS)
    text = f"{whole:,}".replace(",", GROUP)
    return f"{sign}{text}{POINT}{rest:02d} {SYMBOL}"
# --- plain
def format_amount(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return sign + f"{whole:,}".replace(",", ".") + "," + str(rest).zfill(2) + " EUR"
# --- wrong
def format_amount(cents: int) -> str:
    return f"{cents / CENTS:.2f} {SYMBOL}"
# --- wrong
def format_amount(cents: int) -> str:
    whole, rest = divmod(cents, CENTS)
    return f"{whole:,}".replace(",", GROUP) + POINT + f"{rest:02d} " + SYMBOL
