"""Programs drawn from a grammar: losses of those that are native are those of compat.

``python tests/programs/campaign.py`` runs as many as wanted.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from campaign import run_campaign
from grammar import generate
from running import rewrite

RUN = [
    (101, 102, 103, 105, 52000, 52025),
    pytest.param((100, 104, *range(108, 116)), marks=pytest.mark.slow),
]
REWRITTEN = range(30)


@pytest.mark.parametrize("seeds", RUN)
def test_first_losses_and_figures_are_those_of_compat(
    seeds: Sequence[int], tmp_path: Path
) -> None:
    found = run_campaign([*seeds], tmp_path)
    assert not found.problems, "\n".join(
        f"seed {seed}: {problem}" for seed, problem in found.problems.items()
    )
    assert len(found.native) >= len(seeds) // 4, found.kept


def test_a_rewrite_is_whole_or_none() -> None:
    native = 0
    for seed in REWRITTEN:
        text, reason = rewrite(generate(seed).source)
        if text is None:
            assert reason
            continue
        native += 1
        ast.parse(text)
        assert "tf.estimator" not in text
        assert rewrite(text)[0] is None, "it is rewritten again"
    assert native > len(REWRITTEN) // 4


def test_a_seed_always_gives_the_same_program() -> None:
    assert generate(7).source == generate(7).source
    kinds = {generate(seed).traits["kind"] for seed in range(40)}
    assert kinds == {"keras", "model_fn"}
