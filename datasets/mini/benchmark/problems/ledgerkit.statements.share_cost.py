# dependencies: split_evenly transfer
# --- tests
def test_parts():
    entries = share_cost("assets:bank", ["debts:ann", "debts:bob", "debts:cy"], 100)
    assert [e.postings[0].cents for e in entries] == [34, 33, 33]

def test_accounts():
    entries = share_cost("a", ["b", "c"], 10)
    assert [[p.account for p in e.postings] for e in entries] == [["b", "a"], ["c", "a"]]
# --- right
def share_cost(payer: str, sharers: list, cents: int) -> list:
    entries = []
    for sharer, part in zip(sharers, split_evenly(cents, len(sharers))):
        entries.append(transfer(payer, sharer, part))
    return entries
# --- wrong
def share_cost(payer: str, sharers: list, cents: int) -> list:
    part = cents // len(sharers)
    return [transfer(payer, sharer, part) for sharer in sharers]
# --- wrong
def share_cost(payer: str, sharers: list, cents: int) -> list:
    parts = split_evenly(cents, len(sharers))
    return [transfer(sharer, payer, part) for sharer, part in zip(sharers, parts)]
