"""Amounts in cents."""

from .errors import BadAmount

CENTS = 100
SYMBOL = "EUR"
GROUP = "."
POINT = ","


def parse_amount(text: str) -> int:
    """
    Cents out of text such as '1.234,50'. A point groups thousands, a comma stands before cents.

    :param text: The text, which may hold spaces around it.
    :return: The amount in cents.
    :raises BadAmount: If it is no amount.
    """
    whole, _, cents = text.strip().replace(GROUP, "").partition(POINT)
    if not whole.lstrip("-").isdigit() or (cents and not cents.isdigit()) or len(cents) > 2:
        raise BadAmount(text)
    value = abs(int(whole)) * CENTS + int(cents.ljust(2, "0") or 0)
    return -value if whole.startswith("-") else value


def format_amount(cents: int) -> str:
    """
    Text for cents: thousands grouped by points, two digits of cents, and the symbol.

    :param cents: The amount in cents, perhaps negative.
    :return: Text such as '-1.234,50 EUR'.
    """
    whole, rest = divmod(abs(cents), CENTS)
    grouped = "{:,}".format(whole).replace(",", GROUP)
    sign = "-" if cents < 0 else ""
    return "%s%s%s%02d %s" % (sign, grouped, POINT, rest, SYMBOL)


def split_evenly(cents: int, parts: int) -> list:
    """
    Parts that differ by a cent at most and add up to the whole; larger ones first.

    :param cents: The amount in cents, not negative.
    :param parts: How many parts.
    :return: The parts.
    """
    share, rest = divmod(cents, parts)
    return [share + 1] * rest + [share] * (parts - rest)
