"""Characters and spaces."""

from .rules import QUOTES, SHORT, RuleError


def straight_quotes(text: str) -> str:
    """
    Replace curly quotes by straight ones.

    :param text: The text.
    :return: The text with straight quotes.
    """
    for curly, straight in QUOTES.items():
        text = text.replace(curly, straight)
    return text


def squeeze(text: str) -> str:
    """
    Replace every run of white space by one space, and drop it at both ends.

    :param text: The text.
    :return: The text on one line.
    """
    return " ".join(text.split())


def expand_short(text: str) -> str:
    """
    Write abbreviations out, whatever their case; other words stay as they are.

    :param text: Words parted by spaces.
    :return: The words parted by single spaces.
    """
    return " ".join(SHORT.get(word.lower(), word) for word in text.split())


def tidy(text: str) -> str:
    """
    Straight quotes, single spaces, abbreviations written out.

    :param text: The text.
    :return: The tidy text.
    """
    return expand_short(squeeze(straight_quotes(text)))


def require_text(text: str) -> str:
    """
    The tidy text, which must not be empty.

    :param text: The text.
    :return: The tidy text.
    :raises RuleError: If nothing is left.
    """
    result = tidy(text)
    if not result:
        raise RuleError("no text")
    return result
