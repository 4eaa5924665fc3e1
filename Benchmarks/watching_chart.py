#!/usr/bin/env python3
"""Draws the minutes of `test_watching`, from the table that it writes: what happened, and how fast and how large the service was.

    python3 Benchmarks/watching_chart.py .build/watching-sqlite.csv docs/charts/watching-sqlite.svg "An hour on SQLite"
"""

import csv
import sys
from html import escape

from recovery_chart import LEFT, RIGHT, WIDTH, axis_end

HEIGHT, GAP, TOP = 84, 44, 70
# What each panel shows: a name, and its columns with the style and the name of each.
PANELS = [
    ("99 of 100 answers and deliveries come within, ms",
     [("accept p99 ms", "one", "accepted"), ("delivery p99 ms", "two", "delivered")]),
    ("calls that have ended, per second", [("calls/s", "one", "")]),
    ("resident memory, MB", [("rss MB", "one", "")]),
    ("store and log, MB", [("store MB", "one", "store"), ("log MB", "two", "log")]),
    ("threads and file descriptors", [("threads", "one", "threads"), ("descriptors", "two", "descriptors")]),
]
STYLE = """
.paper { fill: #fff } text { font: 12px system-ui, sans-serif; fill: #333 } .title { font-size: 15px; font-weight: 600 }
.axis { stroke: #999; fill: none } .grid { stroke: #ddd; fill: none } .event { stroke: #d33; stroke-dasharray: 4 4 }
polyline { fill: none; stroke-width: 2 } .one { stroke: #0969da } .two { stroke: #8250df }
@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #ddd } .axis { stroke: #777 } .grid { stroke: #444 }
.one { stroke: #58a6ff } .two { stroke: #bc8cff } }
"""


def chart(title, rows):
    last = max(int(row["minute"]) for row in rows)
    bottom = TOP + len(PANELS) * (HEIGHT + GAP)

    def x(minute):
        return LEFT + (WIDTH - LEFT - RIGHT) * int(minute) / last

    parts = [f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>']
    for row in rows:
        if row["what"]:
            parts.append(f'<path class="event" d="M{x(row["minute"]):.1f} {TOP - 14}V{bottom - GAP}"/>'
                         f'<text x="{x(row["minute"]):.1f}" y="{TOP - 20}" text-anchor="middle">{escape(row["what"])}</text>')
    for place, (name, columns) in enumerate(PANELS):
        top = TOP + place * (HEIGHT + GAP)
        most = axis_end(max(float(row[column] or 0) for row in rows for column, *_ in columns))
        parts.append(f'<text x="{LEFT}" y="{top - 4}">{escape(name)}</text>')
        for part in range(3):
            y = top + HEIGHT * (1 - part / 2)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
                         f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{most * part / 2:g}</text>')
        for number, (column, style, label) in enumerate(columns):
            points = " ".join(f"{x(row['minute']):.1f},{top + HEIGHT * (1 - float(row[column]) / most):.1f}"
                              for row in rows if row[column])
            parts.append(f'<polyline class="{style}" points="{points}"/>')
            if label:
                at = WIDTH - RIGHT - 110 * (len(columns) - number)
                parts.append(f'<polyline class="{style}" points="{at},{top - 8} {at + 22},{top - 8}"/>'
                             f'<text x="{at + 28}" y="{top - 4}">{label}</text>')
    for minute in range(0, last + 1, 10 if last > 20 else 1):
        parts.append(f'<text x="{x(minute):.1f}" y="{bottom - GAP + 18}" text-anchor="middle">{minute} min</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" width="{WIDTH}" height="{bottom}" '
            f'role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n'
            f'<rect class="paper" width="{WIDTH}" height="{bottom}"/>\n' + "\n".join(parts) + "\n</svg>\n")


def main():
    table, picture, title = sys.argv[1:]
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(picture, "w") as file:
        file.write(chart(title, rows))


if __name__ == "__main__":
    main()
