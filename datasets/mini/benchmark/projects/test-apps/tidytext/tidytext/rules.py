"""Lists that the other modules go by."""

STOP_WORDS = {"a", "an", "and", "in", "of", "on", "or", "the", "to"}
ENDINGS = ("ing", "ed", "es", "s")
SHORT = {"dr.": "doctor", "e.g.": "for example", "st.": "street"}
QUOTES = {"“": '"', "”": '"', "‘": "'", "’": "'"}
SENTENCE_END = ".!?"
WIDTH = 40
MIN_STEM = 3


class RuleError(ValueError):
    """A rule that can't be applied."""
