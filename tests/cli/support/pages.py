"""The page of `verify`, written for a test and read again."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from streamproof.cli.html import Ran, write_html
from streamproof.cli.spark_examples import EXAMPLES
from streamproof.models.kit.verdict import ExitCode

FOUND = {
    "flights": {"equal": True, "rows": 336_776, "seconds": {"feed": 12.5}},
    "airports": {"equal": True, "rows": 20_000, "seconds": {"run": 22.0}},
    "takeover": {"absent": "not part of this installation; a checkout has it"},
}


class Page(HTMLParser):
    """What a page has: ids, links, tags, and the words in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.text = path, path.read_text(encoding="utf-8")
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        if tag == "a":
            self.links.append(given["href"])
        else:
            self.fetched += [given[name] for name in ("src", "href", "data") if name in given]

    def dead_links(self) -> list[str]:
        return [link for link in self.links if not self.leads_somewhere(link)]

    def leads_somewhere(self, link: str) -> bool:
        if link.startswith("#"):
            return link[1:] in self.ids
        return (self.path.parent / link).is_file()


def written(path: Path, *reports, code=ExitCode.GREEN, found=FOUND, figures=None):
    ran = Ran(found, figures or {})
    shown = [one.row(found[one.name]) for one in EXAMPLES if one.name in found]
    write_html(path, list(reports), shown, ran, code, 75.0)
    return Page(path)
