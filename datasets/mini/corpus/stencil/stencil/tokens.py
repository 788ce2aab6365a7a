OPEN = "{{"
CLOSE = "}}"
FILTER_MARK = "|"
COMMENT_MARK = "#"


class TemplateError(ValueError):
    """A template that can't be read."""


def split_tokens(text):
    """Cut a template into literal text and the insides of its holes."""
    tokens = []
    while OPEN in text:
        before, rest = text.split(OPEN, 1)
        if CLOSE not in rest:
            raise TemplateError("unclosed hole")
        inside, text = rest.split(CLOSE, 1)
        tokens.append(("text", before))
        tokens.append(("hole", inside.strip()))
    tokens.append(("text", text))
    return tokens


def is_comment(inside):
    """Whether a hole is a comment."""
    return inside.startswith(COMMENT_MARK)


def holes(text):
    """The insides of all holes that are no comments."""
    return [inside for kind, inside in split_tokens(text) if kind == "hole" and not is_comment(inside)]
