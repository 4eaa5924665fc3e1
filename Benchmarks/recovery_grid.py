#!/usr/bin/env python3
"""Draws how the paces of a grid of outages compare, from the lines that `recovery-benchmark -v` prints:

    recovery-benchmark -v | python3 Benchmarks/recovery_grid.py docs/charts/recovery-grid.svg
"""

import math
import re
import sys

LINE = re.compile(r"\d+ (?P<pace>[^:]+): .* recovery × ideal (?P<ratio>\S+), refused (?P<refused>\S+)(?: %)?,")
COLORS = ["#d1442f", "#2f6fd1", "#3d9950", "#8e5bc4", "#c08a1e", "#2a9d9d", "#c4508f", "#7a7a7a"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 340, 220, 44, 40, 60


def read(lines):
    """The ratios and the refused shares of each pace, in the order of the input."""
    paces = {}
    for line in lines:
        match = LINE.match(line)
        if match:
            ratios, refused = paces.setdefault(match["pace"], ([], []))
            ratios.append(math.inf if match["ratio"] in ("never", "nan") else float(match["ratio"]))
            refused.append(float(match["refused"]) if match["refused"] != "-" else math.inf)
    return paces


def curve(values, low, high, x, y):
    """The share of scenarios up to each value, as the points of a line with steps."""
    points, last = [(low, 0.0)], 0.0
    for number, value in enumerate(sorted(values), 1):
        if value > high:
            break
        points += [(max(low, value), last), (max(low, value), number / len(values))]
        last = number / len(values)
    points.append((high, last))
    return " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)


def panel(title, left, ticks, label, paces, which):
    low, high = ticks[0], ticks[-1]
    x = lambda value: left + WIDTH * math.log(value / low) / math.log(high / low)
    y = lambda share: TOP + HEIGHT * (1 - share)
    parts = [f'<text x="{left}" y="{TOP - 14}" font-weight="bold">{title}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line class="grid" x1="{left}" x2="{left + WIDTH}" y1="{y(share)}" y2="{y(share)}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(share) + 4}" text-anchor="end">{share * 100:.0f} %</text>')
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{TOP + HEIGHT}"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{label(tick)}</text>')
    for index, name in reversed(list(enumerate(paces))):
        line = curve(paces[name][which], low, high, x, y)
        width = 3 if index == 0 else 1.5
        color = COLORS[index % len(COLORS)]
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="{width}" points="{line}"/>')
    return parts


def draw(paces):
    second = LEFT + WIDTH + GAP
    parts = panel("Scenarios that recover within … × the ideal time", LEFT, [1, 1.25, 1.6, 2.5, 5, 10],
                  lambda tick: f"{tick:g}", paces, 0)
    parts += panel("Scenarios with at most … refused, of the backlog", second, [0.1, 1, 10, 100, 1000, 10000],
                   lambda tick: f"{tick:g} %", paces, 1)
    for index, name in enumerate(paces):
        left, top = LEFT + (index % 4) * 190, TOP + HEIGHT + 40 + (index // 4) * 20
        parts.append(f'<rect x="{left}" y="{top - 9}" width="14" height="6" fill="{COLORS[index % len(COLORS)]}"/>')
        parts.append(f'<text x="{left + 20}" y="{top}">{name}</text>')
    width, height = second + WIDTH + 30, TOP + HEIGHT + 50 + 20 * ((len(paces) + 3) // 4)
    style = ("text{font:12px sans-serif;fill:#333}.grid{stroke:#8884;stroke-width:1}"
             "@media(prefers-color-scheme:dark){text{fill:#ddd}}")
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">',
                      f"<style>{style}</style>", *parts, "</svg>", ""])


def main():
    paces = read(sys.stdin)
    if not paces:
        sys.exit("no scenario in the input; pipe the output of `recovery-benchmark -v` into it")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw(paces))
    print(", ".join(f"{name}: {len(ratios)} scenarios" for name, (ratios, _) in paces.items()))


if __name__ == "__main__":
    main()
