# dependencies: require_account balance format_amount
# --- tests
from ledgerkit.journal import Entry, Posting
ENTRIES = [Entry("", [Posting("assets:bank", 123400), Posting("income:sales", -123400)])]

def test_line():
    assert statement_line(ENTRIES, "assets") == "assets: 1.234,00 EUR"

def test_credit():
    assert statement_line(ENTRIES, "income:sales") == "income:sales: 1.234,00 EUR"

def test_missing():
    from ledgerkit.errors import NoSuchAccount
    try:
        statement_line(ENTRIES, "costs")
    except NoSuchAccount:
        return
    assert False
# --- right
def statement_line(entries: list, account: str) -> str:
    account = journal.require_account(entries, account)
    cents = journal.balance(entries, account)
    return f"{account}: {format_amount(cents)}"
# --- wrong
def statement_line(entries: list, account: str) -> str:
    return account + ": " + format_amount(journal.balance(entries, account))
# --- wrong
def statement_line(entries: list, account: str) -> str:
    total = sum(p.cents for e in entries for p in e.postings if p.account == account)
    return f"{account}: {total / 100:.2f} EUR"
