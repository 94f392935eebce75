"""Hooks of MkDocs: pages that are made from the repository, and links that lead out of `docs/`.

MkDocs loads this file by its path, with the repository's root in `sys.path` (`python -m mkdocs`).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.docs import api_reference, cli_reference, errors_reference, links
from tools.docs.blocks import diagrams, filled
from tools.docs.runs import RUNS
from tools.docs.tables import ROOT

PROTOCOL_PAGES = "explanation/protocols"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the sections of the navigation that grow by themselves."""
    _section(config.nav, "Decisions").extend(sorted(_decisions()))
    _section(config.nav, "API").extend(map(api_reference.page_of, api_reference.packages()))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and pictures that are made."""
    made = root_pages()
    made |= {
        "reference/cli.md": cli_reference.page(),
        "reference/errors.md": errors_reference.page(),
    }
    made |= {
        api_reference.page_of(name): api_reference.page(name) for name in api_reference.packages()
    }
    texts = {f"docs/{file.src_uri}": file.content_string for file in files.documentation_pages()}
    texts |= {path: _root_text(path) for path in links.ROOT_PAGES if path.endswith(".md")}
    made |= {links.page_of(path): links.source_page(path) for path in links.linked_sources(texts)}
    for protocol in RUNS:
        for name, (picture, _) in diagrams(protocol).items():
            made[f"{PROTOCOL_PAGES}/{protocol}-{name}.svg"] = picture
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Fill the blocks of a page, and rewrite its links."""
    place = PurePosixPath(page.file.src_uri)
    if page.file.generated_by is None:
        markdown = links.on_site(markdown, f"docs/{place}")
    is_protocol = str(place.parent) == PROTOCOL_PAGES and place.stem in RUNS
    return links.with_lists(filled(markdown, place.stem if is_protocol else ""))


def root_pages() -> dict[str, str]:
    """Make the pages of files of the repository's root, and the list of decisions."""
    made = {
        page: links.on_site(_root_text(path), path)
        for path, page in links.ROOT_PAGES.items()
        if path.endswith(".md")
    }
    lines = ["# Decisions", "", "Each page states a question, the choice, the numbers, and the"]
    lines += ["facts that would change the choice.", ""]
    lines += [
        f"* [{title}]({PurePosixPath(path).name})" for path, title in sorted(_decisions().items())
    ]
    return made | {"decisions/index.md": "\n".join(lines) + "\n"}


def _decisions() -> dict[str, str]:
    """Return the title of each decision, by its page."""
    paths = (ROOT / "docs/decisions").glob("[0-9]*.md")
    return {
        f"decisions/{path.name}": path.read_text(encoding="utf-8").partition("\n")[0].strip("# ")
        for path in paths
    }


def _root_text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _section(nav: Any, title: str) -> list[str]:
    """Find a section of the navigation, however deep."""
    for item in nav:
        for name, inside in item.items() if isinstance(item, dict) else ():
            if name == title:
                return inside  # type: ignore[no-any-return] # the list itself, to be filled
            if isinstance(inside, list):
                try:
                    return _section(inside, title)
                except LookupError:
                    continue
    raise LookupError(f"mkdocs.yml has no section {title}")
