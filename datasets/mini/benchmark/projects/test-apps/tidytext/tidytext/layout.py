"""Sentences and lines."""

import tidytext.clean as cleaning
from .rules import SENTENCE_END, WIDTH, RuleError


def sentences(text: str) -> list:
    """
    The sentences of a text, each tidy and with its mark. Abbreviations end no sentence.

    :param text: The text.
    :return: The sentences in order.
    """
    found = []
    current = []
    for word in cleaning.tidy(text).split():
        current.append(word)
        if word[-1] in SENTENCE_END:
            found.append(" ".join(current))
            current = []
    if current:
        found.append(" ".join(current))
    return found


def wrap(text: str, width: int = WIDTH) -> list:
    """
    Lines of words, as full as the width allows. A word that is longer has a line of its own.

    :param text: The text; its white space does not matter.
    :param width: Characters a line, at most.
    :return: The lines.
    :raises RuleError: If the width is below 1.
    """
    if width < 1:
        raise RuleError("width %d" % width)
    lines = []
    for word in cleaning.squeeze(text).split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def headline(text: str) -> str:
    """
    The first sentence of a text without its mark, cut at WIDTH characters.

    :param text: The text.
    :return: The headline; empty for an empty text.
    """
    found = sentences(text)
    return found[0].rstrip(SENTENCE_END)[:WIDTH] if found else ""
