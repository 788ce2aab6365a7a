class BillingError(Exception):
    """Something is wrong with a bill."""


class UnknownCurrency(BillingError):
    """A currency without a rate."""

    def __init__(self, code):
        super().__init__("unknown currency: " + code)
        self.code = code


class NegativeAmount(BillingError):
    """An amount below zero."""
