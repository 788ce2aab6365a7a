"""Runs a check as RepoExec's harness does and reports on it. The nonce comes as the first line of
standard input; a report without it was not written by this file."""

import importlib
import json
import os
import sys


def run():
    nonce = sys.stdin.readline().strip()
    with open("check.py", encoding="utf-8", newline="") as file:
        check = file.read()
    report_path = os.path.abspath("report.json")
    os.makedirs("work")
    os.chdir("work")
    for name in ("numpy", "pytest", "timeout_decorator", "tqdm", "multiprocessing"):
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    dumps, write, opened, close = json.dumps, os.write, os.open, os.close
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    report = {"nonce": nonce, "passed": True}
    sys.argv = [""]
    try:
        exec(check, {})
    except BaseException as error:
        kind = type(error)
        name = kind.__qualname__
        if kind.__module__ not in ("builtins", "__main__"):
            name = kind.__module__ + "." + name
        try:
            message = str(error)[:500]
        except BaseException:
            message = "<no message: its __str__ fails>"
        report = {"nonce": nonce, "passed": False, "exception": name, "message": message}
    text = dumps(report).encode()
    target = opened(report_path, flags, 0o600)
    write(target, text)
    close(target)


run()
