# dependencies: used_accounts SEPARATOR NoSuchAccount
# --- tests
ENTRIES = [Entry("", [Posting("assets:bank:giro", 1), Posting("debts", -1)])]

def test_used():
    assert require_account(ENTRIES, "debts") == "debts"

def test_above():
    assert require_account(ENTRIES, "assets:bank") == "assets:bank"

def test_missing():
    from ledgerkit.errors import NoSuchAccount as Wanted
    try:
        require_account(ENTRIES, "assets:ban")
    except Wanted:
        return
    assert False
# --- right
def require_account(entries: list, name: str) -> str:
    used = used_accounts(entries)
    if name in used or any(other.startswith(name + SEPARATOR) for other in used):
        return name
    raise NoSuchAccount(name)
# --- wrong
def require_account(entries: list, name: str) -> str:
    for entry in entries:
        for posting in entry.postings:
            if posting.account.startswith(name):
                return name
    raise NoSuchAccount(name)
# --- wrong
def require_account(entries: list, name: str) -> str:
    for entry in entries:
        for posting in entry.postings:
            if posting.account == name or posting.account.startswith(name + ":"):
                return name
    raise KeyError(name)
