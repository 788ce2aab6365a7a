"""Makes datasets/mini/benchmark/tasks.jsonl and answers-*.jsonl out of the projects and problems
beside them. Python 3.9 or newer, nothing else.

    python3 scripts/make_mini_benchmark.py          # write
    python3 scripts/make_mini_benchmark.py --check  # compare, and run every solution and answer

A problem is a function of a project. problems/<module>.<function>.py names its dependencies, and
holds its tests and answers to it, all written by hand:

    right    another right solution that uses the dependencies
    plain    a right solution that does without them
    wrong    a solution that the tests refuse
    endless  one that never returns

The answers-<retriever>.jsonl files are dealt from these by the chances in QUALITY and a fixed seed.
They stand in for a model's answers so that the whole way can run without one; no model wrote them,
and they say nothing about a retriever.
"""

import argparse
import ast
import inspect
import json
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1] / "datasets/mini/benchmark"
APPS = ROOT / "projects/test-apps"
SAMPLES = 5
# The chance of a right answer, and of a right one without the dependencies where there is one.
QUALITY = {
    "none": (0.20, 0.30),
    "dense": (0.40, 0.10),
    "bm25": (0.45, 0.10),
    "dar": (0.60, 0.05),
    "hydra": (0.68, 0.05),
}
# The one answer that runs into the time limit: a time-out costs seconds.
ENDLESS = ("none", "run", 3)
STYLES = ("plain fence", "with words", "bare", "with import")


class Module:
    """A module of a project, parsed."""

    def __init__(self, project, name):
        self.project = project
        self.name = name
        base = APPS / project / name.replace(".", "/")
        self.path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
        self.file = self.path.relative_to(APPS / project).as_posix()
        self.source = self.path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.source)
        self.units = {}
        self.modules = {}
        self.names = {}
        for node in self.tree.body:
            self.read(node)

    def read(self, node):
        if isinstance(node, ast.FunctionDef):
            self.units[node.name] = ("function", node)
        elif isinstance(node, ast.ClassDef):
            self.units[node.name] = ("class", node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    self.units[name.id] = ("variable", node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == self.project:
                    self.modules[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom):
            package = self.project if node.level else None
            source = ".".join(filter(None, [package, node.module]))
            if source.split(".")[0] == self.project:
                for alias in node.names:
                    whole = source + "." + alias.name
                    if (APPS / self.project / whole.replace(".", "/")).with_suffix(".py").exists():
                        self.modules[alias.asname or alias.name] = whole
                    else:
                        self.names[alias.asname or alias.name] = (source, alias.name)

    def text(self, node):
        return ast.get_source_segment(self.source, node)

    def find(self, name):
        """The module and unit that a name of this module means, or nothing."""
        if name in self.units:
            return self, name
        if name in self.names:
            source, original = self.names[name]
            return Module(self.project, source).find(original)
        return None

    def dependencies(self, function):
        """Units of the project that a function names, in the order of their names."""
        found = {}
        for node in ast.walk(function):
            place = None
            if isinstance(node, ast.Name) and node.id != function.name:
                place = self.find(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id in self.modules:
                    place = Module(self.project, self.modules[node.value.id]).find(node.attr)
            if place:
                found[place[1]] = place[0]
        return dict(sorted(found.items()))

    def imports(self):
        nodes = [n for n in self.tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
        return [self.text(node) for node in nodes]


def head(module, node):
    """A function's lines up to the end of its docstring; the body's begin after it."""
    lines = module.source.splitlines()
    first = node.body[0]
    has = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    end = first.end_lineno if has else node.body[0].lineno - 1
    return "\n".join(lines[node.lineno - 1 : end]), "\n".join(lines[end : node.end_lineno])


def stub(module, name):
    kind, node = module.units[name]
    if kind == "function":
        return head(module, node)[0]
    if kind == "class":
        return module.text(node).split("\n\n")[0]
    return module.text(node)


def absolute(source, project):
    source = re.sub(r"^from \. import", "from %s import" % project, source, flags=re.M)
    return re.sub(r"^from \.(\w+) import", r"from %s.\1 import" % project, source, flags=re.M)


def sections(path):
    """The dependencies that are named, the tests, and the answers by kind."""
    text = path.read_text(encoding="utf-8")
    first, *rest = text.split("# --- ")
    named = set(first.split(":", 1)[1].split())
    tests, answers = "", []
    for part in rest:
        kind, _, body = part.partition("\n")
        if kind == "tests":
            tests = body.strip("\n")
        else:
            answers.append((kind, body.strip("\n")))
    return named, tests, answers


def make_task(number, path):
    module_name, _, function = path.stem.rpartition(".")
    project = module_name.split(".")[0]
    module = Module(project, module_name)
    node = module.units[function][1]
    named, tests, answers = sections(path)
    found = module.dependencies(node)
    if set(found) != named:
        sys.exit("%s: the source has %s, the problem names %s" % (path.name, sorted(found), sorted(named)))
    prompt, body = head(module, node)
    solution = module.text(node)
    dependencies = [
        {
            "name": name,
            "kind": where.units[name][0],
            "where": "in-file" if where.name == module_name else "cross-file",
            "file": where.file,
        }
        for name, where in found.items()
    ]
    stubs = [stub(where, name) for name, where in found.items()]
    context = "\n\n".join(["\n".join(module.imports())] + list(dict.fromkeys(stubs)) + [prompt]).strip()
    names = re.findall(r"^def (test_\w+)", tests, flags=re.M)
    test_list = [ast.get_source_segment(tests, n) for n in ast.parse(tests).body if getattr(n, "name", "") in names]
    check = "\n".join(
        ["import sys", 'sys.path.insert(1, "/input/test-apps/%s")' % project]
        + [absolute(module.source, project), tests, ""]
        + ["%s()" % name for name in names]
    )
    assert check.count(solution) == 1, path.name
    original = ast.get_docstring(node, clean=False)
    task = {
        "task_id": number,
        "problem_ids": number,
        "project": "test-apps/" + project,
        "module": module_name,
        "entry_point": function,
        "function_signature": prompt.split("\n")[0],
        "target_function_prompt": prompt,
        "docstring": inspect.cleandoc(original),
        "original_docstring": original,
        "solution": solution,
        "solution_body": body,
        "code": context + "\n" + body,
        "prompt": context,
        "prompt_medium": context,
        "dependencies": dependencies,
        "isContained": not dependencies,
        "cross_context": any(d["where"] == "cross-file" for d in dependencies),
        "test_list": test_list,
        "check": check,
        "source": {"file": module.file},
    }
    return task, answers


def deal(retriever, task, sample, answers):
    """The kind and text of an answer, and how it is written."""
    function = task["entry_point"]
    dice = random.Random("%s/%s/%d" % (retriever, function, sample))
    by_kind = {}
    for kind, code in answers:
        by_kind.setdefault(kind, []).append(code)
    right, plain = QUALITY[retriever]
    roll, style = dice.random(), dice.choice(STYLES)
    if (retriever, function, sample) == ENDLESS:
        return by_kind["endless"][0], style, "stop"
    if roll < right:
        return by_kind["right"][0], style, "stop"
    if roll < right + plain and "plain" in by_kind:
        return by_kind["plain"][0], style, "stop"
    if dice.random() < 0.1:
        code = by_kind["right"][0]
        return code[: len(code) * 2 // 3].rstrip(), "with words", "length"
    return dice.choice(by_kind["wrong"]), style, "stop"


def write_up(code, style, reason):
    if style == "bare":
        return code
    if style == "with import":
        code = "import math\n\n" + code
    text = "```python\n" + code + ("\n```" if reason == "stop" else "")
    return "Here is the function:\n\n" + text if style == "with words" else text


def make_answers(retriever, problems):
    lines = []
    for task, answers in problems:
        for sample in range(SAMPLES):
            code, style, reason = deal(retriever, task, sample, answers)
            lines.append({
                "task": "mini/%d" % task["task_id"],
                "sample": sample,
                "completion": write_up(code, style, reason),
                "finish_reason": reason,
            })
    return lines


def passes(task, code):
    check = task["check"].replace(task["solution"], code).replace("/input/test-apps", str(APPS))
    try:
        run = subprocess.run(
            [sys.executable, "-I", "-B", "-c", "import sys; exec(sys.stdin.read(), {})"],
            input=check.encode(), capture_output=True, timeout=5,
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def verify(problems):
    """Runs everything; the number of surprises."""
    surprises = 0
    for task, answers in problems:
        for kind, code in [("gold", task["solution"])] + answers:
            if passes(task, code) != (kind in ("gold", "right", "plain")):
                print("%s: %s answer is not what it should be:\n%s" % (task["entry_point"], kind, code))
                surprises += 1
    return surprises


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with what is there, and run it all")
    check = parser.parse_args().check
    problems = [make_task(n, p) for n, p in enumerate(sorted((ROOT / "problems").glob("*.py")))]
    files = {"tasks.jsonl": [task for task, _ in problems]}
    for retriever in QUALITY:
        files["answers-%s.jsonl" % retriever] = make_answers(retriever, problems)
    differ = 0
    for name, records in files.items():
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        if not check:
            (ROOT / name).write_text(text, encoding="utf-8")
        elif (ROOT / name).read_text(encoding="utf-8") != text:
            print("%s is not what the sources make; run this without --check" % name)
            differ += 1
    if check:
        differ += verify(problems)
        crossing = sum(task["cross_context"] for task, _ in problems)
        print("%d problems, %d with a dependency in another file" % (len(problems), crossing))
    sys.exit(differ > 0)


main()
