"""Model functions drawn from a grammar: what compat leaves is what a Task leaves.

``python tests/programs/net_campaign.py`` runs as many as wanted.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "programs"))
import pytest
from net_campaign import campaign
from nets import net

# Two that were not the same once, and some more.
SEEDS = (9, 103, *range(300, 306))


@pytest.mark.slow
def test_layers_leave_what_the_function_left(tmp_path: Path) -> None:
    found = campaign(SEEDS, tmp_path / "programs")
    assert not found.problems
    assert set(found.outcomes.values()) <= {"native", "kept"}, found.reasons


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
