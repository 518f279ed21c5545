"""Write docs/examples: six programs before and after the rewrite, side by side.

    python tests/emit/write_examples.py

Both sides are the committed ones: fixtures/legacy and fixtures/expected.
"""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEGACY = ROOT / "fixtures" / "legacy"
EXPECTED = ROOT / "fixtures" / "expected"
EXAMPLES = ROOT / "docs" / "examples"
# Longer runs of equal lines are folded to their first and last ones.
FOLD, KEEP = 9, 3


@dataclass(frozen=True)
class Example:
    """One program: its files in fixtures, and what is to be seen in it."""

    name: str
    files: tuple[str, ...]
    title: str
    look: str


SIX = (
    Example(
        "fashion_mnist_mirrored",
        ("train.py",),
        "A Keras model on two GPUs",
        "`model_to_estimator` under contrib's MirroredStrategy with a timing hook: the "
        "strategy now comes first, the hook is a plain class that the loop calls, and "
        "the batch stays the batch of one GPU.",
    ),
    Example(
        "mnist_cnn_logging",
        ("train.py",),
        "A model_fn of tf.layers",
        "The tutorial's shape: layers become attributes of a Keras model, the logging "
        "hook lines of the loop, `numpy_input_fn` a Dataset.",
    ),
    Example(
        "model_fn_dense",
        ("train.py",),
        "Batch normalisation, params and a strategy",
        "Update operations need no control dependency any more, and the loss is divided "
        "by the number of examples on all replicas.",
    ),
    Example(
        "model_fn_train_and_evaluate",
        ("train.py",),
        "train_and_evaluate",
        "Two specs become one loop that trains up to the next evaluation.",
    ),
    Example(
        "bank_linear_csv",
        ("train.py",),
        "A canned linear classifier on feature columns",
        "The class comes along into a module beside the program, with its layers as "
        "a Keras model; its calls stay as they are.",
    ),
    Example(
        "churn_package",
        ("churn/main.py", "churn/model.py", "churn/hooks.py", "tests/test_parts.py"),
        "A package",
        "Each file keeps its share; config.py and data.py did not change, and the "
        "package's own tests pass before and after.",
    ),
)

INTRO = """# Six programs before and after

Written by `tests/emit/write_examples.py` from `fixtures/legacy` and
`fixtures/expected`; do not edit. What all programs come to is in
[tiers](../tiers.md).

"""


def side_by_side(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """A table with a row for each stretch of lines."""
    yield "<table>"
    yield "<tr><th>before</th><th>after</th></tr>"
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, first, last, new_first, new_last in _joined(matcher):
        old, new = before[first:last], after[new_first:new_last]
        if tag == "equal":
            if len(old) > FOLD:
                count = len(old) - 2 * KEEP
                old = [*old[:KEEP], f"# ... {count} lines as before ...", *old[-KEEP:]]
            yield from ('<tr><td colspan="2">', *_code(old), "</td></tr>")
        else:
            yield from ("<tr><td valign=top>", *_code(old), "</td>")
            yield from ("<td valign=top>", *_code(new), "</td></tr>")
    yield "</table>"


def _joined(
    matcher: difflib.SequenceMatcher[str],
) -> Iterator[tuple[str, int, int, int, int]]:
    """The stretches; short equal ones between changes belong to the changes."""
    pending: tuple[int, int, int, int] | None = None
    codes = matcher.get_opcodes()
    for index, (tag, a, b, c, d) in enumerate(codes):
        inside = 0 < index < len(codes) - 1
        if tag == "equal" and not (inside and b - a < KEEP):
            if pending is not None:
                yield ("replace", *pending)
                pending = None
            yield ("equal", a, b, c, d)
        else:
            pending = (
                (a, b, c, d) if pending is None else (pending[0], b, pending[2], d)
            )
    if pending is not None:
        yield ("replace", *pending)


def _code(lines: Sequence[str]) -> Iterator[str]:
    """A fenced block; blank lines around it, or it is not read as one."""
    if lines:
        yield from ("", "```python", *lines, "```", "")


def pages() -> dict[str, str]:
    """Every page by its name in docs/examples."""
    found = {}
    index = [INTRO]
    for example in SIX:
        lines = [f"# {example.title}", "", example.look, ""]
        for file in example.files:
            place = f"{example.name}/{file}"
            lines += [f"## {place}", ""]
            before = (LEGACY / place).read_text("utf-8").splitlines()
            after = (EXPECTED / place).read_text("utf-8").splitlines()
            lines += [*side_by_side(before, after), ""]
        found[f"{example.name}.md"] = "\n".join(lines)
        index.append(f"- [{example.title}]({example.name}.md): {example.look}\n")
    found["README.md"] = "".join(index)
    return found


def main() -> None:
    """Write all pages anew."""
    shutil.rmtree(EXAMPLES, ignore_errors=True)
    EXAMPLES.mkdir(parents=True)
    for name, text in pages().items():
        (EXAMPLES / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
