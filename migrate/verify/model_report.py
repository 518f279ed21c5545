"""A verdict over two SavedModels as a table, as JSON and as a page."""

from __future__ import annotations

from html import escape
from typing import IO, Any

from .html import STYLE
from .models import Answer, ModelVerdict
from .outcome import Outcome
from .table import judged

__all__ = ["model_json", "model_page", "print_models"]


_CLASSES = {
    Outcome.SAME: "same",
    Outcome.DIFFERS: "differs",
    Outcome.NOT_COMPARED: "skipped",
}


def _rows(verdict: ModelVerdict) -> list[tuple[str, str, str, str]]:
    return [
        (each.what, each.first or "-", each.second or "-", judged(each))
        for each in verdict.checks
    ]


def print_models(verdict: ModelVerdict, stream: IO[str]) -> None:
    """The table and the verdict's sentence."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=stream, highlight=False, soft_wrap=not stream.isatty())
    for letter, path in zip("AB", verdict.paths, strict=True):
        console.print(f"{letter}  {path}", markup=False)
    table = Table(title=None, show_header=True, pad_edge=False)
    for name in ("", "A: SavedModel", "B: SavedModel", ""):
        table.add_column(name)
    for row in _rows(verdict):
        table.add_row(*row)
    console.print(table)
    style = "green" if verdict.parity else "red"
    console.print(verdict.sentence, style=style, markup=False)


def model_json(verdict: ModelVerdict) -> dict[str, Any]:
    """Everything in the table, for programs to read."""

    def told(answer: Answer) -> dict[str, Any]:
        return {
            "tensorflow": answer.tensorflow,
            "error": answer.error,
            "signatures": answer.signatures,
            "problems": answer.problems,
        }

    return {
        "parity": verdict.parity,
        "verdict": verdict.sentence,
        "models": [
            {"path": str(path), **told(answer)}
            for path, answer in zip(verdict.paths, verdict.answers, strict=True)
        ],
        "real": [told(answer) for answer in verdict.real],
        "checks": [check.as_dict() for check in verdict.checks],
    }


def model_page(verdict: ModelVerdict) -> str:
    """A self-contained page."""
    rows = "\n".join(
        f'<tr class="{_CLASSES[check.outcome]}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for check, row in zip(verdict.checks, _rows(verdict), strict=True)
    )
    first, second = (escape(str(path)) for path in verdict.paths)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{"Parity" if verdict.parity else "No parity"}: {first} and {second}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>Do both models answer the same?</h1>
<p class="verdict {"yes" if verdict.parity else "no"}">{escape(verdict.sentence)}</p>
<table>
<thead><tr><th></th><th>{first}</th><th>{second}</th><th></th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""
