"""Entries, and what they come to."""

import ledgerkit.amounts as amounts
from .accounts import SEPARATOR, grows_by_debit, parents
from .errors import NoSuchAccount, Unbalanced


class Posting:
    """A part of an entry: positive cents are a debit."""

    def __init__(self, account, cents):
        self.account = account
        self.cents = cents


class Entry:
    """Postings that add up to nothing."""

    def __init__(self, text, postings):
        self.text = text
        self.postings = list(postings)


def check_entry(entry: Entry) -> Entry:
    """
    Return an entry whose postings add up to nothing.

    :param entry: The entry.
    :return: The same entry.
    :raises Unbalanced: If there is a difference; its message is the difference as text.
    """
    difference = sum(posting.cents for posting in entry.postings)
    if difference:
        raise Unbalanced(amounts.format_amount(difference))
    return entry


def read_entry(text: str, lines: list) -> Entry:
    """
    An entry out of lines such as 'assets:bank  12,50'; account and amount are parted by the last
    space of the line.

    :param text: What it is about.
    :param lines: One posting a line.
    :return: The entry.
    :raises Unbalanced: If the postings do not add up to nothing.
    """
    postings = []
    for line in lines:
        account, _, amount = line.rpartition(" ")
        postings.append(Posting(account.strip(), amounts.parse_amount(amount)))
    return check_entry(Entry(text, postings))


def transfer(source: str, target: str, cents: int) -> Entry:
    """
    An entry that moves cents from one account to another. Its text is 'source -> target'.

    :param source: The account that is credited.
    :param target: The account that is debited.
    :param cents: How much.
    :return: The entry; the debit comes first.
    """
    postings = [Posting(target, cents), Posting(source, -cents)]
    return Entry("%s -> %s" % (source, target), postings)


def balance(entries: list, account: str) -> int:
    """
    The balance of an account and of those below it, positive on the side on which it grows.

    :param entries: The entries.
    :param account: The account's name.
    :return: Cents.
    """
    total = 0
    for entry in entries:
        for posting in entry.postings:
            if posting.account == account or account in parents(posting.account):
                total += posting.cents
    return total if grows_by_debit(account) else -total


def used_accounts(entries: list) -> list:
    """
    The names of all accounts in entries, sorted, each once.

    :param entries: The entries.
    :return: Names.
    """
    return sorted({posting.account for entry in entries for posting in entry.postings})


def require_account(entries: list, name: str) -> str:
    """
    Return the name of an account that some entry uses, or that is above a used one.

    :param entries: The entries.
    :param name: The account's name.
    :return: The same name.
    :raises NoSuchAccount: If no entry uses it.
    """
    for used in used_accounts(entries):
        if used == name or used.startswith(name + SEPARATOR):
            return name
    raise NoSuchAccount(name)
