"""Colours."""

from .colour import BLACK, WHITE, Colour
from .mix import blend, gradient
