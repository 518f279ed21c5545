"""Helpers that every test may use."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from lanes import loads_at_import, needs_tensorflow
from startup import forks, sitecustomize

REPOSITORY = Path(__file__).resolve().parent.parent

Runner = Callable[..., "subprocess.CompletedProcess[str]"]

sitecustomize.install()
# Modules are compiled once for all processes of tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The files that take longest begin first: no worker is left with one at the end.
LONGEST = (
    "compat/test_legacy_programs.py",
    "compat/test_engine.py",
    "test_notebooks.py",
    "verify/test_oracle_parity.py",
    "verify/test_mistakes.py",
    "compat/test_canned.py",
    "compat/test_both_generations.py",
    "traps/test_traps.py",
    "test_pages.py",
    "native/test_recorded.py",
    "programs/test_campaign.py",
    "compat/test_contrib.py",
    "training/test_checks.py",
    "compat/test_oracle_cases.py",
    "test_demo.py",
    "native/test_lifted.py",
    "compat/test_lifecycle.py",
    "native/test_variants.py",
    "whole/test_whole.py",
    "rewrite/test_across_files.py",
    "project/test_memory.py",
)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return REPOSITORY


def _run_python(
    *args: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 300,
    input: str | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, args)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **(env or {})},
        input=input,
        stdin=subprocess.DEVNULL if input is None else None,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


@pytest.fixture(scope="session")
def python() -> Runner:
    """Runs ``python ARGS`` in its own process."""
    return _run_python


@pytest.fixture(scope="session")
def tfmigrate() -> Runner:
    """Runs ``python -m tfmigrate ARGS`` as a user would, in its own process."""
    return functools.partial(_run_python, "-m", "tfmigrate")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only text is tested, TensorFlow is not loaded to find that out."""
    only_text = config.getoption("markexpr") == "text"
    is_module = collection_path.suffix == ".py" and collection_path.is_file()
    return (
        True if only_text and is_module and loads_at_import(collection_path) else None
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep xdist from beginning with the files that have most tests."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by whether it needs TensorFlow, but for slow ones; sort files."""
    places = {REPOSITORY / "tests" / name: n for n, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
    for item in items:
        marked = ("text", "tensorflow", "slow")
        said = any(each.name in marked for each in item.iter_markers())
        if not said:
            item.add_marker("tensorflow" if needs_tensorflow(item) else "text")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Programs that load TensorFlow are forks, but where a test says otherwise."""
    os.environ.pop(forks.SOCKET, None)
    if item.get_closest_marker("tensorflow") and not item.get_closest_marker("alone"):
        forks.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that loads TensorFlow and is marked as text is marked wrongly."""
    loaded = "tensorflow" in sys.modules
    yield
    if not loaded and "tensorflow" in sys.modules and any(item.iter_markers("text")):
        pytest.fail("it loads TensorFlow, and nothing in it says so: mark it")
