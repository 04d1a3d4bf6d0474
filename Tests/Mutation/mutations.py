"""Finds small changes of Swift code, each of which a test should notice.

Works on the text of the code. What it takes for an expression may be none: the compiler then refuses the change, and
it is left out.
"""

import re
from dataclasses import dataclass

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "*": "+", "/": "*", "%": "/",
}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|<|>|&&|\|\||\+|-|\*|/|%)(?=[ \n])")
NUMBER = re.compile(r"(?<![\w.$#)\]])\d+(?![\w.])")
TRUTH = re.compile(r"(?<![\w.`])(true|false)(?![\w`])")
CONDITION = re.compile(r"^ *(?:\} else )?(?:if|guard|while) ")
CHOICE = re.compile(r"(?<=[\w)\]!?\"]) \? ")
STATEMENT = re.compile(r"^( +)((?:try )?[a-z_][\w.\[\]$!?]*(?:\(.*\)|(?:\[.*\])? (?:[-+*|]?=|<<=) \S.*)|continue)$")
# A statement doesn't begin with these words.
WORDS = re.compile(
    r"^ *(?:let|var|return|case|if|guard|while|for|switch|default|import|func|init|throw|precondition|assert|fatalError"
    r"|static|private|package|public|extension|struct|enum|self\.\w+ = |else|do|defer|super|try super)\b")
# An expression begins after these words.
LEFT_WORDS = re.compile(
    r"(?<![\w.`])(?:return|if|guard|while|where|in|else|throw|case|let|var|try|await|some|is|as)\??$")
RIGHT_WORDS = re.compile(r"(?:else|where|in)\b")
CONTINUES = re.compile(r"\s*(?:&&|\|\||[-+*/?:.<>=!]|\?\?)")
ENDS_OPEN = re.compile(r"(?:&&|\|\||[-+*/?:<>=(,\[{]|\bin|\breturn)$")


@dataclass(frozen=True)
class Mutation:
    """A change of one place: the text from `start` to `end` becomes `text`, in which `#` stands for its number."""

    file: str
    line: int
    last_line: int
    start: int
    end: int
    text: str
    # The line, and what changes there: they name the mutation whatever its number is.
    code: str
    change: str

    @property
    def name(self):
        return f"{self.file} :: {self.code} :: {self.change}"


def mask(text):
    """The text with every character of a comment or a string replaced, so that only code remains."""
    result = list(text)
    place = 0

    def cover(start, end):
        for index in range(start, end):
            if result[index] != "\n":
                result[index] = "\u00a7"

    def end_of_string(start):
        hashes = len(re.match("#*", text[start:])[0])
        quote = '"""' if text.startswith('"""', start + hashes) else '"'
        closing = quote + "#" * hashes
        escape = "\\" + "#" * hashes
        index = start + hashes + len(quote)
        while index < len(text):
            if text.startswith(closing, index):
                return index + len(closing)
            if text.startswith(escape + "(", index):
                index += len(escape) + 1
                depth = 1
                while depth and index < len(text):
                    if text[index] == '"':
                        index = end_of_string(index)
                        continue
                    depth += {"(": 1, ")": -1}.get(text[index], 0)
                    index += 1
            elif text.startswith(escape, index):
                index += len(escape) + 1
            else:
                index += 1
        return index

    while place < len(text):
        if text.startswith("//", place):
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
        elif text.startswith("/*", place):
            end = text.find("*/", place) + 2
        elif re.match('#*"', text[place:place + 8]):
            end = end_of_string(place)
        else:
            place += 1
            continue
        cover(place, end)
        place = end
    return "".join(result)


def expression(code, start, end, stops, is_condition):
    """The bounds of the expression around a place; `stops` are the operators that it doesn't contain."""

    def stop_at(index):
        return any(
            code.startswith(f" {stop} ", index - 1) or code.startswith(f" {stop}\n", index - 1) for stop in stops)

    left, depth = start, 0
    while left > 0:
        character = code[left - 1]
        if character in ")]}":
            depth += 1
        elif character in "([{":
            if not depth:
                break
            depth -= 1
        elif not depth:
            if character in ",;":
                break
            if character == ":" and code[left] in " \n":
                break
            if character == "=" and code[left] in " \n" and re.search(r" [-+*|&]?=$", code[left - 4:left]):
                break
            if character == "\n" and not CONTINUES.match(code, left) and not ENDS_OPEN.search(code[:left - 1][-40:]):
                break
            if code[left] in " \n" and LEFT_WORDS.search(code[max(0, left - 12):left]):
                break
            if code[left:left + 1] == " " and any(
                code[left - len(stop) - 1:left] == f" {stop}" for stop in stops
            ):
                break
        left -= 1
    right, depth = end, 0
    while right < len(code):
        character = code[right]
        if character in "([{":
            if character == "{" and not depth and is_condition:
                break
            depth += 1
        elif character in ")]}":
            if not depth:
                break
            depth -= 1
        elif not depth:
            if character in ",;" or character == ":" and code[right + 1:right + 2] in (" ", "\n"):
                break
            if character == "\n" and not CONTINUES.match(code, right + 1) and not ENDS_OPEN.search(
                code[max(0, right - 40):right]
            ):
                break
            if code[right - 1] in " \n" and (RIGHT_WORDS.match(code, right) or stop_at(right)):
                break
        right += 1
    while left < start and code[left] in " \n":
        left += 1
    while right > end and code[right - 1] in " \n":
        right -= 1
    return left, right


def clauses(code, start):
    """The clauses of a condition that begins there."""
    depth, begin, index = 0, start, start
    while index < len(code):
        character = code[index]
        if character == "{" and not depth or not depth and code.startswith(" else ", index):
            yield begin, index
            return
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                return
        elif character == "," and not depth:
            yield begin, index
            begin = index + 1
        index += 1


def find(file, text):
    """All changes of a file, in the order of their places."""
    code = mask(text)
    lines = code.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found = []

    def add(number, start, end, change, replacement):
        last = code.count("\n", 0, end)
        if last - number > 6 or not text[start:end].strip():
            return
        found.append(
            Mutation(
                file, number, last, start, end, replacement, " ".join(text[starts[number]:starts[number + 1]].split()),
                change))

    for number, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith(("@", "#", "import ", "precondition", "assert")):
            continue
        begin = starts[number]
        statement_head = line.lstrip()
        is_condition = bool(re.match(r"(?:\} else )?(?:if|guard|while|for|switch)\b", statement_head)) or (
            line.rstrip().endswith(("{", "else {", ",")) and not re.search(r"\bfunc\b", line))

        def numbered(match, pattern):
            """Its number among equal parts of the line, if it isn't the only one."""
            equal = [other.start() for other in pattern.finditer(line) if other[0] == match[0]]
            return f" #{equal.index(match.start()) + 1}" if len(equal) > 1 else ""

        for match in OPERATOR.finditer(line):
            operator = match[1]
            stops = ["?", "="]
            if operator != "||":
                stops.append("||")
            if operator not in ("&&", "||"):
                stops.append("&&")
            if operator not in ("&&", "||", *COMPARISONS):
                stops += [*COMPARISONS, "??", "..<", "..."]
            place = begin + match.start()
            start, end = expression(code, place, place + len(operator), stops, is_condition)
            if start >= place or end <= place + len(operator):
                continue
            whole = text[start:end]
            if operator == "+" and '"' in whole:
                continue
            changed = text[start:place] + OPERATORS[operator] + text[place + len(operator):end]
            change = f"{operator} -> {OPERATORS[operator]}{numbered(match, OPERATOR)}"
            add(
                code.count("\n", 0, start), start, end, change, f"(mutant(#) ? ({changed}) : ({whole}))")
        for match in NUMBER.finditer(line):
            value = int(match[0])
            changed = value - 1 if value > 1 else value + 1
            add(
                number, begin + match.start(), begin + match.end(), f"{value} -> {changed}{numbered(match, NUMBER)}",
                f"(mutant(#) ? {changed} : {match[0]})")
        for match in TRUTH.finditer(line):
            other = "false" if match[0] == "true" else "true"
            add(
                number, begin + match.start(), begin + match.end(), f"{match[0]} -> {other}{numbered(match, TRUTH)}",
                f"(mutant(#) ? {other} : {match[0]})")
        for match in CHOICE.finditer(line):
            place = begin + match.start()
            start, _ = expression(code, place, place, ["?", "="], False)
            if start < place:
                add(
                    code.count("\n", 0, start), start, place, f"choice negated{numbered(match, CHOICE)}",
                    f"(mutant(#) != ({text[start:place]}))")
        if match := CONDITION.match(line):
            for index, (start, end) in enumerate(clauses(code, begin + match.end())):
                clause = code[start:end]
                if re.search(r"(?<![\w.])(?:let|case|var|#)\b", clause) or not clause.strip():
                    continue
                start += len(clause) - len(clause.lstrip())
                end -= len(clause) - len(clause.rstrip())
                add(number, start, end, f"clause {index + 1} negated", f"(mutant(#) != ({text[start:end]}))")
        match = STATEMENT.match(line)
        before = next((other.rstrip() for other in reversed(lines[:number]) if other.strip()), "")
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if (
            match and not WORDS.match(line) and line.count("(") == line.count(")")
            and not ENDS_OPEN.search(before.removesuffix("{").rstrip() if before.endswith(" in") else before[:-1] + "x"
                if before.endswith(("{", " in")) else before)
            and not CONTINUES.match(after)
        ):
            start, end = begin + match.start(2), begin + match.end(2)
            add(number, start, end, "dropped", f"if !mutant(#) {{ {text[start:end]} }}")
            if change := re.search(r" ([-+])= ", line):
                other = "-" if change[1] == "+" else "+"
                place = begin + change.start(1)
                add(
                    number, start, end, f"{change[1]}= -> {other}=",
                    f"if mutant(#) {{ {text[start:place]}{other}{text[place + 1:end]} }} else {{ {text[start:end]} }}")
    return found


def draw(mutations, count, random):
    """As many as asked for, drawn at random, so that no two change the same line."""
    chosen, taken = [], set()
    by_line = {}
    for mutation in mutations:
        by_line.setdefault((mutation.file, mutation.line), []).append(mutation)
    places = sorted(by_line)
    random.shuffle(places)
    for place in places:
        if len(chosen) == count:
            break
        mutation = random.choice(by_line[place])
        lines = {(mutation.file, line) for line in range(mutation.line, mutation.last_line + 1)}
        if not lines & taken:
            taken |= lines
            chosen.append(mutation)
    return sorted(chosen, key=lambda mutation: (mutation.file, mutation.start))


def apply(text, numbered):
    """The text with all changes of `(number, mutation)` in place."""
    for number, mutation in sorted(numbered, key=lambda pair: pair[1].start, reverse=True):
        text = text[:mutation.start] + mutation.text.replace("mutant(#)", f"mutant({number})") + text[mutation.end:]
    return text
