"""Generated and mutated programs: nothing crashes, nothing changes in silence.

The programs and the promises are those of fuzzing.py, which also runs campaigns.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.text import Edit
from tfmigrate.report.model import FileStatus
from tfmigrate.rewrite import pipeline
from tfmigrate.rewrite.pipeline import Job, process_source
from tfmigrate.rules.base import Diagnosis
from tfmigrate.rules.engine import RulesResult, SymbolFinding

sys.path.insert(0, str(Path(__file__).parent))
from fuzzing import FIXTURES, campaign, check, mutation, program


def fuzz(examples: int) -> settings:
    """Settings for so many examples, the same ones in every run."""
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


CHOICES = st.randoms(use_true_random=False)


@fuzz(400)
@given(CHOICES)
def test_generated_programs(choices: random.Random) -> None:
    check(program(choices))


@fuzz(40)
@given(CHOICES)
def test_mutated_fixtures(choices: random.Random) -> None:
    check(mutation(choices))


@pytest.mark.slow
@fuzz(400)
@given(CHOICES)
def test_many_mutated_fixtures(choices: random.Random) -> None:
    check(mutation(choices))


def test_a_campaign_counts_what_it_saw(capsys: pytest.CaptureFixture[str]) -> None:
    counts = campaign(program, seed=3, first=10, number=50)
    assert counts.total() == 50
    assert counts["FAILED"] == 0
    assert counts["changed"] > 20

    def unwelcome(_: random.Random) -> bytes:
        raise AssertionError("this one fails")

    assert campaign(unwelcome, seed=3, first=0, number=2)["FAILED"] == 2
    assert "unwelcome 3 1: AssertionError: this one fails" in capsys.readouterr().out


@pytest.mark.parametrize(
    # The default run settles all of them in one process: tests/rewrite/test_fixtures.py.
    "path",
    [
        pytest.param(p, marks=() if n % 12 == 0 else pytest.mark.slow, id=p.parent.name)
        for n, p in enumerate(FIXTURES)
    ],
)
def test_every_fixture_is_settled_after_one_run(path: Path) -> None:
    raw = path.read_bytes()
    first = process_source(path, raw, Job(), ProjectFacts())
    assert first.error is None
    if first.new is not None:
        second = process_source(path, first.new, Job(), ProjectFacts())
        assert second.new is None


def test_what_the_first_round_uncovers_is_done_in_the_same_run() -> None:
    """Only the public name tells that ``keep_dims`` is an old argument."""
    check(
        b"def f(tf=1):\n"
        b"    from tensorflow.python.ops import math_ops\n"
        b"    return math_ops.reduce_sum(tf, keep_dims=True)\n"
    )


def test_a_rewrite_that_never_settles_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rule that answers its own output would grow the file for ever."""

    def growing(text: str, *_: object, **__: object) -> RulesResult:
        longer = text + "x = 1\n"
        edit = Edit(len(text), len(text), "x = 1\n")
        found = SymbolFinding(0, Diagnosis("TFM201", "grows", (edit,)))
        return RulesResult(longer, (found,))

    monkeypatch.setattr(pipeline, "run_rules", growing)
    raw = b"import tensorflow as tf\n"
    result = process_source(Path("x.py"), raw, Job(), ProjectFacts())
    assert result.status is FileStatus.FAILED
    assert "does not settle" in (result.error or "")


@pytest.mark.parametrize(
    "code",
    [b"import tensorflow as tf\ny = tf.estimator.Estimator(1, 1, nowhere)\n"],
)
def test_what_once_was_an_internal_error(code: bytes) -> None:
    check(code)
