"""Observations on the loop module, and recordings of real TF 1.15 to hold them against."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ORACLE = HERE.parents[1] / "fixtures" / "oracle"


def observe(out: Path, names: list[str], *options: str) -> dict[str, Any]:
    """What scenarios see, in one process that is like a rewritten program's."""
    command = [sys.executable, str(HERE / "scenario_child.py"), str(out), *options]
    run = subprocess.run(
        [*command, *names],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def check(
    recording: Path, seen: Mapping[str, Any], allowed: Mapping[str, Any] | None = None
) -> None:
    """Fail unless an observation is as recorded, but for known differences.

    They are given as place -> what ours says there.
    """
    assert "error" not in seen, seen["error"]
    allowed = allowed or {}
    recorded = json.loads(recording.read_text())["observed"]
    ours = json.loads(json.dumps(seen["observed"]))
    found = list(differences(without_graphs(recorded), without_graphs(ours)))
    unknown = [d for d in found if d[0] not in allowed or allowed[d[0]] != d[2]]
    assert not unknown, "\n".join(
        f"{p}:\n  TF   {a}\n  ours {b}" for p, a, b in unknown
    )
    assert {d[0] for d in found} == set(allowed), "a known difference is gone"


def without_graphs(seen: Any) -> Any:
    """An observation without the files and events that hold nothing but a graph.

    A checkpoint of the module has no graph beside it, and its event files hold the
    graph once instead of twice.
    """
    if isinstance(seen, dict):
        return {name: without_graphs(value) for name, value in seen.items()}
    if isinstance(seen, list):
        kept = [value for value in seen if not is_graph(value)]
        return [without_graphs(value) for value in kept]
    return seen


def is_graph(value: Any) -> bool:
    if isinstance(value, str):
        return bool(re.fullmatch(r"(.*/)?(graph\.pbtxt|model\.ckpt-\d+\.meta)", value))
    return (
        isinstance(value, list)
        and len(value) == 2
        and value[1] in ("graph_def", "meta_graph_def")
    )


def differences(want: Any, got: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(set(want) | set(got)):
            if key in want and key in got:
                yield from differences(want[key], got[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}", want.get(key, "absent"), got.get(key, "absent")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, (a, b) in enumerate(zip(want, got, strict=True)):
            yield from differences(a, b, f"{path}/{index}")
    elif isinstance(want, float) and isinstance(got, int | float):
        # Recorded with six digits: between that rounding and the first that matters.
        if abs(want - got) > 2e-6 * max(1.0, abs(want)):
            yield path, want, got
    elif want != got:
        yield path, want, got
