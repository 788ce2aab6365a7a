"""Exchange and tax rates."""

BASE_CURRENCY = "EUR"
RATES = {"EUR": 1.0, "USD": 1.1, "GBP": 0.85}
STANDARD_TAX = 0.19
REDUCED_TAX = 0.07
REDUCED_GOODS = {"book", "bread"}


def tax_rate(goods):
    """The tax rate of a kind of goods."""
    return REDUCED_TAX if goods in REDUCED_GOODS else STANDARD_TAX


def rate_of(code):
    """How many units of a currency one base unit buys."""
    return RATES[code]


def known_currencies():
    """All currency codes, sorted."""
    return sorted(RATES)
