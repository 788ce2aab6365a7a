"""Statements for people."""

from . import journal
from .accounts import COSTS, INCOME
from .amounts import format_amount, split_evenly
from .journal import transfer


def profit(entries: list) -> int:
    """
    Income less costs, in cents.

    :param entries: The entries.
    :return: Cents, negative for a loss.
    """
    return journal.balance(entries, INCOME) - journal.balance(entries, COSTS)


def statement_line(entries: list, account: str) -> str:
    """
    An account and its balance as text, parted by ': '.

    :param entries: The entries.
    :param account: The account's name.
    :return: Text such as 'assets:bank: 12,50 EUR'.
    :raises NoSuchAccount: If no entry uses the account.
    """
    name = journal.require_account(entries, account)
    return "%s: %s" % (name, format_amount(journal.balance(entries, name)))


def share_cost(payer: str, sharers: list, cents: int) -> list:
    """
    One transfer from the payer to each sharer, of parts as equal as can be.

    :param payer: The account that pays.
    :param sharers: The accounts that share, in order; the first ones bear odd cents.
    :param cents: The whole cost.
    :return: The entries.
    """
    parts = split_evenly(cents, len(sharers))
    return [transfer(payer, sharer, part) for sharer, part in zip(sharers, parts)]


def overview(entries: list) -> list:
    """
    A statement line for every used account, in the order of the names.

    :param entries: The entries.
    :return: Lines of text.
    """
    return [statement_line(entries, account) for account in journal.used_accounts(entries)]
