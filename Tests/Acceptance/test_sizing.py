"""docs/sizing.md: its tables follow from the figures that were measured, and from the settings."""

import re

import pytest

from processes import ROOT, run

PAGE = (ROOT / "docs/sizing.md").read_text()
MEASURED = re.search(r"^```\n(.*?)^```$", PAGE, re.M | re.S)[1]
DAY = 86_400


def figures(pattern):
    return [tuple(map(float, match)) for match in re.findall(pattern, MEASURED, re.M)]


# calls/s, cores, written MB/s, resident MB, µs of CPU a call, written kB a call
RATES = figures(r"^ *(\d+) +(0\.\d{4}) +([\d.]+) +([\d.]+) +(\d+) +([\d.]+)$")
# kB a call by the size of the body: ended and waiting in the file, ended and waiting in PostgreSQL
STORED = {row[0]: row[1:] for row in figures(r"^ *(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$")}
WAITING = dict((row[0], row[1:]) for row in figures(r"^ *(\d+) +([\d.]+) +(\d\.\d\d)$"))


def rows(section):
    text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| .* \|$", text, re.M)[2:]]


def default(key):
    return int(re.search(rf"\.{key} = (\d+) ", run("serve", "--print-config").stdout)[1])


def test_the_table_of_loads_follows_from_the_figures():
    assert len(RATES) == 4 and len(STORED) == 4
    table = rows("How much for which load")
    assert [int(row[0]) for row in table] == [1, 10, 100, 1000]
    # A call at one a second costs no more than at ten.
    cpu, written = ({1: column[0], 10: column[0], 100: column[1], 1000: column[2]} for column in (
        [rate[4] for rate in RATES], [rate[5] for rate in RATES]))
    for calls, a_day, cores, megabytes, one_day, week, kept in table:
        rate = int(calls)
        assert int(a_day) == rate * DAY
        assert float(cores) == pytest.approx(rate * cpu[rate] / 1e6, rel=0.35)
        assert float(megabytes) == pytest.approx(rate * written[rate] / 1e3, rel=0.05)
        daily = rate * DAY * STORED[200][0] * 1e3
        assert float(one_day) == pytest.approx(daily / 1e9, abs=0.051)
        assert float(week) == pytest.approx(7 * daily / 1e9, abs=0.051)
        number, unit = kept.split()
        days = float(number) / {"days": 1, "hours": 24}[unit]
        assert days == pytest.approx(default("retentionBytes") / daily, rel=0.03)


def test_memory_and_backlog_follow_from_the_figures():
    memory = {row[0]: row[1] for row in rows("Memory")}
    idle, million = WAITING[0][0], WAITING[1_000_000][0]
    assert float(memory["the process"]) == pytest.approx(idle, abs=1)
    assert float(memory["a million calls that wait in the store"]) == pytest.approx(million - idle, abs=1)
    assert float(memory["1,000 calls a second"]) == pytest.approx(RATES[2][3] - idle, abs=2)
    held = float(re.search(r"dead target: ([\d.]+) MB", MEASURED)[1])
    (due,) = (value for name, value in memory.items() if name.startswith("due calls"))
    assert float(due) == pytest.approx(held - idle, abs=2)
    for name, gigabytes, more, _ in rows("A backlog"):
        count = int(re.match(r"[\d,]+", name)[0].replace(",", ""))
        assert float(gigabytes) == pytest.approx(count * STORED[200][1] / 1e6, abs=0.051)
        if count in WAITING:
            assert float(more) == pytest.approx(WAITING[count][0] - idle, abs=1)
    assert default("maxUnfinished") == 10_000_000
    # At 100 calls a second with bodies of 2,000 bytes.
    assert float(re.search(r"a day of outage is (\d+) GB", PAGE)[1]) == pytest.approx(100 * DAY * STORED[2000][1] / 1e6, abs=1)
    worst = default("maxHeldBytes") + default("maxInFlight") * ((256 << 10) + 65536)
    assert float(re.search(r"([\d.]+) GiB with the defaults", PAGE)[1]) == pytest.approx(worst / (1 << 30), abs=0.06)
    (stored,) = (row[1] for row in rows("On PostgreSQL") if row[0].startswith("rows"))
    assert float(stored.split()[0]) == pytest.approx(1000 * DAY * STORED[200][2] / 1e6, abs=1)
