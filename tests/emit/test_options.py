"""Every choice of the command line, executed: one and two replicas.

The default run has each pair of choices once; the whole product is slow. Choices
that give the same text are run once.
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.options import RewriteOptions

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from running import relative_difference, rewrite, run_batch

LEGACY = Path(__file__).resolve().parents[2] / "fixtures" / "legacy"
# Steps are enough for the profiler's window, which opens at 10 and closes at 20.
PROGRAMS = {
    "fashion_mnist_partial": ["--num_gpus=2", "--num_epochs=2"],
    "model_fn_dense": ["--gpus=2", "--steps=24"],
    "keras_rounds": [],
}
LOOPS = ("epoch", "step", "graph")
STRATEGIES = ("keep", "mirrored", "central", "one_device", "default")
KERAS = ("tf_keras", "keras3")
STYLES = ("auto", "inline")
# Combinations that one process runs.
PART = 40
Choice = tuple[str, str, str, str, bool, bool, int]

PRODUCT: list[Choice] = [
    choice
    for choice in itertools.product(
        STYLES, LOOPS, STRATEGIES, KERAS, (False, True), (False, True), (1, 2)
    )
    if not (choice[2] in ("one_device", "default") and choice[-1] == 2)
    and not (choice[2] == "central" and choice[3:5] != ("tf_keras", False))
]


def pairwise(choices: list[Choice]) -> list[Choice]:
    """A few of the choices in which every pair of values still occurs."""

    def pairs(choice: Choice) -> set[Any]:
        return set(itertools.combinations(enumerate(choice), 2))

    left = set().union(*map(pairs, choices))
    chosen = []
    while left:
        best = max(choices, key=lambda choice: len(pairs(choice) & left))
        chosen.append(best)
        left -= pairs(best)
    return chosen


def in_parts(program: str, choices: list[Choice], folder: Path) -> None:
    """``check`` of many choices, in two processes at a time that stay small."""
    runs: dict[tuple[str, int], Choice] = {}
    for choice in choices:
        text = rewritten(program, *choice[:-1])
        runs.setdefault((text, choice[-1]), choice)
    distinct = list(runs.values())
    parts = [distinct[at : at + PART] for at in range(0, len(distinct), PART)]
    print(f"{program}: {len(choices)} combinations, {len(distinct)} to run")

    def run(index: int) -> None:
        (folder / str(index)).mkdir()
        check(program, parts[index], folder / str(index))

    problems = []
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(run, index) for index in range(len(parts))]:
            try:
                done.result()
            except AssertionError as error:
                problems.append(str(error))
    assert not problems, "\n".join(problems)


@functools.cache
def rewritten(
    program: str,
    style: str,
    loop: str,
    strategy: str,
    keras: str,
    mixed: bool,
    profile: bool,
) -> str:
    """The program's loop with the choices."""
    options = RewriteOptions(
        style=style,
        loop=loop,
        strategy=strategy,
        keras=keras,
        mixed_precision=mixed,
        profile=profile,
    )
    text, reason = rewrite((LEGACY / program / "train.py").read_text(), options)
    assert text is not None, reason
    return text


def check(program: str, choices: list[Choice], folder: Path) -> None:
    """Run a program with the choices, and hold its losses against compat's."""
    source = LEGACY / program / "train.py"
    arguments = PROGRAMS[program]
    common: dict[str, Any] = {"arguments": arguments, "seed": 3}
    strategy = "MirroredStrategy" in source.read_text()
    cases: list[dict[str, Any]] = [
        {
            "name": f"compat-{replicas}",
            "kind": "legacy",
            "script": str(source),
            "replicas": replicas,
            **common,
        }
        for replicas in ((1, 2) if strategy else (1,))
    ]
    for choice in choices:
        name = "-".join(map(str, choice))
        (folder / f"{name}.py").write_text(rewritten(program, *choice[:-1]))
        cases.append(
            {
                "name": name,
                "kind": "tf2",
                "script": str(folder / f"{name}.py"),
                "replicas": choice[-1],
                "start": "compat-1",
                **common,
            }
        )
    results = run_batch(cases, folder, timeout=120 + 60 * len(cases))
    problems = []
    for choice in choices:
        name = "-".join(map(str, choice))
        try:
            check_run(choice, results[name], results, strategy)
        except AssertionError as error:
            problems.append(f"{program} {name}: {error}")
    assert not problems, "\n".join(problems)


def check_run(
    choice: Choice, run: dict[str, Any], results: dict[str, Any], strategy: bool
) -> None:
    """One program ran to its end, and trained as it should."""
    _, _, chosen, _, mixed, profile, replicas = choice
    assert "error" not in run, run["error"][-1500:]
    several = replicas == 2 and (strategy or chosen != "keep")
    losses = run["losses"]
    if mixed:
        # The gradient is taken of the scaled loss, which begins at 2**15 times.
        losses = [loss / 2**15 for loss in losses]
    reference = results.get(f"compat-{2 if several else 1}")
    if reference is not None:
        assert "error" not in reference, reference["error"][-1500:]
        expected = reference["losses"]
        assert len(losses) == len(expected)
        # Dense nets: real TF 1.15 differs from itself by 3e-7 over 50 steps.
        window, tolerance = (5, 0.02) if mixed else (20, 1e-5)
        found = relative_difference(losses[:window], expected[:window])
        assert found < tolerance, f"losses differ by {found}"
    assert losses[-1] < losses[0]
    assert run["profiled"] is profile, "the profiler's window"


@pytest.mark.parametrize("program", ["fashion_mnist_partial", "model_fn_dense"])
def test_every_pair_of_choices_trains_the_same(program: str, tmp_path: Path) -> None:
    # Each program takes half of the table; the other half is slow.
    half = list(PROGRAMS).index(program)
    check(program, pairwise(PRODUCT)[half::2], tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_combination_trains_the_same(program: str, tmp_path: Path) -> None:
    in_parts(program, PRODUCT, tmp_path)


def test_the_table_of_pairs_is_small_and_complete() -> None:
    chosen = pairwise(PRODUCT)
    assert len(chosen) < 25
    for values in (LOOPS, STRATEGIES, KERAS):
        assert all(any(value in choice for choice in chosen) for value in values)


@pytest.mark.parametrize("strategy", ["multiworker", "parameter_server", "tpu"])
def test_strategies_of_several_processes_are_of_the_loop_module(strategy: str) -> None:
    text, _ = rewrite(
        (LEGACY / "model_fn_dense" / "train.py").read_text(),
        RewriteOptions(strategy=strategy),
        module=True,
    )
    assert text is not None
    assert f"chosen_{strategy} = train_under(" in text
    # Nothing else was asked for.
    assert text.count(" = train_under(") == 1


def test_what_keras3_lacks_is_named() -> None:
    source = (LEGACY / "keras_rounds" / "train.py").read_text()
    changed = source.replace("layers.Flatten(", "layers.CuDNNLSTM(")
    text, reason = rewrite(changed, RewriteOptions(keras="keras3"))
    assert text is None
    assert re.search(r"Keras 3 has no `tf\.keras\.layers\.CuDNNLSTM`", reason)
