# dependencies: Entry format_amount Unbalanced
# --- tests
def test_balanced():
    entry = Entry("x", [Posting("a", 5), Posting("b", -5)])
    assert check_entry(entry) is entry

def test_message():
    from ledgerkit.errors import Unbalanced as Wanted
    try:
        check_entry(Entry("x", [Posting("a", 150), Posting("b", -100)]))
    except Wanted as error:
        assert str(error) == "0,50 EUR"
    else:
        assert False
# --- right
def check_entry(entry: Entry) -> Entry:
    difference = 0
    for posting in entry.postings:
        difference += posting.cents
    if difference != 0:
        raise Unbalanced(amounts.format_amount(difference))
    return entry
# --- wrong
def check_entry(entry: Entry) -> Entry:
    difference = sum(posting.cents for posting in entry.postings)
    if difference != 0:
        raise ValueError("entry is off by %d" % difference)
    return entry
# --- wrong
def check_entry(entry: Entry) -> Entry:
    difference = sum(posting.cents for posting in entry.postings)
    if difference != 0:
        raise Unbalanced("%.2f EUR" % (difference / 100))
    return entry
