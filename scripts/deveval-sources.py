#!/usr/bin/env python3
"""Fetches the sources of DevEval's projects: published source distributions that match its lines.

DevEval's own archive of repositories is 917 MB on its hub. Of many projects a source distribution
on the package index holds the very files that the records count lines in; VERSIONS lists such ones
(all records' lines match, but for 1 of alembic's 51, 1 of bplustree's 19, 3 of Mopidy's 47). Each is fetched as pip is configured (mirror, certificates), checked against the index's hash and
unpacked. No code of a project runs: `pip download` would run its set-up code, so the archive is
fetched by the benchmark's own fetcher, crates/bench/src/fetch_source.py.

    scripts/deveval-sources.py --out FOLDER [PROJECT | PROJECT=NAME==VERSION] ...

A PROJECT is a record's `project_path`, such as Utilities/boltons; its source lies in
FOLDER/PROJECT afterwards. A source that is there already is left alone. Without projects: all of
VERSIONS. Needs Python 3.9 or later (3.9.17, 3.10.12, 3.11.4 on: `tarfile`'s data filter) with pip.
"""

import argparse
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

FETCHER = pathlib.Path(__file__).resolve().parent.parent / "crates/bench/src/fetch_source.py"
VERSIONS = {
    "Communications/aioxmpp": "aioxmpp==0.13.3",
    "Database/alembic": "alembic==1.12.1",
    "Database/bplustree": "bplustree==0.0.3",
    "Internet/Jinja2": "Jinja2==3.1.2",
    "Internet/sumy": "sumy==0.11.0",
    "Multimedia/Mopidy": "Mopidy==3.4.2",
    "Software-Development/peewee": "peewee==3.17.0",
    "Utilities/boltons": "boltons==23.0.0",
    "Utilities/gunicorn": "gunicorn==21.2.0",
    "Utilities/sacred": "sacred==0.8.4",
}


def fetch(requirement, folder):
    """The archive of `name==version`, checked."""
    name, _, version = requirement.partition("==")
    command = [sys.executable, str(FETCHER), name, version, "sdist", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(done.stderr.strip() or "the fetcher failed")
    archive, digest = (done.stdout.split("\n") + [""])[:2]
    archive = pathlib.Path(archive)
    algorithm, _, expected = digest.partition(":")
    if not expected:
        raise OSError("the index gives no hash for %s" % archive.name)
    found = hashlib.new(algorithm, archive.read_bytes()).hexdigest()
    if found != expected:
        raise OSError("%s: %s %s, expected %s" % (archive.name, algorithm, found, expected))
    return archive


def unpack(archive, place):
    """Unpacks plain files; the one folder at the top of the archive becomes `place`."""
    if not archive.name.endswith((".tar.gz", ".tgz", ".tar.bz2")):
        raise OSError("%s: not a tar archive" % archive.name)
    inside = archive.parent / "unpacked"
    with tarfile.open(archive) as tar:
        tar.extractall(inside, filter="data")
    tops = [path for path in inside.iterdir() if path.is_dir()]
    if len(tops) != 1:
        raise OSError("%s: %d folders at the top" % (archive.name, len(tops)))
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(tops[0], place)


def main():
    parser = argparse.ArgumentParser(description="Fetches the sources of DevEval's projects.")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder of projects")
    parser.add_argument("projects", nargs="*", help="PROJECT or PROJECT=NAME==VERSION")
    arguments = parser.parse_args()
    if not hasattr(tarfile, "data_filter"):
        sys.exit("this Python's tarfile has no data filter: take a newer patch release")
    failed = False
    for wanted in arguments.projects or sorted(VERSIONS):
        project, _, requirement = wanted.partition("=")
        requirement = requirement or VERSIONS.get(project, "")
        parts = project.split("/")
        if "==" not in requirement or not all(parts) or ".." in parts:
            sys.exit("%s: name a project of VERSIONS, or PROJECT=NAME==VERSION" % wanted)
        place = arguments.out / project
        if place.exists():
            print("%s: is there" % project)
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                unpack(fetch(requirement, pathlib.Path(folder)), place)
            print("%s: %s" % (project, requirement))
        except (OSError, tarfile.TarError) as error:
            failed = True
            print("%s: %s: %s" % (project, requirement, error), file=sys.stderr)
    sys.exit(failed)


main()
