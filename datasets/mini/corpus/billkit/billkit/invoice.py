from .money import Money, format_money, positive
from .rates import tax_rate


class Line:
    """A position of an invoice."""

    def __init__(self, goods, price, count=1):
        self.goods = goods
        self.price = positive(price)
        self.count = count

    def net(self):
        """Price times count, without tax."""
        return self.price * self.count

    def gross(self):
        """With tax."""
        return self.net() * (1 + tax_rate(self.goods))


class Invoice:
    """Lines for a customer."""

    def __init__(self, customer):
        self.customer = customer
        self.lines = []

    def add(self, goods, price, count=1):
        """Append a line."""
        self.lines.append(Line(goods, price, count))

    def total(self):
        """The sum of all gross lines as money."""
        return Money(sum(line.gross() for line in self.lines))

    def summary(self):
        """One line of text for the customer."""
        return "%s: %s" % (self.customer, format_money(self.total()))


def invoice_total(lines):
    """The gross sum of (goods, price, count) tuples."""
    invoice = Invoice("")
    for goods, price, count in lines:
        invoice.add(goods, price, count)
    return invoice.total()
