"""A verdict as one self-contained HTML page: no scripts, no network."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from .table import heading, rows
from .verdict import Training, Verdict, told_tensorflow

if TYPE_CHECKING:
    from .models import ModelVerdict

Ticks = list[tuple[str, float]]

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 36
FIRST, SECOND, LIMIT, REAL = "#0b62a4", "#d9480f", "#868e96", "#2b8a3e"

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem;
       padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid #8884; text-align: left;
         vertical-align: top; overflow-wrap: anywhere; }
td:nth-child(2), td:nth-child(3) { font-variant-numeric: tabular-nums; }
.verdict { padding: .8rem 1rem; border-left: .4rem solid; border-radius: .2rem;
           background: #8881; }
.yes { border-color: #2b8a3e; } .no { border-color: #c92a2a; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; }
.differs td { background: #c92a2a22; } .skipped td { opacity: .7; }
.legend span { margin-right: 1.5rem; } .scroll { max-height: 24rem; overflow: auto; }
.key { display: inline-block; width: 1.6rem; height: .25rem; margin-right: .4rem;
       vertical-align: middle; }
"""


def render(verdict: Verdict) -> str:
    """The page's text."""
    paths = (str(verdict.first.path), str(verdict.second.path))
    broken = [escape(path).replace("/", "/<wbr>") + "<br>" for path in paths]
    columns = [
        path + escape(told)
        for path, told in zip([*broken, ""], heading(verdict), strict=False)
    ]
    return page(
        paths,
        "Do both train the same?",
        verdict,
        _causes(verdict),
        *(_charts(verdict, training) for training in verdict.trainings),
        "<h2>What was compared</h2>",
        table(columns, rows(verdict)),
        f"<p>Data: {escape(verdict.data)}.</p>" if verdict.data else "",
        _accuracies(verdict),
        *(_steps(verdict, training) for training in verdict.trainings),
    )


def page(
    paths: Sequence[str], question: str, verdict: Verdict | ModelVerdict, *parts: str
) -> str:
    """A page about two sides: what was asked, the verdict, the parts in HTML."""
    of = " and ".join(map(escape, paths))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{"Parity" if verdict.parity else "No parity"}: {of}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{question}</h1>
<p class="verdict {"yes" if verdict.parity else "no"}">{escape(verdict.sentence)}</p>
{"".join(parts)}
</body>
</html>
"""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of what was compared, under columns of HTML."""
    heads = "".join(f"<th>{column}</th>" for column in columns)
    lines = "\n".join(
        f'<tr class="{_judged(row[-1])}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return f"""<table>
<thead><tr><th></th>{heads}<th></th></tr></thead>
<tbody>
{lines}
</tbody>
</table>"""


def _judged(judgement: str) -> str:
    """The class of a table's row, by what its last cell says."""
    if judgement.startswith("differ"):
        return "differs"
    return "skipped" if judgement.startswith("not compared") else "same"


def _causes(verdict: Verdict) -> str:
    if not verdict.causes:
        return ""
    told = "".join(f"<li>{escape(cause)}</li>" for cause in verdict.causes)
    return f"<p>Likely causes, most likely first:</p><ol>{told}</ol>"


def _charts(verdict: Verdict, training: Training) -> str:
    trajectory = training.between.trajectory
    steps = trajectory.steps
    if not steps:
        return ""
    losses = [(trajectory.losses_first, FIRST, "6")]
    losses.append((trajectory.losses_second, SECOND, "2"))
    differences = [(trajectory.loss_limits, LIMIT, "1.5")]
    differences.append((trajectory.loss_differences, SECOND, "2"))
    third = apart = ""
    if training.real:
        real, against = training.sides[2], training.real[1].trajectory
        losses.append((_at(steps, real.steps, real.losses), REAL, "1"))
        far = _at(steps, against.steps, against.loss_differences)
        differences.append((far, REAL, "1"))
        third = _key(REAL, told_tensorflow(real))
        apart = _key(REAL, "of B from the real thing")
    of = f" of {escape(training.name)}" if len(verdict.trainings) > 1 else ""
    limit = "ten times the program's own noise" if verdict.noise_measured else "limit"
    return f"""<h2>Loss at each step{of}</h2>
<p class="legend">{_key(FIRST, str(verdict.first.path))}
{_key(SECOND, str(verdict.second.path))}{third}</p>
{_chart(steps, losses, logarithmic=False, label="loss")}
<h2>Relative difference of the losses{of}</h2>
<p class="legend">{_key(SECOND, "difference of A and B")}{apart}{_key(LIMIT, limit)}</p>
{_chart(steps, differences, logarithmic=True, label="relative difference")}"""


def _at(
    wanted: Sequence[int], steps: Sequence[int], values: Sequence[float]
) -> list[float]:
    """The values at the wanted steps; not a number where one is not known."""
    known = dict(zip(steps, values, strict=True))
    return [known.get(step, math.nan) for step in wanted]


def _key(colour: str, text: str) -> str:
    return f'<span><i class="key" style="background:{colour}"></i>{escape(text)}</span>'


def _chart(
    steps: Sequence[int],
    series: Sequence[tuple[Sequence[float], str, str]],
    *,
    logarithmic: bool,
    label: str,
) -> str:
    """Lines over steps; broken where a value cannot be drawn."""
    values = [v for line, _, _ in series for v in line if math.isfinite(v)]
    low, high, ticks = (_decades if logarithmic else _numbers)(values)
    begin, end = steps[0], max(steps[-1], steps[0] + 1)

    def x(step: float) -> float:
        return LEFT + (step - begin) / (end - begin) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def lines(line: Sequence[float]) -> Iterator[list[str]]:
        """Points that are joined; one alone where there is no logarithm."""
        run: list[str] = []
        for step, value in zip(steps, line, strict=True):
            if logarithmic and value <= 0:
                yield run
                yield [f"{x(step):.1f},{y(low):.1f}"]
                run = []
            elif not math.isfinite(value):
                yield run
                run = []
            else:
                drawn = math.log10(value) if logarithmic else value
                run.append(f"{x(step):.1f},{y(drawn):.1f}")
        yield run

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
    ]
    for name, tick in ticks:
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}" stroke="#8883"/>'
        )
        parts.append(_text(LEFT - 6, y(tick) + 4, name, "end"))
    for step in sorted({round(tick) for tick in _round_ticks(begin, end, 10)}):
        parts.append(_text(x(step), HEIGHT - BOTTOM + 16, str(step)))
    parts.append(_text((LEFT + WIDTH) / 2, HEIGHT - 4, "step"))
    for line, colour, width in series:
        parts += [_polyline(points, colour, width) for points in lines(line) if points]
    return "\n".join([*parts, "</svg>"])


def _decades(values: Sequence[float]) -> tuple[float, float, Ticks]:
    """The ends of a logarithmic axis, and its ticks with what they say."""
    positive = [v for v in values if v > 0]
    low = math.floor(math.log10(min(positive, default=1e-8)))
    high = max(math.ceil(math.log10(max(positive, default=1e-5))), low + 1)
    step = max(1, (high - low) // 6)
    ticks = [(f"1e{tick}", float(tick)) for tick in range(low, high + 1, step)]
    if 0 in values:
        # No logarithm: equal losses have a line of their own below the others.
        low -= 1
        ticks.append(("equal", low))
    return low, high, ticks


def _numbers(values: Sequence[float]) -> tuple[float, float, Ticks]:
    """The ends of an axis, and its ticks with what they say."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    low, high = low - room, high + room
    return low, high, [(f"{tick:.4g}", tick) for tick in _round_ticks(low, high, 6)]


def _round_ticks(low: float, high: float, most: int) -> list[float]:
    """At most so many round numbers, evenly spaced, between two values."""
    width = 10.0 ** math.floor(math.log10((high - low) / most))
    while (high - low) / width > most:
        width *= 2 if f"{width:e}"[0] != "2" else 2.5
    first, last = math.ceil(low / width), math.floor(high / width)
    return [number * width for number in range(first, last + 1)]


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _polyline(points: Sequence[str], colour: str, width: str) -> str:
    if len(points) == 1:
        across, _, down = points[0].partition(",")
        return f'<circle cx="{across}" cy="{down}" r="2.5" fill="{colour}"/>'
    return (
        f'<polyline fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-opacity="0.8" points="{" ".join(points)}"/>'
    )


def _accuracies(verdict: Verdict) -> str:
    if verdict.accuracy is None:
        return ""
    pairs = zip(verdict.accuracy.first, verdict.accuracy.second, strict=True)
    lines = [
        (str(seed), f"{one:.4f}", f"{other:.4f}")
        for seed, (one, other) in enumerate(pairs, 1)
    ]
    return f"""<h2>Accuracy by seed</h2>
<p>Whole trainings with shuffling and random initial weights. Equivalence is shown
by two one-sided tests with a margin of {verdict.accuracy.margin:g}: p =
{verdict.accuracy.p_value:.3g}, which must be below {verdict.accuracy.alpha:g}.</p>
{_figures(verdict, "seed", lines)}"""


def _steps(verdict: Verdict, training: Training) -> str:
    trajectory = training.between.trajectory
    of = f" of {escape(training.name)}" if len(verdict.trainings) > 1 else ""
    lines = [
        (str(step), f"{one:.9g}", f"{other:.9g}", f"{difference:.2g}")
        for step, one, other, difference in zip(
            trajectory.steps,
            trajectory.losses_first,
            trajectory.losses_second,
            trajectory.loss_differences,
            strict=True,
        )
    ]
    return f"""<h2>Every step{of}</h2>
<div class="scroll">{_figures(verdict, "step", lines, "relative difference")}</div>"""


def _figures(
    verdict: Verdict, number: str, lines: Sequence[Sequence[str]], *further: str
) -> str:
    """A table of numbers of both sides."""
    paths = [escape(str(side.path)) for side in (verdict.first, verdict.second)]
    heads = "".join(f"<th>{head}</th>" for head in (number, *paths, *further))
    body = "\n".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>"
        for line in lines
    )
    return f"""<table><thead><tr>{heads}</tr></thead>
<tbody>
{body}
</tbody></table>"""
