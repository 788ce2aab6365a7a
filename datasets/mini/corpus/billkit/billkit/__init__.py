"""Invoices for small shops."""

from .errors import BillingError, UnknownCurrency
from .invoice import Invoice, invoice_total
from .money import Money, convert

__all__ = ["BillingError", "Invoice", "Money", "UnknownCurrency", "convert", "invoice_total"]
