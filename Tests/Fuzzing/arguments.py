"""Prints what the compiler needs to build a target once more, under libFuzzer, as lines.

The other targets come from the last debug build: `arguments.py compile TARGET` prints the options of the target's files,
and `arguments.py link TARGET` the objects that it needs besides its own, with the libraries of the system.
"""

import json
import re
import shlex
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[2]
# A program that contains the server and its dependencies, and nothing else.
program = "BookServer"
# Options for a build by SwiftPM, with a value and without one.
pairs = {"-emit-module-path", "-output-file-map", "-index-store-path", "-emit-objc-header-path"}
single = {
    "-emit-dependencies", "-emit-module", "-incremental", "-c", "-serialize-diagnostics", "-parseable-output",
    "-emit-objc-header", "-enable-batch-mode", "-emit-executable",
}


def arguments(name):
    """The compiler's arguments for a command of the last build."""
    commands = root / ".build/debug.yaml"
    text = commands.read_text("utf-8") if commands.exists() else ""
    found = re.search(rf'\n  "{name}":\n(.*?)\n    args: (\[.*?\])\n', text, re.S)
    if not found:
        sys.exit(f"fuzzing: {commands} doesn't say how to build {name}: build the tests first")
    words = iter(json.loads(found[2])[1:])
    for word in words:
        if word in pairs or word == "-o":
            next(words)
        elif word not in single and not re.fullmatch(r"-j\d+", word):
            yield word


kind, target = sys.argv[1:]
if kind == "compile":
    # Without the list of the target's files, which the caller adds.
    result = [word for word in arguments(rf"C\.{target}-[^\"]*-debug\.module") if not word.startswith("@")]
else:
    result = []
    words = arguments(rf"C\.{program}-[^\"]*-debug\.exe")
    for word in words:
        if word.startswith("@"):
            objects = shlex.split(Path(word[1:]).read_text("utf-8"))
            own = (f"/{target}.build/", f"/{program}.build/")
            result += [file for file in objects if not any(folder in file for folder in own)]
        elif word == "-module-name":
            next(words)
        elif word == "-Xlinker":
            # libFuzzer has its own `main`.
            value = next(words)
            if value != "--defsym" and not value.startswith("main="):
                result += [word, value]
        else:
            result.append(word)
print("\n".join(result))
