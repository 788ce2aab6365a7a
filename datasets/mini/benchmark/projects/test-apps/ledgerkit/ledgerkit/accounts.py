"""The chart of accounts."""

from .errors import NoSuchAccount

ASSETS, DEBTS, INCOME, COSTS = "assets", "debts", "income", "costs"
DEBIT_KINDS = (ASSETS, COSTS)
SEPARATOR = ":"


class Account:
    """A named account of a kind."""

    def __init__(self, name, kind):
        self.name = name
        self.kind = kind


def kind_of(name: str) -> str:
    """
    The kind of an account, which is the first part of its name.

    :param name: A name such as 'assets:bank'.
    :return: One of the four kinds.
    :raises NoSuchAccount: If the first part is no kind.
    """
    kind = name.split(SEPARATOR)[0]
    if kind not in (ASSETS, DEBTS, INCOME, COSTS):
        raise NoSuchAccount(name)
    return kind


def grows_by_debit(name: str) -> bool:
    """
    Whether a debit makes an account's balance larger.

    :param name: The account's name.
    :return: True for assets and costs.
    """
    return kind_of(name) in DEBIT_KINDS


def open_account(name: str) -> Account:
    """
    Open an account under a name whose first part says the kind.

    :param name: A name such as 'income:sales'.
    :return: The account.
    :raises NoSuchAccount: If the first part is no kind.
    """
    return Account(name, kind_of(name))


def parents(name: str) -> list:
    """
    The names above a name, the nearest first.

    :param name: A name such as 'assets:bank:giro'.
    :return: ['assets:bank', 'assets'] for that one.
    """
    parts = name.split(SEPARATOR)
    return [SEPARATOR.join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
