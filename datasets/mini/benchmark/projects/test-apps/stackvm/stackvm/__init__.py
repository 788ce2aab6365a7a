"""A small stack machine."""

from .machine import Machine, run
