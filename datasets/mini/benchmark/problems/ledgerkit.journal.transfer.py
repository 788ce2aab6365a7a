# dependencies: Entry Posting
# --- tests
def test_postings():
    entry = transfer("assets:bank", "costs:rent", 700)
    assert [(p.account, p.cents) for p in entry.postings] == [("costs:rent", 700), ("assets:bank", -700)]

def test_text():
    assert transfer("a", "b", 1).text == "a -> b"
# --- right
def transfer(source: str, target: str, cents: int) -> Entry:
    debit, credit = Posting(target, cents), Posting(source, -cents)
    return Entry(f"{source} -> {target}", [debit, credit])
# --- wrong
def transfer(source: str, target: str, cents: int) -> Entry:
    return Entry(source + " -> " + target, [Posting(source, cents), Posting(target, -cents)])
# --- wrong
def transfer(source: str, target: str, cents: int):
    return Transaction(source=source, target=target, amount=cents)
