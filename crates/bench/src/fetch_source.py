"""Fetches one published archive without running anything of it.

`pip download` would run a source distribution's set-up code to learn its dependencies, so pip's own
finder and downloader are asked directly: settings, mirrors and certificates are pip's.
Arguments: name, version, `wheel` or `sdist`, folder. Prints the file's name and the hash which the
index gives for it (algorithm:value, or nothing). Written for pip 22 to 25.
"""

import sys

from pip._internal.cli.status_codes import SUCCESS
from pip._internal.commands import create_command
from pip._internal.network.download import Downloader
from pip._vendor.packaging.specifiers import SpecifierSet


def main(name, version, kind, folder):
    kind_option = "--only-binary" if kind == "wheel" else "--no-binary"
    command = create_command("download")
    options, _ = command.parse_args(["--quiet", kind_option, ":all:", "--no-deps", name])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session, ignore_requires_python=True)
        best = finder.find_best_candidate(name, SpecifierSet("==" + version)).best_candidate
        if best is None:
            sys.exit("the index has no %s of %s==%s" % (kind, name, version))
        place, _ = Downloader(session, "off")(best.link, folder)
        print(place)
        hash_name = best.link.hash_name
        print(hash_name + ":" + best.link.hash if hash_name else "")
    return SUCCESS


sys.exit(main(*sys.argv[1:]))
