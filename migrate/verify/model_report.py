"""A verdict over two SavedModels as a table, as JSON and as a page."""

from __future__ import annotations

from html import escape
from typing import IO, Any

from .html import page, table
from .models import Answer, ModelVerdict
from .table import judged, print_table


def _rows(verdict: ModelVerdict) -> list[tuple[str, str, str, str]]:
    return [
        (each.what, each.first or "-", each.second or "-", judged(each))
        for each in verdict.checks
    ]


def print_models(verdict: ModelVerdict, stream: IO[str]) -> None:
    """The table and the verdict's sentence."""
    heads = ("A: SavedModel", "B: SavedModel")
    print_table(verdict.paths, heads, _rows(verdict), verdict, stream)


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
    paths = [str(path) for path in verdict.paths]
    columns = [escape(path) for path in paths]
    shown = table(columns, _rows(verdict))
    return page(paths, "Do both models answer the same?", verdict, shown)
