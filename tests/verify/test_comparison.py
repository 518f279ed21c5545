"""Comparison and verdicts, on recordings made here: no TensorFlow needed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tfmigrate.errors import UserError
from tfmigrate.verify.checks import judge, noise_between
from tfmigrate.verify.comparison import (
    LOSS_TOLERANCE,
    NOISE_FACTOR,
    compare_trajectories,
    relative_differences,
)
from tfmigrate.verify.html import render
from tfmigrate.verify.instruments.legacy_matching import (
    MatchError,
    Weight,
    match_weights,
    plain_name,
)
from tfmigrate.verify.matching import pair_weights
from tfmigrate.verify.outcome import Check, Outcome
from tfmigrate.verify.recording import Recording, load_recording, save_recording
from tfmigrate.verify.runner import Settings, command_of
from tfmigrate.verify.sides import Kind, Side, look_at
from tfmigrate.verify.slots import slot_checks
from tfmigrate.verify.statistics import equivalence, t_tail
from tfmigrate.verify.table import as_json, print_verdict
from tfmigrate.verify.verdict import Comparison, Training, Verdict


def recording(
    losses: list[float], *, shift: float = 0.0, **changes: object
) -> Recording:
    start = [("dense/kernel", np.ones((2, 3), np.float32)), ("dense/bias", np.zeros(3))]
    end = [(name, value + 1 + shift) for name, value in start]
    base = Recording(
        program="train.py",
        producer={"tensorflow": "1.15.5"},
        replicas=1,
        losses=losses,
        global_step=len(losses),
        evaluate={"accuracy": 0.5, "loss": 1.0},
        accuracy_metric="accuracy",
        initial_weights=start,
        final_weights=end,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


# -- what must not count as a difference --------------------------------------


def test_equal_runs_have_parity() -> None:
    same = compare_trajectories(recording([2.0, 1.0]), recording([2.0, 1.0]))
    assert same.parity
    assert same.loss_difference == 0
    assert same.weight_difference == 0
    assert same.same_start


def test_rounding_is_no_difference() -> None:
    near = recording([2.0, 1.0 + LOSS_TOLERANCE / 2])
    assert compare_trajectories(recording([2.0, 1.0]), near).parity


def test_both_diverging_to_nan_is_the_same() -> None:
    nan = float("nan")
    assert compare_trajectories(recording([2.0, nan]), recording([2.0, nan])).parity


def test_own_noise_widens_the_limit_of_later_steps_only() -> None:
    losses = [4.0, 3.0, 2.0, 1.0, 0.5]
    first, second = recording(losses), recording([*losses[:4], 0.5001])
    assert compare_trajectories(first, second).first_failure == 5
    noise = relative_differences(losses, [*losses[:4], 0.50003])
    explained = compare_trajectories(first, second, noise=noise)
    assert explained.parity
    # Leaps may come up to two steps apart, hence from step 3 on.
    assert explained.loss_limits[:2] == [LOSS_TOLERANCE] * 2
    assert explained.loss_limits[2] == pytest.approx(NOISE_FACTOR * 6e-5, rel=1e-3)
    early = recording([4.0, 3.001, 2.0, 1.0, 0.5])
    assert compare_trajectories(first, early, noise=noise).first_failure == 2


# -- what must -----------------------------------------------------------------


def test_a_wrong_factor_is_found_at_its_step() -> None:
    other = compare_trajectories(recording([2.0, 1.0]), recording([2.0, 1.0005]))
    assert not other.parity
    assert other.first_failure == 2


def test_nan_on_one_side_is_found() -> None:
    other = compare_trajectories(recording([2.0, 1.0]), recording([2.0, float("nan")]))
    assert other.first_failure == 2


def test_different_lengths_of_finished_runs_are_found() -> None:
    first = recording([2.0, 1.0], complete=True)
    second = recording([2.0], complete=True)
    assert "2 steps" in compare_trajectories(first, second).problems[0]
    # A run that was cut short says nothing about its length.
    cut = replace(second, complete=False)
    assert compare_trajectories(first, cut).parity


def test_other_weights_or_another_start_are_found() -> None:
    other_start = recording(
        [2.0], initial_weights=[("k", np.zeros((2, 3))), ("b", np.zeros(3))]
    )
    assert not compare_trajectories(recording([2.0]), other_start).parity
    fewer = recording([2.0], final_weights=[("dense/kernel", np.ones((2, 3)))])
    problems = compare_trajectories(recording([2.0]), fewer).problems
    assert "dense/bias [3]" in problems[0]


def test_no_common_step_is_no_parity() -> None:
    late = recording([1.0], logged_steps=[100])
    assert not compare_trajectories(recording([1.0]), late).parity


def test_weight_difference_is_measured() -> None:
    result = compare_trajectories(recording([2.0]), recording([2.0], shift=0.25))
    assert result.weight_difference == pytest.approx(0.25)
    assert result.weight_drift == pytest.approx(0.25)  # each weight moved by 1


def drawn_alike(*samples: np.ndarray) -> bool:
    """What is said of a weight that two programs drew so."""
    one, other = (
        recording(
            [1.0],
            initial_weights=[("w", np.zeros(each.shape))],
            final_weights=[("w", np.ones(each.shape))],
            extra={"drawn": {"w": [each.mean(), each.std(), each.size]}},
        )
        for each in samples
    )
    check, *_ = judge(one, other, compare_trajectories(one, other))
    assert check.what == "initializers"
    return check.outcome is Outcome.SAME


@pytest.mark.parametrize("size", [1, 2, 3, 8, 16, 500])
def test_what_chance_draws_is_not_called_another_initializer(size: int) -> None:
    """However few numbers a weight has; once in 15,000 samples it may be."""
    draws = np.random.default_rng(5).uniform(-1, 1, (2, 500, size))
    assert all(map(drawn_alike, *draws))
    assert not drawn_alike(np.zeros(size), draws[0, 0])


def test_another_initializer_is_found_among_enough_numbers() -> None:
    one, other = np.random.default_rng(4).uniform(-1, 1, (2, 64))
    assert not drawn_alike(one, 2.5 * other)
    assert not drawn_alike(one, other + 0.9)


# -- matching ------------------------------------------------------------------


def told(*weights: tuple[object, ...]) -> list[Weight]:
    """Weights of these names, shapes and, where known, first values and uses."""
    return [Weight(*weight) for weight in weights]


def test_a_shape_of_its_own_needs_no_name() -> None:
    first = told(("conv2d/kernel", (3, 3)), ("conv2d/bias", (3,)))
    swapped = told(("b", (3,)), ("a:0", (3, 3)))
    found = match_weights(first, swapped)
    assert found.places == [1, 0]
    assert found.evidence == ["shape", "shape"]


def test_names_need_not_be_those_of_tf1() -> None:
    """What tells weights of one shape apart, from the surest to the least sure."""
    first = told(
        *[
            ("encoder/LayerNorm/beta", (4,), 0.0),
            ("encoder/LayerNorm/gamma", (4,), 1.0),
        ],
        *[("user_table", (4, 4)), ("hidden/kernel", (4, 4)), ("item_table", (4, 4))],
    )
    second = told(
        *[("item_embedding/embeddings", (4, 4)), ("user_embedding/embeddings", (4, 4))],
        *[("norm/gamma", (4,), 1.0), ("norm/beta", (4,), 0.0), ("hidden/k", (4, 4))],
    )
    found = match_weights(first, second)
    assert found.places == [3, 2, 1, 4, 0]
    assert found.evidence == ["first value"] * 2 + ["words of the names"] * 3
    assert plain_name("sequential_1/dense_2/kernel:0") == "dense/kernel"
    numbered = told(("dense/kernel", (2, 2)), ("out/kernel", (2, 2)))
    other = told(("model/out_1/kernel:0", (2, 2)), ("model/dense_7/kernel:0", (2, 2)))
    assert match_weights(numbered, other).places == [1, 0]


def test_without_names_the_order_of_first_use_decides() -> None:
    first = told(*[(name, (2, 2), None, turn) for turn, name in enumerate("abc")])
    second = told(
        *[(n, (2, 2), None, turn) for n, turn in zip("xyz", (2, 0, 1), strict=True)]
    )
    found = match_weights(first, second)
    assert found.places == [1, 2, 0]
    assert found.evidence == ["order"] * 3
    made = [Weight(weight.name, weight.shape) for weight in second]
    assert match_weights(first, made).places == [0, 1, 2]


def test_weights_that_began_alike_are_told_apart_by_how_they_ended() -> None:
    start = np.zeros(3, np.float32)
    ends = [np.full(3, value, np.float32) for value in (1.0, 2.0)]
    first, second = (
        recording(
            [1.0],
            initial_weights=[(name, start) for name in names],
            final_weights=list(zip(names, order, strict=True)),
        )
        for names, order in (("ab", ends), ("xy", ends[::-1]))
    )
    assert compare_trajectories(first, second).weight_difference == 0
    assert pair_weights(first, second) == (1, 0)


def test_weights_of_one_name_are_compared_with_themselves() -> None:
    starts = [np.zeros(3, np.float32), np.zeros((2, 2), np.float32)]
    ends = [one + 1 for one in starts]
    one, again = (
        recording(
            [1.0],
            initial_weights=[("W", value) for value in starts],
            final_weights=[("W", value) for value in after],
        )
        for after in (ends, [ends[0] * 1.5, ends[1]])
    )
    noise = noise_between(one, again, one)
    assert noise.weights["W"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("leap", "same"), [(1e-3, True), (4e-3, False)])
def test_a_weight_may_drift_as_others_of_its_program_do(
    leap: float, same: bool
) -> None:
    """The one run that is measured need not flip the sign that its gradient counts."""

    def run(*drifts: float) -> Recording:
        weights = [(name, np.zeros(2)) for name in ("kernel", "gamma", "bias")]
        moved = zip(weights, drifts, strict=True)
        return recording(
            [1.0],
            initial_weights=weights,
            final_weights=[(name, one + 1 + drift) for (name, one), drift in moved],
        )

    first, second = run(0, 0, 0), run(2e-3, 1e-3, leap)
    noise = noise_between(first, run(3e-3, 2e-3, 1e-6), second)
    found = judge(first, second, compare_trajectories(first, second), noise)
    assert (differing(found) == []) is same


def test_real_tensorflow_is_held_to_the_noise_that_was_measured() -> None:
    """Measured on the rewritten program, whose weights and figures have other names;
    a bias that rounding alone moves (before a normalization) decides nothing."""
    rng = np.random.RandomState(0)

    def run(
        drift: float, kernel: str, bias: str, figure: str, value: float
    ) -> Recording:
        start = [(kernel, rng_kernel), (bias, np.zeros(3))]
        ways = [1 + drift, rng.choice([-1, 1], 3)]
        return recording(
            [1.0, 0.5],
            initial_weights=start,
            final_weights=[
                (name, before + way)
                for (name, before), way in zip(start, ways, strict=True)
            ],
            evaluate={figure: value},
        )

    rng_kernel = rng.normal(size=(2, 3))
    keras = "net/k", "net/b", "sparse_categorical_accuracy"
    native, nudged = run(0.0, *keras, 0.5), run(2e-4, *keras, 0.501)
    legacy = "conv/kernel", "conv/bias", "acc"
    real, kept = run(0.0, *legacy, 0.5), run(1e-3, *legacy, 0.504)
    trajectory = compare_trajectories(real, kept)
    noise = noise_between(native, nudged, kept)
    assert set(noise.weights) == {"conv/kernel", "conv/bias"}
    found = judge(real, kept, trajectory, noise)
    assert {check.outcome for check in found} == {Outcome.SAME}, found
    far = run(1e-2, *legacy, 0.5)
    (check,) = differing(judge(real, far, trajectory, noise))
    assert "conv/kernel" in check.note
    assert "1 of 2 differ" in check.note
    # Where A and B are the same, nothing that was rewritten is to blame.
    same = Comparison((kept, native), compare_trajectories(kept, native))
    against = Comparison((real, far), trajectory, (check,))
    side = Side(Path("old.py"), Kind.LEGACY)
    training = Training("training 1", same, (against, against))
    told = Verdict(side, side, (training,), None, 1)
    assert "A against real TensorFlow 1.15.5" in told.problems[0]
    (cause,) = told.causes
    assert cause.startswith("A and B train the same")


def differing(checks: tuple[Check, ...]) -> list[Check]:
    return [check for check in checks if check.outcome is Outcome.DIFFERS]


def test_what_is_not_trained_may_have_no_partner() -> None:
    first = told(("a/k", (2,)), ("b/k", (2,)), ("c/k", (3,)))
    extra = [Weight("rate", (3,), trained=False)]
    assert match_weights(first, [*first, *extra]).places == [0, 1, 2]
    assert match_weights([*first, *extra], first).places == [0, 1, 2, None]
    with pytest.raises(MatchError, match=r"c/k \[3\]"):
        match_weights(first, told(("x", (2,)), ("y", (2,))))


# -- statistics ----------------------------------------------------------------


@pytest.mark.parametrize("value", [-3.0, -0.1, 0.0, 0.5, 2.0, 12.0])
@pytest.mark.parametrize("freedom", [1.0, 2.5, 4.0, 30.0, 500.0])
def test_student_tail_agrees_with_scipy(value: float, freedom: float) -> None:
    assert t_tail(value, freedom) == pytest.approx(
        stats.t.sf(value, freedom), rel=1e-10, abs=1e-14
    )


def test_equivalence_agrees_with_two_welch_tests() -> None:
    first, second = [0.850, 0.853, 0.847, 0.851], [0.852, 0.849, 0.855]
    found = equivalence(first, second, margin=0.01)
    above = stats.ttest_ind(
        np.add(second, 0.01), first, equal_var=False, alternative="greater"
    )
    below = stats.ttest_ind(
        np.subtract(second, 0.01), first, equal_var=False, alternative="less"
    )
    assert found.p_value == pytest.approx(max(above.pvalue, below.pvalue), rel=1e-9)
    assert found.equivalent
    assert not equivalence(first, second, margin=0.002).equivalent
    assert not equivalence(first, [0.80, 0.81, 0.80], margin=0.01).equivalent
    assert equivalence([0.5, 0.5], [0.5, 0.5], margin=0.01).equivalent


# -- recordings and reports -----------------------------------------------------


def test_recordings_survive_the_disk(tmp_path: Path) -> None:
    original = recording([2.0, 0.1 + 0.2], complete=True, logged_steps=[1, 7])
    save_recording(original, tmp_path / "a")
    back = load_recording(tmp_path / "a")
    assert list(back.losses) == [2.0, 0.1 + 0.2]
    assert list(back.steps) == [1, 7]
    assert back.complete
    assert back.accuracy == 0.5
    assert [n for n, _ in back.final_weights] == ["dense/kernel", "dense/bias"]
    np.testing.assert_array_equal(
        back.final_weights[0][1], original.final_weights[0][1]
    )


def test_damaged_recordings_are_plain_errors(tmp_path: Path) -> None:
    save_recording(recording([2.0]), tmp_path / "a")
    path = tmp_path / "a" / "recording.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "format": 99}))
    with pytest.raises(UserError, match="format 99"):
        load_recording(tmp_path / "a")
    path.write_text("{")
    with pytest.raises(UserError, match="not a readable recording"):
        load_recording(tmp_path / "a")


def verdict(first: Recording, second: Recording) -> Verdict:
    compared = compare_trajectories(first, second)
    return Verdict(
        first=Side(Path("old/<train>.py"), Kind.LEGACY),
        second=Side(Path("new/train.py"), Kind.TF2),
        trainings=(Training("training 1", Comparison((first, second), compared)),),
        data=None,
        replicas=1,
        accuracy=equivalence([0.5, 0.51, 0.52], [0.5, 0.51, 0.53], margin=0.1),
    )


class Balance(HTMLParser):
    """Fails on tags that do not nest, and collects what the page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [v or "" for n, v in attrs if n in ("src", "href")]
        if tag not in ("meta", "br", "link", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("losses", [[2.0, 1.0], [2.0, float("nan")], [0.0], [5.0] * 40])
def test_html_report_is_whole_and_self_contained(losses: list[float]) -> None:
    page = render(verdict(recording(losses), recording([2.0, 1.0, 0.5])))
    parser = Balance()
    parser.feed(page)
    assert not parser.open
    assert not parser.loads
    assert "<script" not in page
    assert "old/&lt;train&gt;.py" in page
    assert "<train>" not in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 2
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert "nan" not in drawing
        assert "inf" not in drawing


def test_text_and_json_say_the_same() -> None:
    found = verdict(recording([2.0, 1.0]), recording([2.0, 1.5]))
    stream = StringIO()
    print_verdict(found, stream)
    text = stream.getvalue()
    assert "No parity" in text
    assert "0.33" in text
    document = json.loads(json.dumps(as_json(found)))
    assert document["parity"] is False
    assert document["trajectory"]["first_failure"] == 2
    assert document["trajectory"]["largest_relative_difference"] == pytest.approx(1 / 3)
    assert document["verdict"] in text


# -- sides ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import tensorflow as tf\ntf.estimator.RunConfig()", Kind.LEGACY),
        ("from tensorflow.contrib.distribute import MirroredStrategy", Kind.LEGACY),
        ("from tensorflow import estimator as e", Kind.LEGACY),
        ("import tensorflow_estimator", Kind.LEGACY),
        ("import tfmigrate.compat.v1 as tf", Kind.LEGACY),
        ("from tfmigrate.compat import v1 as tf", Kind.LEGACY),
        ("import tensorflow as tf\nwith tf.GradientTape(): pass", Kind.TF2),
        ("from sklearn.estimator import x", Kind.TF2),
        ("estimator = 3\nprint('tf.contrib')", Kind.TF2),
    ],
)
def test_kind_of_a_program(source: str, kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(source)
    assert look_at(path).kind is kind


def test_kind_follows_modules_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import tensorflow as tf\ntf.estimator.Estimator")
    (tmp_path / "main.py").write_text("import job\njob.main()")
    assert look_at(tmp_path / "main.py").kind is Kind.LEGACY


def test_the_real_python_is_given_the_cells_of_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "net.ipynb"
    cells = [{"cell_type": "code", "source": ["%pip install x\n", "a = None\n"]}]
    path.write_text(json.dumps({"cells": cells, "metadata": {"a": None}}))
    settings = Settings(legacy_python=Path("/opt/tf115/bin/python"))
    words = command_of(look_at(path), Kind.LEGACY, tmp_path, settings, None)
    assert words[0] == "/opt/tf115/bin/python"
    assert words[-1].endswith("/net.py")
    compile(Path(words[-1]).read_text(), "net.py", "exec")
    assert words[words.index("--path") + 1] == str(tmp_path)
    ours = command_of(look_at(path), Kind.LEGACY, tmp_path, Settings(), None)
    assert ours[-1] == str(path)


def test_notebooks_and_folders(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import tensorflow"]},
        {"cell_type": "markdown", "source": ["tf.estimator is not code"]},
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    assert look_at(path).kind is Kind.TF2
    save_recording(recording([1.0]), tmp_path / "recorded")
    assert look_at(tmp_path / "recorded").kind is Kind.RECORDING
    (tmp_path / "empty").mkdir()
    for wrong in ("empty", "missing.py"):
        with pytest.raises(UserError, match=wrong):
            look_at(tmp_path / wrong)
    (tmp_path / "py2.py").write_text("print 'hello'")
    with pytest.raises(UserError, match=r"py2\.py:1"):
        look_at(tmp_path / "py2.py")


@pytest.mark.parametrize(
    ("share", "outcome"), [(0.9, Outcome.NOT_COMPARED), (0.8, Outcome.DIFFERS)]
)
def test_one_decay_where_the_data_ended_is_no_difference(
    share: float, outcome: Outcome
) -> None:
    m = np.arange(1.0, 7.0).reshape(2, 3)
    native = recording([2.0, 1.0], slots=[("#0|m", m), ("#0|v", m)])
    legacy = replace(native, slots=[("#0|m", share * m), ("#0|v", 0.999 * m)])
    (check,) = slot_checks(legacy, native, None)
    assert check.outcome is outcome
