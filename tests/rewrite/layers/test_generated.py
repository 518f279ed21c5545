"""Model functions drawn from a grammar: what compat leaves is what a Task leaves.

``python tests/programs/net_campaign.py`` runs as many as wanted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "programs"))
import pytest
from net_campaign import campaign
from nets import net

# Natives that failed once.
SEEDS = (41009, 41018, 41050)


@pytest.mark.parametrize(
    "seeds", [SEEDS, pytest.param(range(300, 330), marks=pytest.mark.slow)]
)
def test_layers_leave_what_the_function_left(
    seeds: Sequence[int], tmp_path: Path
) -> None:
    found = campaign(seeds, tmp_path / "programs")
    assert not found.problems
    native = [one for one in found.outcomes.values() if one == "native"]
    assert len(native) >= len(seeds) // 4, found.reasons


def test_a_seed_always_gives_the_same_program() -> None:
    assert net(7).source == net(7).source
    shapes = {one for seed in range(60) for one in net(seed).traits}
    assert {
        "closure",
        "partial",
        "method",
        "branch",
        "loop",
        "another module",
    } <= shapes
