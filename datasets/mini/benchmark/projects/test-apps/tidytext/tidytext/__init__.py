"""Text in good order."""

from .words import split_words, stem
