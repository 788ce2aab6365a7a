"""How alike texts are."""

from tidytext import stem
from tidytext.layout import sentences
from tidytext.words import split_words, stems


def frequencies(text: str) -> dict:
    """
    How often each stem of the content words occurs in a text.

    :param text: The text.
    :return: Counts by stem.
    """
    counts = {}
    for found in stems(text):
        counts[found] = counts.get(found, 0) + 1
    return counts


def similarity(first: str, second: str) -> float:
    """
    The stems of content words that two texts share, as a part of all that they have.

    :param first: A text.
    :param second: Another text.
    :return: 0 to 1; 1 for two texts without content words.
    """
    a, b = set(stems(first)), set(stems(second))
    return len(a & b) / len(a | b) if a | b else 1.0


def mentions(text: str, word: str) -> int:
    """
    How many words of a text have the same stem as a word.

    :param text: The text.
    :param word: The word, in any case.
    :return: The count.
    """
    wanted = stem(word.lower())
    return sum(1 for found in split_words(text) if stem(found) == wanted)


def best_sentence(text: str, question: str) -> str:
    """
    The sentence of a text that is most similar to a question; the first one of equals.

    :param text: The text, which has a sentence.
    :param question: The question.
    :return: The sentence.
    """
    return max(sentences(text), key=lambda sentence: similarity(sentence, question))
