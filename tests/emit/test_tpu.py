"""TPUEstimator programs, which off TPU are Estimator programs in other words."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run
from .recorded import assert_same, record, rewrite

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted((HERE / "tpu").glob("*.py"))
DENSE = (HERE / "tpu" / "tpu_dense.py").read_text("utf-8")
STEPS = 6


def test_it_becomes_a_native_loop_with_a_word_about_tpus() -> None:
    result = run(DENSE)
    assert [(f.rule, f.tier) for f in result.findings] == [
        ("TFM101", Tier.NATIVE),
        ("TFM142", Tier.NATIVE),
    ]
    line = DENSE[: DENSE.index("tf.contrib.tpu.TPUEstimator(")].count("\n") + 1
    assert {f.line for f in result.findings} == {line}


def test_what_only_a_tpu_read_is_gone() -> None:
    text = run(DENSE).module.code
    for gone in ("contrib", "cluster =", "per_host", "metric_fn", "CrossShard"):
        assert gone not in text
    # Flags are the program's interface and stay.
    assert 'DEFINE_bool("use_tpu"' in text
    assert '{"batch_size": FLAGS.train_batch_size}' in text
    assert '{"batch_size": FLAGS.eval_batch_size}' in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("mode=mode, loss=loss, train_op", "mode, loss=loss, scaffold_fn=f, train_op",
         "a spec with `scaffold`"),
        ("net = tf.layers.dense(features,", "n = params['batch_size']\n"
         "    net = tf.layers.dense(features,", "batch size"),
        ("(metric_fn, [labels, logits])", "make_metrics(labels)", "not a function"),
        ("(metric_fn, [labels, logits])", "(metric_fn, [labels])", "fewer tensors"),
        ("    predicted = tf.argmax(logits, axis=1, output",
         "    if labels is None:\n        return {}\n"
         "    predicted = tf.argmax(logits, axis=1, output", "does more"),
        ("config=run_config,", "config=run_config, embedding_config_spec=e,",
         "embedding_config_spec"),
    ],
)  # fmt: skip
def test_what_is_not_understood_keeps_its_estimator(
    old: str, new: str, reason: str
) -> None:
    assert old in DENSE
    result = run(DENSE.replace(old, new))
    assert [f.tier for f in result.findings] == [Tier.COMPAT]
    assert reason in (result.findings[0].reason or "")
    assert "tf.contrib.tpu.TPUEstimator" in result.module.code


def test_a_lost_host_call_is_reported() -> None:
    code = DENSE.replace("train_op=train_op)", "train_op=train_op, host_call=calls)")
    assert "host_call" in run(code).findings[-1].message


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both sides of every program, rewritten and run."""
    rewritten = tmp_path_factory.mktemp("rewritten")
    rewrite(HERE / "tpu", rewritten, "--style", "inline")
    runs = [(program, 1) for program in PROGRAMS]
    return record(runs, rewritten, tmp_path_factory.mktemp("tpu"), steps=STEPS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_rewrite_trains_the_same(program: Path, recordings: Path) -> None:
    assert_same(recordings / f"{program.stem}-1", steps=STEPS)
