"""Which public Estimator names of TF 1.15 and 2.15 work here; writes the table.

    python tests/compat/conformance.py           # prints docs/compat-status.md
    python tests/compat/conformance.py --write   # writes it

The names and signatures are those of the real releases
(fixtures/oracle/api/estimator_names.json).
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = ROOT / "docs" / "compat-status.md"
NAMES = ROOT / "fixtures" / "oracle" / "api" / "estimator_names.json"

AREAS = (
    ("tf1.15", "tf.estimator"),
    ("tf1.15", "tf.contrib.estimator"),
    ("tf1.15", "tf.contrib.distribute"),
    ("tf2.15", "tf.estimator"),
)

# Legacy parameters that only say "anything" in the recorded signature.
_ANYTHING = {"self", "args", "kwargs", "cls"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What becomes of one public name."""

    name: str
    state: str  # "supported", "raises with advice" or "missing"
    remark: str = ""


def parameters(signature: str) -> list[str]:
    """Names of the parameters in a recorded signature."""
    inner = re.sub(r"<[^<>]*>", "_", signature)
    while True:
        flat = re.sub(r"(?<=.)\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}", "_", inner)
        if flat == inner:
            break
        inner = flat
    names = [part.split("=")[0].strip(" *()") for part in inner[1:-1].split(",")]
    return [n for n in names if n.isidentifier() and n not in _ANYTHING]


def _accepted(found: Any) -> tuple[set[str], bool]:
    """Names that a callable takes, and whether it takes any."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return set(), True
    kinds = [p.kind for p in signature.parameters.values()]
    return set(signature.parameters), inspect.Parameter.VAR_KEYWORD in kinds


def inspect_name(root: Any, name: str, recorded: dict[str, Any]) -> Row:
    """Looks one name up as a program would."""
    found = root
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return Row(name=name, state="missing")
    advice = (
        vars(found).get("_tfmigrate_advice") if hasattr(found, "__dict__") else None
    )
    if advice:
        return Row(name=name, state="raises with advice", remark=str(advice))
    problems = []
    if "signature" in recorded and callable(found):
        accepted, anything = _accepted(found)
        lost = [p for p in parameters(recorded["signature"]) if p not in accepted]
        if lost and not anything:
            problems.append("does not take " + ", ".join(f"`{p}`" for p in lost))
    lost = []
    for member in recorded.get("members", []):
        holder = found if isinstance(found, type) else None
        if holder is not None and not hasattr(holder, member):
            lost.append(member)
    if lost:
        problems.append("without " + ", ".join(f"`{m}`" for m in lost))
    return Row(name=name, state="supported", remark="; ".join(problems))


def collect() -> dict[tuple[str, str], list[Row]]:
    """All names of all areas."""
    from tfmigrate.compat import v1, v2

    roots = {"tf1.15": v1, "tf2.15": v2}
    recorded = json.loads(NAMES.read_text())
    return {
        (release, area): [
            inspect_name(roots[release], name, entry)
            for name, entry in sorted(recorded[release].items())
            if name.startswith(area + ".")
        ]
        for release, area in AREAS
    }


def render(areas: dict[tuple[str, str], list[Row]]) -> str:
    """The page."""
    lines = [
        "# What of the Estimator API works",
        "",
        "Every public name of the real releases, looked up in `tfmigrate.compat.v1`",
        "(TF 1.15) and `tfmigrate.compat.v2` (TF 2.15). *Supported* names have the",
        "parameters and members of the original unless the remark says otherwise.",
        "*Raises with advice* means that the name can be imported and says what to do",
        "instead when it is used.",
        "",
        "Written by `python tests/compat/conformance.py --write`; do not edit.",
        "",
        "| release | namespace | names | supported | raises with advice | missing |",
        "|---|---|---|---|---|---|",
    ]
    for (release, area), rows in areas.items():
        count = {s: sum(r.state == s for r in rows) for s in {r.state for r in rows}}
        lines.append(
            f"| {release} | `{area}` | {len(rows)} | {count.get('supported', 0)} | "
            f"{count.get('raises with advice', 0)} | {count.get('missing', 0)} |"
        )
    for (release, area), rows in areas.items():
        lines += [
            "",
            f"## `{area}` of {release}",
            "",
            "| name | | remark |",
            "|---|---|---|",
        ]
        lines += [f"| `{r.name}` | {r.state} | {r.remark} |" for r in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = render(collect())
    if "--write" in sys.argv:
        TABLE.write_text(page)
    else:
        sys.stdout.write(page)
