# dependencies: Account kind_of
# --- tests
def test_account():
    account = open_account("income:sales")
    assert (account.name, account.kind) == ("income:sales", "income")

def test_type():
    assert type(open_account("debts")).__name__ == "Account"

def test_bad():
    from ledgerkit.errors import NoSuchAccount
    try:
        open_account("cash")
    except NoSuchAccount:
        return
    assert False
# --- right
def open_account(name: str) -> Account:
    kind = kind_of(name)
    return Account(name=name, kind=kind)
# --- wrong
def open_account(name: str) -> Account:
    return Account(name, name.split(":")[0])
# --- wrong
def open_account(name: str):
    return {"name": name, "kind": name.split(":")[0]}
