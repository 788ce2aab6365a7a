# dependencies:
# --- tests
def test_adds_up():
    assert split_evenly(100, 3) == [34, 33, 33]

def test_even():
    assert split_evenly(90, 3) == [30, 30, 30]

def test_less_than_parts():
    assert split_evenly(2, 4) == [1, 1, 0, 0]
# --- right
def split_evenly(cents: int, parts: int) -> list:
    return [cents // parts + (1 if at < cents % parts else 0) for at in range(parts)]
# --- wrong
def split_evenly(cents: int, parts: int) -> list:
    share = cents // parts
    return [share] * (parts - 1) + [cents - share * (parts - 1)]
# --- wrong
def split_evenly(cents: int, parts: int) -> list:
    return [round(cents / parts)] * parts
