"""The time of `relata inspect` for a file with 200 tables."""

import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time

from figures import Figure, medians

TABLES = 200
ROWS = 100


def measure(rounds, workload):
    """Measures the whole process, from its start to its end."""
    with tempfile.TemporaryDirectory(prefix="relata-bench-") as folder:
        file = str(pathlib.Path(folder) / "tables.sqlite")
        make(file)
        format_name = {"inspect": "text", "inspect-svg": "svg"}[workload]

        def run():
            start = time.perf_counter()
            output = subprocess.run(
                [os.environ["RELATA"], "inspect", file, "--format", format_name], check=True, capture_output=True,
                text=True).stdout
            duration = time.perf_counter() - start
            missing = [name for name in map(name_of, range(1, TABLES + 1)) if name not in output]
            if missing:
                raise RuntimeError(f"relata inspect says nothing of {missing[0]}")
            return duration * 1000

        return Figure(workload, medians(rounds, {"ours": run})["ours"], 1000)


def name_of(number):
    return f"Entity{number:03}"


def make(file):
    """Tables that each refer to two others."""
    connection = sqlite3.connect(file)
    for number in range(1, TABLES + 1):
        before, other = (name_of(max(1, each)) for each in (number - 1, number // 3))
        connection.execute(
            f"CREATE TABLE {name_of(number)} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, year INTEGER, price REAL, "
            f"note TEXT, beforeId INTEGER REFERENCES {before} (id), otherId INTEGER REFERENCES {other} (id))")
        connection.executemany(
            f"INSERT INTO {name_of(number)} VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(row, f"Name {row}", 1900 + row, row / 10, None, row, row) for row in range(1, ROWS + 1)])
    connection.commit()
    connection.close()
