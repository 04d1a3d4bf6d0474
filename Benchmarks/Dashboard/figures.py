"""The figures: a table, and a file with them, in the form of the other benchmarks."""

import dataclasses
import json
import math
import pathlib
import random
import statistics


@dataclasses.dataclass
class Figure:
    """The median of a workload beside its limit."""

    workload: str
    ours: float
    limit: float
    unit: str = "ms"
    # How many times the limit is allowed; otherwise, the limit itself is an amount that must not be reached.
    factor: float | None = None

    @property
    def target(self):
        return f"< {number(self.limit)} {self.unit}" if self.factor is None else f"≤ {self.factor}× limit"

    @property
    def is_met(self):
        return self.ours < self.limit if self.factor is None else self.ours <= self.factor * self.limit

    @property
    def row(self):
        return [self.workload, f"{number(self.ours)} {self.unit}", number(self.limit), f"{self.ours / self.limit:.2f}×",
                self.target, "met" if self.is_met else "MISSED"]

    @property
    def entry(self):
        return {"workload": self.workload, f"ours_{self.unit}": round(self.ours, 4),
                f"limit_{self.unit}": round(self.limit, 4)}


def number(value):
    return f"{value:.4f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def medians(rounds, contestants):
    """Measures each contestant, in turns and in another order each time, and returns their medians by name."""
    values = {name: [] for name in contestants}
    for this_round in range(rounds + 1):
        for name in random.sample(list(contestants), len(contestants)):
            value = contestants[name]()
            # The first round warms up caches and memory.
            if this_round > 0:
                values[name].append(value)
    return {name: statistics.median(each) for name, each in values.items()}


def percentile(values, part):
    return sorted(values)[math.ceil(len(values) * part) - 1]


def print_table(figures):
    rows = [["workload", "ours", "limit", "ratio", "target", ""]] + [each.row for each in figures]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)))


def write(figures, path):
    """Writes the figures to a file. Its figures of other workloads stay."""
    file = pathlib.Path(path)
    try:
        known = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        known = []
    measured = {each.workload for each in figures}
    entries = [each for each in known if each.get("workload") not in measured] + [each.entry for each in figures]
    file.write_text(json.dumps(entries, indent=2, sort_keys=True, separators=(",", " : "), ensure_ascii=False))
    print(f"figures written to {path}")
