from . import rates
from .errors import NegativeAmount, UnknownCurrency


class Money:
    """An amount in a currency."""

    def __init__(self, amount, currency=rates.BASE_CURRENCY):
        self.amount = amount
        self.currency = currency

    def in_base(self):
        """The amount in the base currency."""
        return convert(self, rates.BASE_CURRENCY).amount

    def is_zero(self):
        return round(self.amount, 2) == 0

    def __repr__(self):
        return format_money(self)


def check_currency(code):
    """Raise if there is no rate for a currency."""
    if code not in rates.known_currencies():
        raise UnknownCurrency(code)


def convert(money, code):
    """Convert money into another currency."""
    check_currency(code)
    base = money.amount / rates.rate_of(money.currency)
    return Money(base * rates.rate_of(code), code)


def positive(amount):
    """Return the amount, or raise if it is negative."""
    if amount < 0:
        raise NegativeAmount(amount)
    return amount


def format_money(money):
    """Text such as '3.50 EUR'."""
    return "%.2f %s" % (money.amount, money.currency)
