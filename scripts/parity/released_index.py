"""Runs the paper's released indexer, for comparison with `hydra_pyindex::released`.

    python scripts/parity/released_index.py ast_parser.py
    python scripts/parity/released_index.py ast_parser.py REPOSITORY OURS

`ast_parser.py` is `src/context_formulation/structured_indexer/ast_parser.py` of solis-team/Hydra; it is
no part of this project. The first form makes crates/pyindex/tests/fixtures/released/expected.json from
the repository beside it. The second counts the differences to the folder OURS, which
`cargo run -p hydra-pyindex --example released_index REPOSITORY OURS` wrote. Python 3.11, for its builtins.

The original follows the order of sets in some places: every list is sorted here, repetitions kept, and
where it takes any file of a package that defines a name, it is given them in order.
"""

import ast
import functools
import importlib.util
import json
import logging
import pathlib
import sys

FIXTURES = pathlib.Path(__file__).parents[2] / "crates/pyindex/tests/fixtures/released"


def load(path):
    spec = importlib.util.spec_from_file_location("released_indexer", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def ordered(graph, external):
    for record in graph.values():
        # The path on this machine.
        del record["file_path"]
        for field in ("outgoing_calls", "noise"):
            record[field] = {kind: sorted(ids) for kind, ids in record[field].items()}
    for entry in external.values():
        entry["external_entity"] = sorted(entry["external_entity"])
    return {"dependency_graph": dict(sorted(graph.items())), "external_knowledge": dict(sorted(external.items()))}


class Ordered(set):
    def __iter__(self):
        return iter(sorted(super().__iter__()))


def original(path, repository):
    indexer = load(path).DependencyParser(str(repository))
    indexer.modules = Ordered()
    indexer.parse_repository()
    graph = {id: component.to_dict() for id, component in indexer.components.items()}
    return ordered(graph, indexer.external_knowledge)


def compare(theirs, folder):
    read = lambda name: json.loads((folder / f"{name}.json").read_text())
    ours = ordered(read("dependency_graph"), read("external_knowledge"))
    differences = 0
    for part in theirs:
        for key in sorted(theirs[part].keys() | ours[part].keys()):
            a, b = theirs[part].get(key), ours[part].get(key)
            if a is None or b is None:
                differences += 1
                print(f"{key}: only in {'theirs' if b is None else 'ours'}")
                continue
            for field in a:
                if a[field] != b.get(field):
                    differences += 1
                    print(f"{key} {field}:\n  theirs {a[field]}\n  ours   {b.get(field)}")
    print(f"{len(theirs['dependency_graph'])} components, {len(theirs['external_knowledge'])} files: "
          f"{differences} differences")
    return differences


# The original parses a file anew for every component of it; the trees are the same.
ast.parse = functools.lru_cache(maxsize=None)(ast.parse)
logging.disable()
if len(sys.argv) == 2:
    made = original(sys.argv[1], FIXTURES / "shop")
    (FIXTURES / "expected.json").write_text(json.dumps(made, indent=1) + "\n")
else:
    sys.exit(bool(compare(original(sys.argv[1], pathlib.Path(sys.argv[2])), pathlib.Path(sys.argv[3]))))
