"""What is in a cell."""

EMPTY = {"", "-", "n/a"}
TRUE = {"yes", "true", "1"}


def is_empty(text):
    """Whether a cell holds nothing."""
    return text.strip().lower() in EMPTY


def to_number(text, default=None):
    """A cell as a number, or a default."""
    if is_empty(text):
        return default
    return float(text.replace(",", "."))


def to_flag(text):
    """A cell as true or false."""
    return text.strip().lower() in TRUE


def clean(text):
    """A cell without spaces around it."""
    return " ".join(text.split())
