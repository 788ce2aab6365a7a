# dependencies: Entry Posting parse_amount check_entry
# --- tests
def test_read():
    entry = read_entry("rent", ["costs:rent  500,00", "assets:bank  -500,00"])
    assert [(p.account, p.cents) for p in entry.postings] == [("costs:rent", 50000), ("assets:bank", -50000)]
    assert entry.text == "rent"

def test_unbalanced():
    from ledgerkit.errors import Unbalanced
    try:
        read_entry("x", ["costs:rent 1,00"])
    except Unbalanced:
        return
    assert False
# --- right
def read_entry(text: str, lines: list) -> Entry:
    def posting(line):
        account, amount = line.rsplit(" ", 1)
        return Posting(account.strip(), amounts.parse_amount(amount))
    return check_entry(Entry(text, [posting(line) for line in lines]))
# --- wrong
def read_entry(text: str, lines: list) -> Entry:
    postings = []
    for line in lines:
        account, amount = line.split()
        postings.append(Posting(account, int(float(amount.replace(",", ".")) * 100)))
    return Entry(text, postings)
# --- wrong
def read_entry(text: str, lines: list) -> Entry:
    entry = Entry(text)
    for line in lines:
        account, amount = line.rsplit(" ", 1)
        entry.add_posting(account.strip(), parse_cents(amount))
    entry.validate()
    return entry
