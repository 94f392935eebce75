"""Space-time diagrams: processes are lines, time goes down, and messages are arrows.

A diagram has one row for each step of a run. `Drawing` collects what happens in each row, and
`svg` writes it down. Nothing here knows a protocol.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum

ROW = 34
COLUMN = 150
TOP = 46
MARGIN = 110
TEXT_GAP = 36
EDGE = 16
CHARACTER = 7.3
"""Width of a monospaced character of the text beside the lines."""
NOTE_CHARACTER = 6.4
"""Width of a character of a note, at most."""
PAGE_CLASS = "run"
"""The class of a diagram that is a part of a page."""
STYLE = """
.sheet { fill: #ffffff }
text { font-family: sans-serif; font-size: 12px; fill: #212121 }
.step { font-family: monospace; fill: #555555 }
.bad { fill: #b71c1c; font-weight: bold }
.name { font-weight: bold; text-anchor: middle }
.note { font-size: 11px }
.halo { stroke: #ffffff; stroke-width: 4px; fill: #ffffff; font-size: 11px }
.line { stroke: #424242; stroke-width: 1.6 }
.down { stroke: #bdbdbd; stroke-width: 1.6; stroke-dasharray: 2 5 }
.arrow { fill: none; stroke: #1565c0; stroke-width: 1.5 }
.control { stroke: #ad1457; stroke-dasharray: 6 3 }
.lost { stroke: #9e9e9e; stroke-dasharray: 2 3 }
.event { fill: #424242 }
.fail { fill: none; stroke: #b71c1c; stroke-width: 2.5 }
.cut { fill: none; stroke: #2e7d32; stroke-width: 2; stroke-dasharray: 9 4 }
.cutname { fill: #2e7d32; font-weight: bold }
"""


class Kind(Enum):
    """What an arrow carries."""

    MESSAGE = "message"
    CONTROL = "control"
    """Markers, acks, requests: what the protocol adds to the application's messages."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place on a line: the row of a step, and the line's name."""

    row: int
    line: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A message.

    Attributes
    ----------
    begin, end : where it was sent and received; `end` has row -1 if it never arrived
    """

    begin: Point
    end: Point
    label: str
    kind: Kind

    @property
    def is_lost(self) -> bool:
        """Whether it is still under way at the end of the run, or lost."""
        return self.end.row < 0


@dataclass(slots=True)
class Drawing:
    """What is drawn of a run, step by step.

    Attributes
    ----------
    lines : names of the lines, from left to right
    steps : text of each step
    marks : what a line does by itself
    crosses : where a line goes down, or something else is wrong, and what
    down : rows in which a line is down
    cut : points that one dashed line connects
    outcome : what is said below the last step; empty if nothing
    """

    lines: tuple[str, ...]
    steps: list[str] = field(default_factory=list)
    marks: list[tuple[Point, str]] = field(default_factory=list)
    crosses: list[tuple[Point, str]] = field(default_factory=list)
    down: list[Point] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    cut: list[Point] = field(default_factory=list)
    outcome: str = ""
    _sent: dict[Hashable, tuple[Point, str, str, Kind]] = field(default_factory=dict)
    _is_down: set[str] = field(default_factory=set)

    def begin_step(self, text: str) -> None:
        """Go to the next row."""
        self.steps.append(text)
        row = len(self.steps) - 1
        self.down += [Point(row, line) for line in sorted(self._is_down)]

    def here(self, line: object) -> Point:
        """Return the place of a line in the present row."""
        return Point(len(self.steps) - 1, str(line))

    def mark(self, line: object, text: str) -> None:
        """Note what a line does by itself."""
        self.marks.append((self.here(line), text))

    def send(
        self,
        key: Hashable,
        line: object,
        to: object,
        text: str = "",
        kind: Kind = Kind.MESSAGE,
    ) -> None:
        """Start an arrow.

        Parameters
        ----------
        key : what `receive` finds the arrow by
        line, to : who sends, and who should receive
        text, kind : what it carries
        """
        self._lose(key)
        self._sent[key] = (self.here(line), str(to), text, kind)

    def receive(self, key: Hashable, line: object) -> None:
        """End an arrow, if it was started."""
        if key in self._sent:
            begin, _, text, kind = self._sent.pop(key)
            self.arrows.append(Arrow(begin, self.here(line), text, kind))

    def deliver(self, line: object, to: object, text: str, kind: Kind = Kind.MESSAGE) -> None:
        """Draw a message that arrives in the step in which it is sent."""
        self.arrows.append(Arrow(self.here(line), self.here(to), text, kind))

    def fail(self, line: object) -> None:
        """Let a line go down."""
        self.cross(line, "fails")
        self._is_down.add(str(line))

    def cross(self, line: object, text: str) -> None:
        """Mark a place where something is wrong."""
        self.crosses.append((self.here(line), text))

    def recover(self, line: object) -> None:
        """Let a line come back."""
        self._is_down.discard(str(line))
        self.mark(line, "comes back")

    def finish(self, outcome: str) -> None:
        """End the run; what is under way never arrives."""
        self.outcome = outcome
        for key in list(self._sent):
            self._lose(key)

    def _lose(self, key: Hashable) -> None:
        """End an arrow that nobody receives, if there is one."""
        if key in self._sent:
            begin, to, text, kind = self._sent.pop(key)
            self.arrows.append(Arrow(begin, Point(-1, to), text, kind))


# --------------------------------------------------------------------------- as SVG


def svg(drawing: Drawing, title: str) -> str:
    """Return a diagram as a file; it needs no font, script or file from elsewhere."""
    root = _drawn(drawing, title)
    left, top, _, _ = root.attrib["viewBox"].split()
    sheet = {"class": "sheet", "x": left, "y": top, "width": "100%", "height": "100%"}
    root.insert(1, ET.Element("rect", sheet))
    root.insert(1, _heads())
    style = ET.Element("style")
    style.text = STYLE
    root.insert(1, style)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def svg_in_page(drawing: Drawing, title: str) -> str:
    """Return a diagram as a part of a page, which has `page_style` and `page_heads` once."""
    root = _drawn(drawing, title)
    root.set("class", PAGE_CLASS)
    return ET.tostring(root, encoding="unicode")


def page_style() -> str:
    """Return the rules of a page for the diagrams in it."""
    return "\n".join(f".{PAGE_CLASS} {rule}" for rule in STYLE.strip().splitlines())


def page_heads() -> str:
    """Return the heads of arrows, which the diagrams of a page share."""
    root = ET.Element("svg", {"class": f"{PAGE_CLASS} heads", "width": "0", "height": "0"})
    root.set("aria-hidden", "true")
    root.append(_heads())
    return ET.tostring(root, encoding="unicode")


def _drawn(drawing: Drawing, title: str) -> ET.Element:
    """Draw, with the text of the steps right of everything, and as little around it as possible."""
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    ET.SubElement(root, "title").text = title
    _lines(root, drawing)
    _cut(root, drawing)
    for arrow in drawing.arrows:
        _arrow(root, drawing, arrow)
    _marks(root, drawing)
    left, right = _extent(root)
    for row, text in enumerate(drawing.steps):
        _text(root, (right + TEXT_GAP, _y(row) + 4), f"{row + 1:>2}  {text}", "step")
    if drawing.outcome:
        _text(root, (right + TEXT_GAP, _y(len(drawing.steps)) + 4), drawing.outcome, "bad")
    longest = max([len(text) + 4 for text in drawing.steps] + [len(drawing.outcome)])
    width = right - left + TEXT_GAP + longest * CHARACTER + EDGE
    height = _y(len(drawing.steps)) + 26
    root.set("viewBox", f"{left - EDGE:.0f} 0 {width + EDGE:.0f} {height}")
    root.set("width", f"{width + EDGE:.0f}")
    root.set("height", str(height))
    return root


def _extent(root: ET.Element) -> tuple[float, float]:
    """Return how far lines and texts reach to the left and to the right, about."""
    ends = [float(line.attrib["x1"]) for line in root.iter("line")]
    for text in root.iter("text"):
        x, width = float(text.attrib["x"]), len(text.text or "") * NOTE_CHARACTER
        style = text.attrib.get("style", "")
        if text.attrib["class"] == "name" or "middle" in style:
            x -= width / 2
        elif "end" in style:
            x -= width
        ends += [x, x + width]
    return min(ends), max(ends)


def _heads() -> ET.Element:
    definitions = ET.Element("defs")
    for name, colour in (("message", "#1565c0"), ("control", "#ad1457"), ("lost", "#9e9e9e")):
        head = {"id": f"head-{name}", "viewBox": "0 0 10 10", "refX": "9", "refY": "5"}
        size = {"markerWidth": "8", "markerHeight": "8", "orient": "auto"}
        marker = ET.SubElement(definitions, "marker", head | size)
        shape = {"class": f"head-{name}", "d": "M0,0 L10,5 L0,10 Z", "fill": colour}
        ET.SubElement(marker, "path", shape)
    return definitions


def _lines(root: ET.Element, drawing: Drawing) -> None:
    rows = len(drawing.steps)
    for line in drawing.lines:
        x = _x(drawing, line)
        _text(root, (x, 22), line, "name")
        gone = {point.row for point in drawing.down if point.line == line}
        for row in range(-1, rows):
            top, bottom = (TOP - 14 if row < 0 else _y(row)), _y(row + 1)
            end = bottom - 14 if row == rows - 1 else bottom
            is_down = row + 1 in gone or (row == rows - 1 and row in gone)
            ends = {"x1": f"{x}", "x2": f"{x}", "y1": f"{top}", "y2": f"{end}"}
            ET.SubElement(root, "line", {"class": "down" if is_down else "line"} | ends)


def _cut(root: ET.Element, drawing: Drawing) -> None:
    points = sorted(drawing.cut, key=lambda point: drawing.lines.index(point.line))
    if len(points) < 2:
        return
    places = [(_x(drawing, point.line), _y(point.row) - 9) for point in points]
    places = [(places[0][0] - 46, places[0][1]), *places, (places[-1][0] + 46, places[-1][1])]
    ET.SubElement(
        root, "polyline", {"class": "cut", "points": " ".join(f"{x},{y}" for x, y in places)}
    )
    _text(root, (places[0][0] - 18, places[0][1] - 6), "cut", "cutname")


def _arrow(root: ET.Element, drawing: Drawing, arrow: Arrow) -> None:
    x, y = _x(drawing, arrow.begin.line), _y(arrow.begin.row)
    if arrow.is_lost:
        x_end, y_end = x + (_x(drawing, arrow.end.line) - x) * 0.55, y + ROW * 0.55
    else:
        x_end, y_end = _x(drawing, arrow.end.line), _y(arrow.end.row)
    if not arrow.is_lost and y == y_end:
        y_end += 7  # sent and received in one step
    name = "lost" if arrow.is_lost else arrow.kind.value
    shape = {"class": f"arrow {name}", "d": f"M{x},{y} L{x_end:g},{y_end:g}"}
    ET.SubElement(root, "path", shape | {"marker-end": f"url(#head-{name})"})
    if arrow.is_lost:
        anchor, gap = ("start", 6) if x_end > x else ("end", -6)
        _note(root, x_end + gap, y_end + 4, f"{arrow.label} (not received)", anchor)
    else:
        # Those of the protocol close to the sender: arrows cross in the middle.
        part = 0.2 if arrow.kind is Kind.CONTROL and y_end - y >= ROW else 0.5
        middle = x + (x_end - x) * part, y + (y_end - y) * part - 4
        _note(root, *middle, arrow.label, "middle")


def _marks(root: ET.Element, drawing: Drawing) -> None:
    for point, text in drawing.marks:
        x, y = _x(drawing, point.line), _y(point.row)
        ET.SubElement(root, "circle", {"class": "event", "cx": f"{x}", "cy": f"{y}", "r": "4"})
        if _is_busy_to_the_right(drawing, point):
            _note(root, x - 8, y - 5, text, "end")
        else:
            _note(root, x + 8, y - 5, text)
    for point, text in drawing.crosses:
        x, y = _x(drawing, point.line), _y(point.row)
        cross = f"M{x - 6},{y - 6} L{x + 6},{y + 6} M{x - 6},{y + 6} L{x + 6},{y - 6}"
        ET.SubElement(root, "path", {"class": "fail", "d": cross})
        _note(root, x + 10, y - 5, text)


def _is_busy_to_the_right(drawing: Drawing, point: Point) -> bool:
    """Return whether an arrow begins or ends here that comes from the right, or goes there."""
    others = [arrow.end for arrow in drawing.arrows if arrow.begin == point]
    others += [arrow.begin for arrow in drawing.arrows if arrow.end == point]
    return any(_x(drawing, other.line) > _x(drawing, point.line) for other in others)


def _note(root: ET.Element, x: float, y: float, text: str, anchor: str = "start") -> None:
    """Write text that lines may run behind: on a halo of its own, as not all viewers paint one."""
    for kind in ("halo", "note"):
        _text(root, (x, y), text, kind, anchor)


def _text(
    root: ET.Element, at: tuple[float, float], text: str, kind: str, anchor: str = ""
) -> None:
    place = {"class": kind, "x": f"{at[0]:g}", "y": f"{at[1]:g}", "xml:space": "preserve"}
    style = {"style": f"text-anchor: {anchor}"} if anchor else {}
    ET.SubElement(root, "text", place | style).text = text


def _x(drawing: Drawing, line: str) -> int:
    return MARGIN + COLUMN * drawing.lines.index(line)


def _y(row: int) -> int:
    return TOP + 10 + ROW * row
