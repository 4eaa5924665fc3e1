"""A chart of a recovery: requests per second above, unfinished calls below. SVG, in light or dark as its reader prefers."""

from html import escape

WIDTH, LEFT, RIGHT = 860, 64, 24
PANELS = {"top": (64, 210), "bottom": (332, 120)}  # the top of each, and its height
STYLE = """
.paper { fill: #fff } text { font: 12px system-ui, sans-serif; fill: #333 } .title { font-size: 15px; font-weight: 600 }
.axis { stroke: #999; fill: none } .grid { stroke: #ddd; fill: none } .outage { fill: #d33; fill-opacity: .1 }
polyline { fill: none; stroke-width: 2 } .delivered { stroke: #1a7f37 } .refused { stroke: #cf222e } .pace { stroke: #0969da }
.capacity { stroke: #777; stroke-dasharray: 6 4 } .backlog { stroke: #8250df }
@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #ddd } .axis { stroke: #777 } .grid { stroke: #444 }
.delivered { stroke: #3fb950 } .refused { stroke: #ff7b72 } .pace { stroke: #58a6ff } .capacity { stroke: #999 }
.backlog { stroke: #bc8cff } .outage { fill-opacity: .2 } }
"""


def axis_end(value):
    """The end of an axis: the smallest of 1, 2, 2.5 or 5 times a power of ten that is not below a value."""
    power = 1
    while power * 10 < value:
        power *= 10
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value)


class Panel:
    def __init__(self, name, seconds, most):
        self.top, self.height = PANELS[name]
        self.seconds, self.most, self.parts = seconds, axis_end(most), []

    def x(self, at):
        return LEFT + (WIDTH - LEFT - RIGHT) * min(1, max(0, at / self.seconds))

    def y(self, value):
        return self.top + self.height * (1 - min(1, max(0, value / self.most)))

    def frame(self, label, outage):
        self.parts.append(f'<text x="{LEFT}" y="{self.top - 8}">{escape(label)}</text>')
        self.parts.append(f'<rect class="outage" x="{self.x(outage[0]):.1f}" y="{self.top}" '
                          f'width="{self.x(outage[1]) - self.x(outage[0]):.1f}" height="{self.height}"/>')
        for part in range(5):
            value = self.most * part / 4
            self.parts.append(f'<path class="grid" d="M{LEFT} {self.y(value):.1f}H{WIDTH - RIGHT}"/>')
            self.parts.append(f'<text x="{LEFT - 8}" y="{self.y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
        for at in range(0, int(self.seconds) + 1, 10):
            self.parts.append(
                f'<text x="{self.x(at):.1f}" y="{self.top + self.height + 16}" text-anchor="middle">{at} s</text>')
        self.parts.append(f'<path class="axis" d="M{LEFT} {self.top}V{self.top + self.height}H{WIDTH - RIGHT}"/>')

    def line(self, style, points):
        text = " ".join(f"{self.x(at):.1f},{self.y(value):.1f}" for at, value in points if value is not None)
        self.parts.append(f'<polyline class="{style}" points="{text}"/>')


def chart(title, seconds, outage, samples):
    """The picture.

    `samples` are tuples: time, delivered, refused and the target's capacity per second, pace (None without a limit),
    unfinished calls."""
    above = Panel("top", seconds, max(max(s[1], s[2], s[3]) for s in samples) * 1.1)
    below = Panel("bottom", seconds, max(1, max(s[5] for s in samples)))
    above.frame("requests per second", outage)
    below.frame("unfinished calls", outage)
    for style, column in (("capacity", 3), ("refused", 2), ("pace", 4), ("delivered", 1)):
        above.line(style, [(s[0], s[column]) for s in samples])
    below.line("backlog", [(s[0], s[5]) for s in samples])
    legend, at = [], WIDTH - RIGHT - 430
    for style, text in (("delivered", "delivered"), ("refused", "refused"), ("pace", "pace"), ("capacity", "capacity")):
        legend.append(f'<polyline class="{style}" points="{at},52 {at + 22},52"/><text x="{at + 28}" y="56">{text}</text>')
        at += 110
    height = sum(PANELS["bottom"]) + 32
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n'
            f'<rect class="paper" width="{WIDTH}" height="{height}"/>\n'
            f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>\n' + "\n".join(legend + above.parts + below.parts)
            + "\n</svg>\n")
