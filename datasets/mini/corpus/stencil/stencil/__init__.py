"""A tiny template language."""

from .render import render, render_all
from .parts import Template
