"""What rewritten programs export answers as what the Estimator's export did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runner import run_python

from .program_texts import written

HERE = Path(__file__).resolve().parent
NAMES = sorted(path.stem for path in (HERE / "programs").glob("served_*.py"))
CHILD = str(HERE / "exports_child.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the rewritten programs, and what both sides wrote."""
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, dict[str, list[Any]]]:
    """What the exports of both sides answer, by side and by exporter."""
    legacy = [str(path) for path in written(NAMES, folder / "old")]
    call("-m", "tfmigrate", "rewrite", *legacy, "--out", str(folder / "programs"))
    out = folder / "written"
    command = ["-m", "tfmigrate", "run", "--tf", "1", CHILD]
    call(*command, str(out / "legacy"), *legacy)
    native = [str(folder / "programs" / f"{name}.py") for name in NAMES]
    printed = call(CHILD, str(out / "native"), *native)
    (line,) = [one for one in printed.splitlines() if one.startswith("ANSWERS")]
    found = json.loads(line[len("ANSWERS") :])
    assert isinstance(found, dict)
    return found


def call(*command: str) -> str:
    """Standard output of a Python process, which must end well."""
    result = run_python(*command)
    assert result.returncode in (0, 1), result.stderr
    assert "Traceback" not in result.stderr, result.stderr
    return result.stdout


def test_exports_answer_as_before(answers: dict[str, dict[str, list[Any]]]) -> None:
    old, new = answers["legacy"], answers["native"]
    assert sorted(old) == sorted(new)
    for place, exports in old.items():
        assert len(exports) == len(new[place]), place
        for one, other in zip(exports, new[place], strict=True):
            assert one.keys() == other.keys()
            for signature, outputs in one.items():
                assert outputs.keys() == other[signature].keys()
                given = outputs.pop("input"), other[signature]["input"]
                # The report tells of the other name.
                assert given[0] == given[1] or given == ("inputs", "examples")
                for key, value in outputs.items():
                    same = other[signature][key]
                    if "classes" in key:
                        assert value == same
                        continue
                    np.testing.assert_allclose(
                        value, same, rtol=1e-4, atol=1e-5, err_msg=f"{place} {key}"
                    )


def test_exporters_keep_what_they_should(
    answers: dict[str, dict[str, list[Any]]],
) -> None:
    new = answers["native"]
    counts = {place.rpartition("/")[2]: len(found) for place, found in new.items()}
    once = dict.fromkeys(
        (
            *("final", "by_hand", "held", "keras", "built", "classes", "scores"),
            *("tables", "again", "scaled", "clipped"),
        ),
        1,
    )
    assert counts == {"best": 2, "latest": 2, **once}
    kept = {place.rpartition("/")[2]: found[-1] for place, found in new.items()}
    best = np.array(kept["best"]["serving_default"]["logits"])
    assert np.abs(best - kept["final"]["serving_default"]["logits"]).max() > 0.01


def test_final_exports_answer_as_predict(
    answers: dict[str, dict[str, list[Any]]], folder: Path
) -> None:
    for place, found in answers["native"].items():
        if place.endswith(("final", "by_hand", "held")):
            program = place.split("/")[0]
            arrays = np.load(
                folder / "written" / "native" / program / "predictions.npz"
            )
            given = found[-1]["serving_default"]
            assert sorted(arrays) == sorted(set(given) - {"input"})
            for key in arrays:
                np.testing.assert_allclose(given[key], arrays[key], rtol=1e-5)
