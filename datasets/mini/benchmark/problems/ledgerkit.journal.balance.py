# dependencies: parents grows_by_debit
# --- tests
ENTRIES = [
    Entry("", [Posting("assets:bank:giro", 300), Posting("income:sales", -300)]),
    Entry("", [Posting("costs:rent", 120), Posting("assets:bank", -120)]),
]

def test_debit_side():
    assert balance(ENTRIES, "assets:bank") == 180 and balance(ENTRIES, "assets") == 180

def test_credit_side():
    assert balance(ENTRIES, "income") == 300

def test_names_are_whole():
    assert balance([Entry("", [Posting("assets:bankrupt", 5)])], "assets:bank") == 0
# --- right
def balance(entries: list, account: str) -> int:
    total = sum(
        posting.cents
        for entry in entries
        for posting in entry.postings
        if account in [posting.account] + parents(posting.account)
    )
    return total if grows_by_debit(account) else -total
# --- plain
def balance(entries: list, account: str) -> int:
    total = 0
    for entry in entries:
        for posting in entry.postings:
            if posting.account == account or posting.account.startswith(account + ":"):
                total += posting.cents
    return total if account.split(":")[0] in ("assets", "costs") else -total
# --- wrong
def balance(entries: list, account: str) -> int:
    total = 0
    for entry in entries:
        for posting in entry.postings:
            if posting.account.startswith(account):
                total += posting.cents
    return total
# --- wrong
def balance(entries: list, account: str) -> int:
    return sum(p.cents for e in entries for p in e.postings if p.account == account)
