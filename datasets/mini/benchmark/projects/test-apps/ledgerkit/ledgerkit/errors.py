class LedgerError(Exception):
    """Anything that is wrong with a ledger."""


class Unbalanced(LedgerError):
    """Debits that are not the credits."""


class NoSuchAccount(LedgerError):
    """An account that nobody opened."""


class BadAmount(LedgerError):
    """Text that is no amount."""
