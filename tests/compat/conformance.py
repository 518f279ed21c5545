"""Which public Estimator names of TF 1.15 and 2.15 work here; writes the table.

    python tests/compat/conformance.py           # prints docs/compat-status.md
    python tests/compat/conformance.py --write   # writes it
    python tests/compat/conformance.py --use     # also looks every name up, and
                                                 # calls those that have to raise

The names and signatures are those of the real releases
(fixtures/oracle/api/names.json): whatever Estimator programs of the era used
most. Below them stands every other public name of TF 1.15, by namespace.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from importlib import resources
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = ROOT / "docs" / "compat-status.md"
NAMES = ROOT / "fixtures" / "oracle" / "api" / "names.json"
PEER = ROOT / "tests" / "peer" / "results.json"
sys.path.insert(0, str(PEER.parent))

SYMBOLS = "names/data/symbols.json"

AREAS = (
    ("tf1.15", "tf.estimator"),
    ("tf1.15", "tf.keras.estimator"),
    ("tf1.15", "tf.distribute"),
    ("tf1.15", "tf.train"),
    ("tf1.15", "tf.contrib.estimator"),
    ("tf1.15", "tf.contrib.distribute"),
    ("tf1.15", "tf.contrib.data"),
    ("tf1.15", "tf.contrib.lookup"),
    ("tf1.12", "tf.contrib.estimator"),
    ("tf1.12", "tf.contrib.distribute"),
    ("tf2.15", "tf.estimator"),
    ("tf2.15", "tf.keras.estimator"),
    ("tf2.15", "tf.compat.v1.estimator"),
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


def _has(holder: type, member: str) -> bool:
    # Classes of protocol buffers list their fields in the descriptor today, and
    # have lost one method that programs never called.
    fields = getattr(getattr(holder, "DESCRIPTOR", None), "fields_by_name", None)
    if fields is not None and (member in fields or member == "RegisterExtension"):
        return True
    return hasattr(holder, member)


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
        if holder is not None and not _has(holder, member):
            lost.append(member)
    if lost:
        problems.append("without " + ", ".join(f"`{m}`" for m in lost))
    return Row(name=name, state="supported", remark="; ".join(problems))


def collect() -> dict[tuple[str, str], list[Row]]:
    """All names of all areas."""
    from tfmigrate.compat import v1, v2

    roots = {"tf1.12": v1, "tf1.15": v1, "tf2.15": v2}
    recorded = json.loads(NAMES.read_text())
    covered = {
        (release, name)
        for release, area in AREAS
        for name in recorded[release]
        if name.startswith(area + ".")
    }
    left_out = {(r, name) for r in recorded for name in recorded[r]} - covered
    assert not left_out, f"no area holds {sorted(left_out)}"
    return {
        (release, area): [
            inspect_name(roots[release], name, entry)
            for name, entry in sorted(recorded[release].items())
            if name.startswith(area + ".")
        ]
        for release, area in AREAS
    }


def collect_all() -> dict[str, list[Row]]:
    """Every public name of TF 1.15 outside of ``tf.contrib``, by namespace."""
    from tfmigrate.compat import v1

    table = json.loads(resources.files("tfmigrate").joinpath(SYMBOLS).read_text())
    found: dict[str, list[Row]] = {}
    for name in sorted({*table["kept"], *table["symbols"], *table["none"]}):
        if not name.startswith("tf.contrib."):
            parts = name.split(".")
            space = ".".join(parts[:2]) if len(parts) > 2 else "tf"
            found.setdefault(space, []).append(inspect_name(v1, name, {}))
    return dict(sorted(found.items()))


def check_use() -> None:
    """Every name is there; what is said to raise does so, with advice, when called."""
    from tfmigrate.compat import v1, v2
    from tfmigrate.compat.surface.unavailable import Unavailable, UnavailableError

    def follow(root: Any, name: str) -> Any:
        for part in name.split(".")[1:]:
            root = getattr(root, part)
        return root

    contrib = json.loads(
        resources.files("tfmigrate.compat.contrib").joinpath("names.json").read_text()
    )
    names = {(v1, row.name) for rows in collect_all().values() for row in rows}
    names |= {
        (v1, f"tf.contrib.{space}.{name}")
        for space in contrib
        for name in contrib[space]
    }
    names |= {
        (v2 if release == "tf2.15" else v1, row.name)
        for (release, _), rows in collect().items()
        for row in rows
    }
    raised = 0
    for root, name in names:
        found = follow(root, name)
        if isinstance(found, Unavailable):
            try:
                found()
            except UnavailableError as error:
                advice = str(error).partition("available on this TensorFlow. ")[2]
                assert len(advice) > 8, name
                assert "\n" not in advice, name
                raised += 1
            else:
                raise AssertionError(f"{name} can be called")
    sys.stderr.write(f"{len(names)} names, {raised} raise\n")


def peer_tests() -> list[str]:
    """The section about the tests of tensorflow_estimator."""
    lines = [
        "",
        "## The tests of tensorflow_estimator",
        "",
        "Its own unit tests, run on compat by `tests/peer/run.py` (1.15.2 under",
        "`tfmigrate run`, 2.15.0 on `tfmigrate.compat.v2`), as far as they ask for",
        "public behaviour: a test that needs private names is left out, and so are",
        "the cases of `tests/peer/left_out.py` and what fails on the real release.",
        "",
        "| release | files | tests | pass | fail | raise with advice | rate "
        "| need private names |",
        "|---|---|---|---|---|---|---|---|",
    ]
    from left_out import LEFT

    recorded = json.loads(PEER.read_text())
    for release, found in sorted(recorded.items()):
        tests = found["passed"] + found["failed"] + found["advice"]
        rate = 100 * found["passed"] / tests
        lines.append(
            f"| {release} | {found['files']} | {tests} | {found['passed']} | "
            f"{found['failed']} | {found['advice']} | {rate:.1f} % | "
            f"{found['private']} |"
        )
    for release, found in sorted(recorded.items()):
        if found.get("not_run"):
            lines += ["", f"Not counted for {release}: {', '.join(found['not_run'])}."]
    lines += ["", "What is left:", ""]
    for release, found in sorted(recorded.items()):
        causes: dict[str, int] = {}
        for cause, tests in sorted(found["left"].items(), key=lambda i: -len(i[1])):
            name = tests[0].partition(":")[2]
            name = name.removeprefix("peer_test.").partition(" ")[0]
            known = (why for pattern, why in LEFT if re.search(pattern, name))
            text = re.sub(r"\s+", " ", next(known, cause))
            text = text.replace("|", "/").replace("`", "'")
            causes[text] = causes.get(text, 0) + len(tests)
        lines += [f"- {release}, {n}: {text}" for text, n in causes.items()]
    return lines


# What is not as on the real release, beside names and the peer's tests.
DIFFERENCES = """
## What differs

The order in which Estimator calls its own members, what a subclass may replace of them,
and what a RunConfig says under `TF_CONFIG` are as on TF 1.15.5 and 2.15.1
(`fixtures/oracle/surface`), but for this:

| matter | there | here |
|---|---|---|
| an evaluation on several replicas | the last batches are lost or kept by chance | every \
batch counts once |
| `Estimator.train` under a strategy in a cluster | refused | refused in another sentence \
|
| boosted trees, embedding tables on TPUs | work | raise with advice: TensorFlow has no \
kernels for them any more |
""".replace("\\\n", "")


def render(
    areas: dict[tuple[str, str], list[Row]], everything: dict[str, list[Row]]
) -> str:
    """The page."""
    lines = [
        "# What of the Estimator API works",
        "",
        "Every public name of the real releases, looked up in `tfmigrate.compat.v1`",
        "(TF 1.15; 1.12: those that 1.15 had no more) and `tfmigrate.compat.v2`",
        "(TF 2.15). *Supported* names have the parameters and members of the original",
        "unless the remark says otherwise.",
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
    lines += peer_tests()
    lines += DIFFERENCES.rstrip().split("\n")
    lines += [
        "",
        "## Every public name of TF 1.15",
        "",
        "Namespaces of which all names are there are only in the sum. `tf.contrib` has",
        "a page of its own, [contrib.md](contrib.md).",
        "",
        "| namespace | names | there | raise with advice | missing | which raise |",
        "|---|---|---|---|---|---|",
    ]
    total = [0, 0, 0, 0]
    for space, rows in everything.items():
        gone = [row for row in rows if row.state == "raises with advice"]
        missing = sum(row.state == "missing" for row in rows)
        counts = [len(rows), len(rows) - len(gone) - missing, len(gone), missing]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        cells = " | ".join(str(count) for count in counts)
        named = ", ".join(f"`{row.name.removeprefix(space + '.')}`" for row in gone)
        if not gone and not missing:
            continue
        lines.append(f"| `{space}` | {cells} | {named} |")
    lines.append("| **all** | " + " | ".join(str(count) for count in total) + " | |")
    lines += [
        "",
        "## Names with a remark",
        "",
        "| release | name | | remark |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {release} | `{row.name}` | {row.state} | {row.remark} |"
        for (release, _), rows in areas.items()
        for row in rows
        if row.state != "supported" or row.remark
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--use" in sys.argv:
        check_use()
    page = render(collect(), collect_all())
    if "--write" in sys.argv:
        TABLE.write_text(page)
    else:
        sys.stdout.write(page)
