"""Make crates/retrieve/tests/fixtures/bm25.json with rank_bm25 (pip install rank_bm25 numpy).

The texts are the candidates, split at white space as the paper's released package does.
"""

import json
import pathlib

from rank_bm25 import BM25Okapi

DOCUMENTS = [
    "def price(item): return item.cost * RATE",
    "def total(items): return sum(price(item) for item in items)",
    "RATE = 2",
    "class Item: cost = 0",
    "def price(item): return item.cost * RATE",
    "def unrelated(): pass",
    "def def def item item",
    "",
]
QUERIES = [
    "def total(items): sum of price(item) for each item",
    "RATE = cost",
    "def",
    "nothing known here",
]

ranker = BM25Okapi([d.split() for d in DOCUMENTS])
cases = [
    {"query": q, "scores": [float(s) for s in ranker.get_scores(q.split())]} for q in QUERIES
]
target = pathlib.Path(__file__).parents[2] / "crates/retrieve/tests/fixtures/bm25.json"
target.write_text(json.dumps({"documents": DOCUMENTS, "cases": cases}, indent=1) + "\n")
