import billkit.money as money
from billkit import Invoice
from billkit.rates import BASE_CURRENCY


def revenue(invoices):
    """The sum of all invoices in the base currency."""
    return sum(invoice.total().in_base() for invoice in invoices)


def revenue_text(invoices, currency=BASE_CURRENCY):
    """Revenue as text in a currency."""
    total = money.Money(revenue(invoices))
    return money.format_money(money.convert(total, currency))


def merge(first, second):
    """One invoice with the lines of two."""
    merged = Invoice(first.customer)
    merged.lines = first.lines + second.lines
    return merged


def by_customer(invoices):
    """Revenue of every customer."""
    totals = {}
    for invoice in invoices:
        amount = invoice.total().in_base()
        totals[invoice.customer] = totals.get(invoice.customer, 0) + amount
    return totals
