"""Paths that users give: places of this machine's file system, or refused before anything is made.

Python takes a URL for a relative path. So `s3a://bucket/shop` would become the directory `s3a:` of
wherever the program was started, and what is written there would never reach the bucket.
"""

from __future__ import annotations

import os
import re

# Path("s3a://bucket") is s3a:/bucket by now; made absolute it has a component that ends in a colon.
_URL = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*:)")
_MADE_ABSOLUTE = re.compile(r"/([A-Za-z][A-Za-z0-9+.-]*:)(?:/|$)")


def why_not_local(given: object) -> str:
    """Describe why a path is no place of this machine, and what to write; '' if it is one.

    It looks at the text alone: whether something is there is another question.
    """
    if not isinstance(given, str | os.PathLike):
        return 'which is no path. Give a string or a pathlib.Path, such as "pipelines/shop"'
    text = os.fspath(given)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        return 'which names no place. Give a directory of this machine, such as "pipelines/shop"'
    if found := _URL.match(text) or _MADE_ABSOLUTE.search(text):
        return (
            f"which begins with the scheme {found[1]!r} as a URL does. Only directories of this "
            "machine are supported, and it would be taken for one of that name. Mount what it "
            "stands for, and give the path of the mount"
            if found.re is _URL
            else f"which has {found[1]!r} in it: a URL that was made an absolute path. Only "
            "directories of this machine are supported. Give the path of one"
        )
    if text == "~" or text.startswith("~/"):
        return (
            "where Python takes the ~ for a directory of that name. Write "
            f"pathlib.Path({text!r}).expanduser()"
        )
    return ""
