"""What scripts/docs needs besides the toolchain.

    docs.py flags MANIFEST MODULE      prints the flags by which tools find what a module imports
    docs.py catalogue MODULE GRAPHS LOWER CATALOGUE
                                       writes a DocC catalogue, and completes the module's symbol graph
    docs.py check SITE                 checks that every link and topic of the pages leads somewhere

The catalogue of Relata holds the guides and the tutorials. The landing page of each module has its types by the sections of
Documentation/Reference.md.
"""

import json
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ROOT / "Documentation"
REFERENCE = GUIDES / "Reference.md"
LINK = re.compile(r"(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)")


def guides():
    """The guides in the order in which README.md tells newcomers of them, and then the others."""
    learn = (ROOT / "README.md").read_text().partition("\n## Learn more\n")[2]
    named = [ROOT / path for path in re.findall(r"\]\((Documentation/[\w/]+\.md)", learn)]
    rest = [path for path in sorted(GUIDES.rglob("*.md")) if not path.name.endswith(".zh-Hans.md")]
    return [path for path in dict.fromkeys(named + rest) if path != REFERENCE]


def article(path):
    """The name of a guide's article, which its folder is part of: ComingFromGRDB."""
    return "".join(path.relative_to(GUIDES).with_suffix("").parts)


def anchor(path, fragment):
    """DocC's form of an anchor that is written in GitHub's: #tables-that-exist is #Tables-that-exist."""
    for heading in re.findall(r"(?m)^##+ (.*)$", path.read_text()):
        kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
        if kept.replace(" ", "-") == fragment:
            return "#" + re.sub(r"\s+", "-", re.sub(r"[`'\"“”‘’]", "", heading).strip())
    sys.exit(f"{path.relative_to(ROOT)} has no heading for #{fragment}")


def rewritten(path, text, images):
    """The text of a file with links for DocC: to articles, to copied images, and without those to sources."""

    def link(match):
        is_image, title, destination = match.groups()
        if "://" in destination or destination.startswith("mailto:"):
            return match.group(0)
        name, _, fragment = destination.partition("#")
        target = (path.parent / name).resolve() if name else path
        if is_image:
            images.add(target)
            return f"![{title}]({target.name})"
        if target.name.endswith(".zh-Hans.md"):
            return ""
        if target == REFERENCE or target == ROOT / "README.md":
            return f"[{title}](doc:/Relata)"
        if target.suffix == ".md" and target.is_relative_to(GUIDES):
            suffix = anchor(target, fragment) if fragment else ""
            return f"[{title}](doc:{article(target)}{suffix})"
        # The pages have no sources: the path says where it is in the repository.
        return title if "`" in title else f"{title} (`{target.relative_to(ROOT)}`)"

    parts = re.split(r"(?ms)^(```.*?^```[ ]*$)", text)
    for index, part in enumerate(parts):
        # Every second one is a code block: DocC knows no language with details, such as `swift package`.
        parts[index] = re.sub(r"^```swift .*", "```swift", part) if index % 2 else LINK.sub(link, part)
    return "".join(parts)


def flags(manifest, module):
    """The compiler's flags for finding what a module imports, one in a line, by SwiftPM's description of the build."""
    for line in manifest.read_text().splitlines():
        if f'"-module-name","{module}"' in line and "-emit-module" in line:
            arguments = iter(json.loads(line.strip().removeprefix("args: ")))
            for argument in arguments:
                if argument in ("-I", "-F", "-Xcc", "-target", "-sdk"):
                    value = next(arguments)
                    if value not in ("-g", "-fPIC", "-fno-omit-frame-pointer"):
                        print(argument, value, sep="\n")
                elif argument.startswith(("-I/", "-F/")):
                    print(argument)
            return
    sys.exit(f"{manifest} says nothing of {module}")


def complete(graph, lower):
    """Adds to a module's types what extensions give them: those of lower targets, which the extractor leaves out for a
    type that is exported again, and the module's own, which it makes a second symbol of the type's name."""
    data = json.loads(graph.read_text())
    types = {link["source"]: link["target"] for link in data["relationships"] if link["kind"] == "extensionTo"}
    data["symbols"] = [symbol for symbol in data["symbols"] if symbol["kind"]["identifier"] != "swift.extension"]
    data["relationships"] = [link for link in data["relationships"] if link["kind"] != "extensionTo"]
    for link in data["relationships"]:
        for end in ("source", "target"):
            link[end] = types.get(link[end], link[end])

    known = {symbol["identifier"]["precise"] for symbol in data["symbols"]}
    links = {(link["kind"], link["source"], link["target"]) for link in data["relationships"]}
    for other in map(json.loads, map(Path.read_text, sorted(lower.glob("*.symbols.json")))):
        symbols = {symbol["identifier"]["precise"]: symbol for symbol in other["symbols"]}
        members = [link for link in other["relationships"] if link["kind"] == "memberOf"]
        while found := {link["source"] for link in members if link["target"] in known} - known:
            data["symbols"] += [symbols[name] for name in found if name in symbols]
            known |= found
        data["relationships"] += [
            link for link in other["relationships"]
            if link["source"] in known and (link["kind"], link["source"], link["target"]) not in links
        ]
    graph.write_text(json.dumps(data))


def top_level(graph):
    """The names of a module's types and macros, each with its paths for links: Model, and Model(table:)."""
    names = {}
    for symbol in json.loads(graph.read_text())["symbols"]:
        path = symbol["pathComponents"]
        if len(path) == 1 and symbol["kind"]["identifier"] != "swift.func.op":
            names.setdefault(path[0].partition("(")[0], []).append(path[0])
    return names


def sections():
    """The sections of Documentation/Reference.md: their titles, sentences and names."""
    for section in re.split(r"(?m)^## ", REFERENCE.read_text())[1:]:
        title, _, text = section.partition("\n")
        sentences = text.partition("\n- ")[0].strip()
        yield title, sentences, re.findall(r"(?m)^- `(\w+)`", text)


def topics(names, module, images):
    """The types of a module by the sections of the reference. DocC groups the rest of another module than Relata.

    A topic has another title than a guide, because `<doc:Queries>` could mean either otherwise.
    """
    rest = dict(names)
    lines = []

    def add(title, sentences, paths):
        lines.extend([f"### {title}", ""] + ([sentences, ""] if sentences else []))
        lines.extend([f"- ``{path}``" for path in paths] + [""])

    for title, sentences, listed in sections():
        owner = re.search(r"`import (\w+)` has these", sentences)
        if owner and owner.group(1) != module:
            continue
        paths = [path for name in listed for path in sorted(rest.pop(name, []))]
        if paths:
            # The guides are in the pages of Relata.
            add(f"API: {title}", rewritten(REFERENCE, sentences, images) if module == "Relata" else "", paths)
    if module == "Relata" and rest:
        add("Named by the code of macros", "", [path for paths in rest.values() for path in paths])
    return lines


def catalogue(module, graphs, lower, folder):
    """Writes the catalogue of a module, and of Relata with the guides."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    images = set()
    complete(graphs / f"{module}.symbols.json", lower)
    names = top_level(graphs / f"{module}.symbols.json")
    lines = [f"# ``{module}``", ""]
    if module == "Relata":
        readme = (ROOT / "README.md").read_text()
        summary = next(text for text in readme.split("\n\n") if text.startswith("Relata is"))
        example = re.search(r"(?ms)^```swift\n.*?^```\n\n```text\n.*?^```$", readme).group(0)
        first, _, others = summary.partition(". ")
        lines += [first + ".", "", "## Overview", "", others, "", example, "", "## Topics", ""]
        for title, folder_name in [("Guides", ""), ("Coming from", "ComingFrom"), ("Stories", "Stories")]:
            own = [path for path in guides() if path.parent == GUIDES / folder_name]
            lines += [f"### {title}", ""] + [f"- <doc:{article(path)}>" for path in own] + [""]
            if folder_name == "Stories":
                lines += ["### Tutorials", "", "- <doc:Tutorials>", ""]
        lines += topics(names, module, images)
        images |= tutorials(folder)
        for path in guides():
            text = rewritten(path, path.read_text(), images)
            (folder / f"{article(path)}.md").write_text(text)
    else:
        job = re.search(rf"(?m)^\|.*`{module}`.*\| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text()).group(1)
        lines += [job[0].upper() + job[1:] + ".", "", "## Overview", ""]
        own = [path for path in guides() if re.search(rf"\b{module}\b", path.read_text())]
        # In a module that extends types of Relata, DocC looks for /Relata among the extensions only.
        extends = (graphs / f"{module}@Relata.symbols.json").exists()
        titles = [path.read_text().partition("\n")[0].removeprefix("# ") for path in own]
        links = titles if extends else [f"<doc:/Relata/{article(path)}>" for path in own]
        lines += ["Guides in the pages of Relata that mention it:", ""] + [f"- {link}" for link in links] + [""]
        lines += ["## Topics", ""] + topics(names, module, images)
    (folder / f"{module}.md").write_text("\n".join(lines) + "\n")
    for image in images:
        shutil.copy(image, folder)


def tutorials(folder):
    """Copies the tutorials with the files of their steps, and returns the pictures that they show."""
    images = set()
    for path in sorted((GUIDES / "Tutorials").glob("*.tutorial")):
        shutil.copy(path, folder)
        images |= {GUIDES / "Images" / name for name in re.findall(r'@Image\(source: "([^"]+)"', path.read_text())}
    for path in sorted((ROOT / "Examples" / "Tutorials").rglob("*.swift")):
        shutil.copy(path, folder)
    return images


def identifiers(value):
    """All references within a page: of links in its text, and of topics."""
    if isinstance(value, dict):
        if value.get("type") == "reference" or value.get("type") == "image":
            yield value["identifier"]
        for key, item in value.items():
            if key == "identifiers":
                yield from item
            elif key != "references":
                yield from identifiers(item)
    elif isinstance(value, list):
        for item in value:
            yield from identifiers(item)


def leads_nowhere(site, url):
    """Whether an address of the pages has no file."""
    path = unquote(url.partition("#")[0]).strip("/")
    if not path.startswith(("documentation", "tutorials")):
        return not (site / path).is_file()
    return not (site / "data" / f"{path.lower()}.json").is_file() or not (site / path.lower() / "index.html").is_file()


def check(site):
    """Prints what leads nowhere, and how many pages there are."""
    findings = set()
    pages = sorted((site / "data").rglob("*.json"))
    for page in pages:
        data = json.loads(page.read_text())
        where = page.relative_to(site / "data").with_suffix("")
        references = data.get("references", {})
        # A chapter has no page: the overview of the tutorials shows it.
        chapters = {chapter["reference"] for chapter in data.get("hierarchy", {}).get("modules", [])}
        findings.update(f"{where}: {name} is unknown" for name in identifiers(data) if name not in references)
        for name, reference in ((name, references[name]) for name in references.keys() - chapters):
            urls = [variant["url"] for variant in reference.get("variants", [])] + [reference.get("url", "")]
            for url in urls:
                if url.startswith("/") and leads_nowhere(site, url):
                    findings.add(f"{where}: {url} isn't there")
    index = json.loads((site / "index" / "index.json").read_text())

    def visit(node):
        if "path" in node and leads_nowhere(site, node["path"]):
            findings.add(f"index: {node['path']} isn't there")
        for child in node.get("children", []):
            visit(child)

    for nodes in index["interfaceLanguages"].values():
        for node in nodes:
            visit(node)
    for finding in sorted(findings):
        print(finding, file=sys.stderr)
    print(f"{len(pages)} pages; {len(findings)} links lead nowhere", file=sys.stderr)
    return not findings and bool(pages)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "flags":
        flags(Path(arguments[0]), arguments[1])
    elif command == "catalogue":
        catalogue(arguments[0], *map(Path, arguments[1:]))
    elif not check(Path(arguments[0])):
        sys.exit(1)
