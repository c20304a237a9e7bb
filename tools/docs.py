#!/usr/bin/env python3
"""What tools/docs.sh needs beside Doxygen. Links in pages are written so that they work on a Git host, each in one line.

docs.py filter FILE.md   the page as Doxygen is to read it, to standard output
docs.py links            checks the links of all pages, as a Git host shows them
docs.py site HTML_DIR    copies the sources that pages link to, then checks the site's links
docs.py docstrings XML_DIR    looks for what Doxygen says nothing about: enumerators without one

All but the first print what is wrong, and fail where something is.
"""

import html.parser
import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/RESULTS.md",
         *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))]
DOXYFILE = (ROOT / "docs/Doxyfile").read_text()
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) (.*?)\s*$")


def slug(title):
    """A heading's anchor on a Git host."""
    title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def label(page, anchor=""):
    """The same for Doxygen, whose anchors are of all pages together."""
    if page == "README.md" and not anchor:
        return "index"
    name = re.sub(r"\W", "_", page.removesuffix(".md"))
    return f"{name}--{anchor}" if anchor else name


def prose(lines):
    """Each line, and whether it is prose: not of a code block."""
    fence = False
    for line in lines:
        if line.lstrip().startswith("```"):
            fence = not fence
            yield line, False
        else:
            yield line, not fence and not line.startswith("    ")


def headings(page):
    """The anchors of a page's lines, for those that are headings."""
    seen = {}
    for number, (line, is_prose) in enumerate(prose((ROOT / page).read_text().splitlines())):
        heading = HEADING.match(line) if is_prose else None
        if heading:
            name = slug(heading[2])
            seen[name] = seen.get(name, -1) + 1
            yield number, f"{name}-{seen[name]}" if seen[name] else name


def resolved(page, target):
    """The file that a link names, and the anchor in it."""
    path, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    return path, anchor


def is_elsewhere(target):
    return re.match(r"[a-z]+:", target) is not None


def site_link(page, match):
    image, text, target = match.groups()
    if is_elsewhere(target):
        return match[0]
    if image:
        return f"![{text}]({os.path.basename(target)})"  # of Doxygen's IMAGE_PATH
    path, anchor = resolved(page, target)
    plain = text.replace("`", "")  # Doxygen prints them in texts of @ref
    if path in PAGES:
        return f"[{plain}](@ref {label(path, anchor)})"
    if (ROOT / path).is_dir():
        return text
    if path.startswith("lib/include/quadtile/") or path in DOXYFILE:
        return f"[{plain}](@ref {path})"
    return f"[{text}](sources/{path}.txt)"


def filtered(page):
    anchors = dict(headings(page))
    title = min(anchors, default=None)
    for number, (line, is_prose) in enumerate(prose((ROOT / page).read_text().splitlines())):
        if is_prose:
            line = LINK.sub(lambda match: site_link(page, match), line)
        if number == title:
            # Doxygen itself labels the main page.
            line += f" {{#{label(page)}}}" if page != "README.md" else ""
        elif number in anchors:
            line += f" {{#{label(page, anchors[number])}}}"
        yield line


def links():
    for page in PAGES:
        for number, (line, is_prose) in enumerate(prose((ROOT / page).read_text().splitlines()), 1):
            if is_prose:
                for match in LINK.finditer(line):
                    if not is_elsewhere(match[3]):
                        yield page, number, match[3], *resolved(page, match[3])


def links_check():
    for page, number, target, path, anchor in links():
        if not (ROOT / path).exists():
            yield f"{page}:{number}: {target}: there is no {path} in the repository"
        elif anchor and (path not in PAGES or anchor not in dict(headings(path)).values()):
            yield f"{page}:{number}: {target}: {path} has no heading #{anchor}"


class Html(html.parser.HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.targets, self.ids = [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src", "data") and value:
                self.targets.append(value)
            elif name in ("id", "name"):
                self.ids.add(value)


def site(folder):
    for _, _, _, path, _ in links():
        source = ROOT / path
        if source.is_file() and path not in PAGES and not path.endswith((".png", ".jpg", ".svg")):
            copy = folder / "sources" / f"{path}.txt"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    pages = {file.name: Html(file) for file in folder.glob("*.html")}
    for name, page in sorted(pages.items()):
        for target in page.targets:
            path, _, anchor = target.partition("#")
            path = path or name
            if is_elsewhere(target):
                continue
            if not (folder / path).exists():
                yield f"{name}: {target}: there is no {path}"
            elif anchor and path in pages and anchor not in pages[path].ids:
                yield f"{name}: {target}: {path} has no #{anchor}"


def docstrings(folder):
    for file in sorted(folder.glob("*.xml")):
        for member in xml.etree.ElementTree.parse(file).iter("memberdef"):
            for value in member.findall("enumvalue") if member.get("prot") == "public" else []:
                texts = (value.find("briefdescription"), value.find("detaileddescription"))
                if not any("".join(text.itertext()).strip() for text in texts):
                    yield f"{member.find('location').get('file')}: {value.find('name').text} has no docstring"


def main():
    mode, *arguments = sys.argv[1:]
    if mode == "filter":
        page = str(pathlib.Path(arguments[0]).resolve().relative_to(ROOT))
        print("\n".join(filtered(page)))
        return 0
    check = {"links": links_check, "site": site, "docstrings": docstrings}[mode]
    wrong = sorted(set(check(*map(pathlib.Path, arguments))))
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
