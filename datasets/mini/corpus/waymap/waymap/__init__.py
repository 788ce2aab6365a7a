"""A URL router."""

from .router import Router
from .pattern import Pattern, compile_pattern
