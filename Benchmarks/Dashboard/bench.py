"""Measures the dashboard in Chromium, and `relata inspect`: run by scripts/bench --dashboard.

RELATA is the tool, built in release mode; CHROMIUM and CHROMEDRIVER are the browser and its driver.
"""

import argparse
import contextlib
import functools
import os
import pathlib
import shutil
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Browser"))
try:
    import selenium  # noqa: F401
except ImportError:
    sys.exit("bench: selenium is missing: scripts/bench --dashboard installs it, and Chromium")

import first_paint
import inspecting
import scrolling
from albums import Albums
from figures import Figure, print_table, write

PAGES = ["dashboard-first-paint", "dashboard-scroll"]
TOOLS = ["inspect", "inspect-svg"]
ALL = ["dashboard-size", *PAGES, *TOOLS]


class Bench:
    """The workloads, and what several of them share."""

    def __init__(self, rows, rounds):
        self.rows = rows
        self.rounds = rounds
        self.closing = contextlib.ExitStack()

    @functools.cached_property
    def albums(self):
        say(f"storing {self.rows:,} rows …")
        return Albums(self.rows, self.closing)

    @functools.cached_property
    def browser(self):
        return self.albums.signed_in()

    def measure(self, workload):
        say(f"measuring {workload} …")
        match workload:
            case "dashboard-size": return Figure(workload, size() / 1000, 250, unit="kb")
            case "dashboard-first-paint": return first_paint.measure(self.albums, self.browser, self.rounds)
            case "dashboard-scroll": return scrolling.measure(self.albums, self.browser, self.rounds)
            case _: return inspecting.measure(self.rounds, workload)


def size():
    """The bytes of all files of the dashboard, which a test compares with those that the program contains."""
    return sum(file.stat().st_size for file in (ROOT / "Sources" / "RelataDashboard" / "web").iterdir())


def say(text):
    print(text, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench --dashboard", allow_abbrev=False)
    parser.add_argument("--only", metavar="NAME,…", default="", help="these workloads only: " + ", ".join(ALL))
    parser.add_argument("--rounds", metavar="N", type=int, default=7, help="how often each is measured (7); the median counts")
    parser.add_argument("--quick", action="store_true",
                        help="a tenth of the rows and three rounds: shows that everything runs, not how fast")
    parser.add_argument("--output", metavar="FILE", default="bench.json", help="the file for the figures (bench.json)")
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else ALL
    for name in options.only:
        if name not in ALL:
            parser.error(f"no workload is named {name}: {', '.join(ALL)}")
    if options.rounds < 1:
        parser.error("--rounds takes a number from 1 on")
    return options


def check_programs(options):
    if not shutil.which(os.environ.get("RELATA", "")):
        sys.exit("bench: RELATA must be the tool relata: scripts/bench --dashboard builds it")
    for variable, name in [("CHROMIUM", "chromium"), ("CHROMEDRIVER", "chromedriver")]:
        if set(options.only) & set(PAGES) and not shutil.which(os.environ.setdefault(variable, f"/usr/bin/{name}")):
            sys.exit(f"bench: {name} is missing: install it, or let {variable} be its path")


def main():
    options = arguments()
    check_programs(options)
    # So that servers and browsers end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench = Bench(100_000 if options.quick else 1_000_000, min(3, options.rounds) if options.quick else options.rounds)
    with bench.closing:
        figures = [bench.measure(name) for name in ALL if name in options.only]
    print_table(figures)
    write(figures, options.output)


main()
