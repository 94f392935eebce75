"""Where a file of the repository stands on the site, and its links on the way there.

Pages below `docs/` keep their place. Some files of the root become pages, too. Any other file that
a page links to, such as an example, becomes a page with its text, so that the site needs no
repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from tools.docs.tables import ROOT

ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/decisions": "decisions/index.md",
}
"""Page of a file, or of a directory, by its path in the repository."""
LINK = re.compile(r"\]\((?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")
FENCE = re.compile(r"^ *(```|~~~)")
ITEM = re.compile(r"^(\* |- |\d+\. )")
LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".md": "markdown"}


def page_of(path: str) -> str:
    """Return the page of a file of the repository, as a path on the site."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.md"


def targets(markdown: str, repository_path: str) -> Iterator[str]:
    """List the files of the repository that a page links to."""
    for match in LINK.finditer(markdown):
        yield _resolved(match["path"], repository_path)


def linked_sources(pages: dict[str, str]) -> list[str]:
    """List the files outside of the site that pages, given by path and text, link to."""
    found = {target for path, text in pages.items() for target in targets(text, path)}
    return sorted(path for path in found if page_of(path).startswith("source/"))


def on_site(markdown: str, repository_path: str) -> str:
    """Rewrite a page's links for the place that it has on the site."""
    here = PurePosixPath(page_of(repository_path)).parent

    def moved(match: re.Match[str]) -> str:
        target = page_of(_resolved(match["path"], repository_path))
        return f"]({os.path.relpath(target, here)}{match['anchor'] or ''})"

    return outside_of_fences(markdown, lambda line: LINK.sub(moved, line))


def with_lists(markdown: str) -> str:
    """Put an empty line before a list that follows a line of text, as Python-Markdown wants it."""
    lines: list[str] = []
    for line, is_code in _lines(markdown):
        before = lines[-1] if lines else ""
        if not is_code and ITEM.match(line) and before and before[0] not in "*- 0123456789":
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def outside_of_fences(markdown: str, change: Callable[[str], str]) -> str:
    """Change the lines of a page that are no code."""
    return "\n".join(line if is_code else change(line) for line, is_code in _lines(markdown))


def source_page(path: str) -> str:
    """Write the page that shows a file of the repository."""
    text = (ROOT / path).read_text(encoding="utf-8").rstrip()
    language = LANGUAGES.get(Path(path).suffix, "")
    return f"# {path}\n\n````{language}\n{text}\n````\n"


def _resolved(link: str, repository_path: str) -> str:
    return os.path.normpath(PurePosixPath(repository_path).parent / link)


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    is_code = False
    for line in markdown.split("\n"):
        if FENCE.match(line):
            is_code = not is_code
            yield line, True
        else:
            yield line, is_code
