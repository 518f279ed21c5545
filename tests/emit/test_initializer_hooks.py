"""Hooks that only initialise an iterator go, with the placeholders they feed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

PROGRAM = Path(__file__).parent / "model_fns" / "fed_iterators.py"
FED = PROGRAM.read_text("utf-8")


def test_the_input_function_returns_the_dataset_of_what_was_fed() -> None:
    result = run(FED)
    text = result.module.code
    assert {finding.tier for finding in result.findings} == {Tier.NATIVE}
    for gone in ("Hook", "hook", "placeholder", "initializer", "get_next"):
        assert gone not in text.split('"""', 2)[2]
    assert "        y = np.asarray(labels, np.float32)\n" in text
    assert "from_tensor_slices((features, y))" in text
    assert "    return input_fn\n" in text
    assert "train_fn = get_inputs(x, y.astype(np.float64), 16)\n" in text


def test_other_hooks_stay() -> None:
    code = FED.replace("[train_hook]", "[train_hook, tf.train.StopAtStepHook(5)]")
    result = run(code)
    assert {finding.tier for finding in result.findings} == {Tier.NATIVE}
    assert "steps = min(" in result.module.code
    assert "5" in result.module.code.split("last_step", 1)[1][:40]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("        self.iterator_initializer_func = None", "        self.calls = 0",
         "does more than initialise"),
        ("    data_init_op = None\n", "    data_init_op = None\n\n"
         "    def end(self, session):\n        print(1)\n", "does more than"),
        ("(self, session, coord):\n        session.run", "(self, session, coord):\n"
         "        print(session)\n        session.run", "does more"),
        ("        return next_x", "        tf.identity(x)\n        return next_x",
         "`x` is used outside of a Dataset"),
        ("tf.float32, [None, 1]", "tf.string, [None, 1]", "another dtype"),
        ("y: labels}", "y: next_y}", "it is not seen what `next_y` is"),
        ("y: labels}", "dataset: labels}", "`dataset` is not a placeholder"),
        ("feed_dict={x: features, y: labels}", "feed_dict=feeds()", "a plain dict"),
        ("eval_hook = EvalHook()", "eval_hook = EvalHook()\nlog(eval_hook)",
         "`eval_hook` is used elsewhere"),
        ("train_fn, train_hook = get", "both = train_fn, train_hook = get",
         "not unpacked at once"),
        ("hooks=[train_hook]", "hooks=[train_hook] + []", "is used elsewhere"),
        ("    return input_fn, hook", "    return input_fn, hook, 1", "is returned"),
    ],
)  # fmt: skip
def test_what_does_more_stays_with_the_reason(old: str, new: str, reason: str) -> None:
    assert FED.count(old) >= 1
    (finding,) = run(FED.replace(old, new, 1)).findings
    assert finding.tier is Tier.COMPAT
    assert reason in (finding.reason or "")


def test_a_module_that_others_import_keeps_what_its_functions_return(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text(FED, "utf-8")
    other = "import train\n\nprint(train.get_inputs)\n"
    (tmp_path / "other.py").write_text(other, "utf-8")
    command = [sys.executable, "-m", "tfmigrate", "scan", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "other files may use" in result.stdout
