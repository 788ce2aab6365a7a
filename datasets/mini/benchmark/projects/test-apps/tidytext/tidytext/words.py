"""Words and their stems."""

import re

from . import rules
from .clean import straight_quotes
from .rules import ENDINGS, MIN_STEM

WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


def split_words(text: str) -> list:
    """
    The words of a text in lower case; an apostrophe, straight or curly, may stand inside a word.

    :param text: The text.
    :return: The words in order.
    """
    return WORD.findall(straight_quotes(text).lower())


def stem(word: str) -> str:
    """
    A word without the first ending of ENDINGS that it has, if at least MIN_STEM letters stay.

    :param word: The word in lower case.
    :return: The stem.
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            return word[: -len(ending)]
    return word


def content_words(text: str) -> list:
    """
    The words of a text that are no stop words.

    :param text: The text.
    :return: The words in order.
    """
    return [word for word in split_words(text) if word not in rules.STOP_WORDS]


def stems(text: str) -> list:
    """
    The stems of the content words of a text.

    :param text: The text.
    :return: The stems in order.
    """
    return [stem(word) for word in content_words(text)]
