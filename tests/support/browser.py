"""A real Chromium that opens a page, asked by its DevTools protocol over two pipes.

No driver and no package is needed beside the browser itself.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # as root there is none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)
SHIM = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser reads commands from file 3, and writes answers to file 4."""
ABOVE = 10
"""Files of ours with lower numbers might be 3 or 4."""


def chromium() -> str | None:
    """Find a Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A Chromium with one page."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._rest, self._number = b"", 0
        self.events: list[dict[str, Any]] = []
        self._session = ""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{part}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and wait for its answer."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, page: Path, width: int, height: int, *, dark: bool = False) -> None:
        """Load a page in a window of a size."""
        self.events.clear()
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.ask("Emulation.setDeviceMetricsOverride", mobile=width < 600, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """Run a script in the page, and return its value."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def key(self, name: str, code: int) -> None:
        """Press a key."""
        text = {"Enter": "\r"}.get(name, "")
        for kind in ("keyDown", "keyUp"):
            pressed = {"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code}
            self.ask("Input.dispatchKeyEvent", **pressed, **({"text": text} if text else {}))

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page."""
        found = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def complaints(self) -> list[str]:
        """List errors and warnings of the console, uncaught exceptions, and failed loads."""
        told = {"Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed"}
        found = [event for event in self.events if event.get("method") in told]
        found += [
            event
            for event in self.events
            if event.get("method") == "Runtime.consoleAPICalled"
            and event["params"]["type"] in ("error", "warning", "assert")
        ]
        return [json.dumps(event["params"]) for event in found]

    def requested(self) -> list[str]:
        """List the addresses that the page was loaded from."""
        asked = (
            event for event in self.events if event.get("method") == "Network.requestWillBeSent"
        )
        return [event["params"]["request"]["url"] for event in asked]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._answers, 1 << 20)
            assert read, "the browser has ended"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def browser(path: str, profile: Path) -> Iterator[Browser]:
    """Start a Chromium with a fresh profile, and end it."""
    ours, theirs = [], []
    for is_read_by_us in (False, True):
        ends = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, ABOVE) for end in ends]
        for end in ends:
            os.close(end)
        ours.append(high[0] if is_read_by_us else high[1])
        theirs.append(high[1] if is_read_by_us else high[0])
    words = [sys.executable, "-c", SHIM, *map(str, theirs), path, *ARGUMENTS]
    with subprocess.Popen(
        [*words, f"--user-data-dir={profile}"],
        pass_fds=theirs,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        for end in theirs:
            os.close(end)
        try:
            yield Browser(*ours)
        finally:
            with suppress(OSError):
                os.write(ours[0], b'{"id": 0, "method": "Browser.close"}\0')
            for end in ours:
                os.close(end)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
