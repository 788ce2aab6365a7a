# dependencies: kind_of DEBIT_KINDS
# --- tests
def test_sides():
    assert grows_by_debit("assets:bank") and grows_by_debit("costs:rent")

def test_others():
    assert not grows_by_debit("income:sales") and not grows_by_debit("debts")

def test_bad():
    from ledgerkit.errors import NoSuchAccount
    try:
        grows_by_debit("other")
    except NoSuchAccount:
        return
    assert False
# --- right
def grows_by_debit(name: str) -> bool:
    kind = kind_of(name)
    return kind in DEBIT_KINDS
# --- wrong
def grows_by_debit(name: str) -> bool:
    return name.split(":")[0] in ("assets", "costs")
# --- wrong
def grows_by_debit(name: str) -> bool:
    return get_account_type(name) in DEBIT_TYPES
