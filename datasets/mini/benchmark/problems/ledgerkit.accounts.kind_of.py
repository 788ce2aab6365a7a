# dependencies: SEPARATOR ASSETS DEBTS INCOME COSTS NoSuchAccount
# --- tests
def test_kinds():
    assert kind_of("assets:bank:giro") == "assets" and kind_of("costs") == "costs"

def test_bad():
    from ledgerkit.errors import NoSuchAccount as Wanted
    try:
        kind_of("bank:assets")
    except Wanted as error:
        assert str(error) == "bank:assets"
    else:
        assert False
# --- right
def kind_of(name: str) -> str:
    kind, _, _ = name.partition(SEPARATOR)
    if kind in {ASSETS, DEBTS, INCOME, COSTS}:
        return kind
    raise NoSuchAccount(name)
# --- wrong
def kind_of(name: str) -> str:
    kind = name.split(":")[0]
    if kind not in ("assets", "debts", "income", "costs"):
        raise ValueError("unknown account kind: " + kind)
    return kind
# --- wrong
def kind_of(name: str) -> str:
    for kind in (ASSETS, DEBTS, INCOME, COSTS):
        if kind in name:
            return kind
    raise NoSuchAccount(name)
