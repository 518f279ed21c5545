"""Runs test files of tensorflow_estimator and writes what became of each test.

    tfmigrate run tests/peer/child.py -- 1 ROOT OUT SECONDS [--failed] MODULE...
    python tests/peer/child.py 2 ROOT OUT SECONDS [--failed] MODULE...

The first argument is the generation: 1 is under `tfmigrate run`, 2 puts
``tfmigrate.compat.v2`` in the place of ``tensorflow``. 0 runs the files on the real
TensorFlow of this interpreter with the code of the tree; Python 3.7 can read this file.
One process imports TensorFlow, and each file runs in a fork of it, at most SECONDS
long; its rows and output are in OUT. With --failed the tests that have passed there, or
cannot be asked, keep their rows; all others run.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import sys
import time
import traceback
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from left_out import TESTS


def _restore_assertions() -> None:
    """Names of assertions that Python has dropped since."""
    case = unittest.TestCase
    for old, new in (
        ("assertItemsEqual", "assertCountEqual"),
        ("assertRaisesRegexp", "assertRaisesRegex"),
        ("assertRegexpMatches", "assertRegex"),
        ("assertNotRegexpMatches", "assertNotRegex"),
        ("assertEquals", "assertEqual"),
        ("assertNotEquals", "assertNotEqual"),
        ("assertAlmostEquals", "assertAlmostEqual"),
        ("assert_", "assertTrue"),
    ):
        if not hasattr(case, old):
            setattr(case, old, getattr(case, new))


def _enter(generation: int) -> Any:
    """``tensorflow`` as tests of that generation have it."""
    if generation == 1:
        return importlib.import_module("tensorflow")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    from tfmigrate.compat.launcher.bygone import restore_python_names
    from tfmigrate.compat.surface import install

    restore_python_names()
    install._load_runtime(importlib.import_module("tensorflow"))
    clone: Any = importlib.import_module("tfmigrate.compat.v2")
    real = sys.modules["tensorflow"]
    clone.__dict__["__path__"] = list(real.__path__)
    clone.__dict__["_tfm_real"] = real
    clone.__dict__["python"] = sys.modules["tensorflow.python"]
    sys.modules["tensorflow"] = clone
    sys.modules["tensorflow.compat"] = clone.compat
    sys.modules["tensorflow.compat.v1"] = clone.compat.v1
    sys.modules["tensorflow.compat.v2"] = clone
    return clone


# Of one test; more where a whole file was given more, as a loaded machine needs.
TEST_SECONDS = 150


def _too_long(*_: Any) -> None:
    raise TimeoutError("a test ran for too long")


# What a test reaches on our objects that was never public.
_UNDERSCORE = re.compile(
    r"(has no attribute|does not have the attribute) '_[a-zA-Z]"
    r"|cannot import name '_"
    # An error class that was never public.
    r"|assertRaisesRegex\(\) arg 1 must be an exception type"
)


class Result(unittest.TestResult):
    """One row for each test."""

    def __init__(
        self, touched: list[str], kept: list[dict[str, Any]], seconds: int
    ) -> None:
        super().__init__()
        self.seconds = seconds
        self.touched = touched
        self.rows = kept
        self.began = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        """Note the time, forget what earlier tests touched."""
        super().startTest(test)
        signal.alarm(self.seconds)
        self.touched.clear()
        self.began = time.time()

    def stopTest(self, test: unittest.TestCase) -> None:
        """The time limit was the test's alone."""
        signal.alarm(0)
        super().stopTest(test)

    def _row(self, test: Any, state: str, error: Any = None) -> None:
        row: dict[str, Any] = {"test": test.id(), "state": state}
        row["seconds"] = round(time.time() - self.began, 2)
        if error is not None:
            text = "".join(traceback.format_exception(*error))
            row["error"] = f"{error[0].__name__}: {error[1]}"[:2000]
            row["trace"] = text[-6000:]
            if _UNDERSCORE.search(str(error[1])):
                row["state"] = "private"
                row["why"] = str(error[1])[:300]
        if self.touched:
            row["state"] = "private"
            row["why"] = self.touched[0]
        elif "UnavailableError" in row.get("error", ""):
            row["state"] = "advice"
        self.rows.append(row)

    def addSuccess(self, test: unittest.TestCase) -> None:
        """The test passed."""
        self._row(test, "pass")

    def addError(self, test: Any, err: Any) -> None:
        """The test raised."""
        self._row(test, "error", err)

    def addFailure(self, test: Any, err: Any) -> None:
        """An assertion did not hold."""
        self._row(test, "fail", err)

    def addSkip(self, test: Any, reason: str) -> None:
        """The test left itself out, or used a private name."""
        self._row(test, "skip")
        self.rows[-1].setdefault("why", reason)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        """A part of a test."""
        if err is not None:
            self._row(subtest, "error", err)


def _tests(suite: Any) -> list[Any]:
    if isinstance(suite, unittest.TestSuite):
        return [test for part in suite for test in _tests(part)]
    return [suite]


def main() -> None:
    """Run the files that the command line names."""
    generation, root, out, seconds, *names = sys.argv[1:]
    _restore_assertions()
    touched: list[str] = []
    if generation == "0":
        sys.path.insert(0, root)
    else:
        touched = _open_doors(int(generation), root)
    from absl import flags

    if not flags.FLAGS.is_parsed():
        importlib.import_module("absl.testing.absltest")
        flags.FLAGS(["peer"], known_only=True)
    failed = names[:1] == ["--failed"]
    for name in names[failed:]:
        rows = Path(out) / (name + ".json")
        kept = _settled(rows) if failed else []
        result = Result(touched, kept, max(TEST_SECONDS, int(float(seconds) / 4)))
        process = os.fork()
        if process == 0:
            _run_apart(generation, root, name, rows, result)
        _wait(process, float(seconds))


def _run_apart(
    generation: str, root: str, name: str, rows: Path, result: Result
) -> None:
    """One file in this process, which has done nothing but import, to its end."""
    log = os.open(
        rows.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666
    )
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        _run(generation, root, name, rows, result)
    finally:
        os._exit(0)


def _wait(process: int, seconds: float) -> None:
    end = time.time() + seconds
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.time() > end:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return
        time.sleep(0.1)


def _run(generation: str, root: str, name: str, out: Path, result: Result) -> None:
    """The tests of one file that have no row yet."""
    settled = {row["test"] for row in result.rows}
    file = Path(root).joinpath(*name.split(".")).with_suffix(".py")
    signal.signal(signal.SIGALRM, _too_long)
    try:
        spec = importlib.util.spec_from_file_location("peer_test", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["peer_test"] = module
        if re.search(r"__main__.*enable_eager_execution\(", file.read_text(), re.S):
            sys.modules["tensorflow"].compat.v1.enable_eager_execution()
        spec.loader.exec_module(module)
    except BaseException:
        kind, error, _ = sys.exc_info()
        row = {
            "test": "(import)",
            "state": "import",
            "error": f"{getattr(kind, '__name__', kind)}: {error}"[:2000],
            "trace": traceback.format_exc()[-6000:],
        }
        out.write_text(json.dumps([row]))
        return
    for test in _tests(unittest.defaultTestLoader.loadTestsFromModule(module)):
        if test.id().endswith(".test_session"):  # a method of tf.test.TestCase
            continue
        if test.id() in settled:
            continue
        why = _left_out(generation, f"{name}:{test.id()}")
        if why is not None:  # some would wait for a cluster
            result.rows.append({"test": test.id(), "state": "private", "why": why})
            continue
        test(result)
        # Written as it goes, so that a crash or a time limit loses one test.
        out.write_text(json.dumps(result.rows))
    out.write_text(json.dumps([*result.rows, {"test": "(end)", "state": "end"}]))


def _left_out(generation: str, test: str) -> str | None:
    """Why a test says nothing about public behaviour, if it does not."""
    release = {"1": "1.15.2", "2": "2.15.0"}.get(generation)
    for where, pattern, why in TESTS if release is not None else ():
        if where in ("both", release) and re.search(pattern, test):
            return why
    return None


def _settled(out: Path) -> list[dict[str, Any]]:
    """Rows of an earlier run that need no second one."""
    if not out.is_file():
        return []
    rows = json.loads(out.read_text())
    return [row for row in rows if row["state"] in ("pass", "skip", "private")]


def _open_doors(generation: int, root: str) -> list[str]:
    """Put public names in the place of the tree's modules."""
    tensorflow = _enter(generation)
    import doors
    from sources import Tree

    doors.install(
        doors.Finder(Tree(Path(root)), generation=generation, root=tensorflow)
    )
    return doors.touched


if __name__ == "__main__":
    main()
