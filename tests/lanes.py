"""Which tests need TensorFlow: `pytest -m text` runs those that do not, in a minute.

A test needs it when its code, that of its fixtures, or what either calls in the tests
imports TensorFlow or the compat layer, uses `runner`, starts a process (but for
commands of tfmigrate that read and write text), or names a script beside it that does
any of this. `pytest.mark.text` and `pytest.mark.tensorflow` say it where that is wrong.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parent
LIBRARIES = ("tensorflow", "tf_keras", "keras", "tfmigrate.compat", "runner")
# Modules of ours that start programs.
STARTERS = (
    *("tfmigrate.verify.prove", "tfmigrate.verify.parity", "tfmigrate.verify.runner"),
    *("tfmigrate.cli.run", "tfmigrate.cli.verify", "tfmigrate.cli.checkpoint"),
)
COMMANDS = {"run", "verify", "demo", "launch", "checkpoint", "--prove"}
_IMPORT = re.compile(
    r"^( *)(?:import|from) +(?:tensorflow|tf_keras|keras|tfmigrate\.compat|runner)\b",
    re.M,
)


def loads_at_import(path: Path) -> bool:
    """Whether a test module loads TensorFlow when it is collected."""
    found = _IMPORT.finditer(path.read_text("utf-8"))
    return any(not each[1] and "runner" not in each[0] for each in found)


def needs_tensorflow(item: pytest.Item) -> bool:
    """Whether a test does anything with TensorFlow, as far as its code tells."""
    if loads_at_import(item.path):
        return True
    info = getattr(item, "_fixtureinfo", None)
    fixtures = info.name2fixturedefs.values() if info else ()
    look = _Look(item.path.parent)
    for each in (
        getattr(item, "function", None),
        *(each[-1].func for each in fixtures),
    ):
        if look.needs(each):
            return True
    params = getattr(getattr(item, "callspec", None), "params", {})
    words = look.words.union(*(_texts(value) for value in params.values()))
    ours = "tfmigrate" in words or look.names & {"tfmigrate", "cli", "CliRunner"}
    # What a process of its own does cannot be seen.
    starts = "subprocess" in look.names or "python" in getattr(item, "fixturenames", ())
    return starts or bool(words & COMMANDS and ours)


def _texts(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, (list, tuple)):
        return set().union(*map(_texts, value))
    return set()


class _Look:
    """A walk over the code of a test and of what it calls in the tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: set[int] = set()
        # Texts that the code holds, and names that it uses.
        self.words: set[str] = set()
        self.names: set[str] = set()

    def needs(self, thing: Any) -> bool:
        """Whether a function, class, module or path has to do with TensorFlow."""
        if id(thing) in self._seen:
            return False
        self._seen.add(id(thing))
        if isinstance(thing, ModuleType):
            ours = _is_ours(thing.__name__) and _starts(Path(str(thing.__file__)))
            return ours or thing.__name__.startswith(LIBRARIES)
        if isinstance(thing, Path):
            return _starts(thing)
        # A command of ours is an object with a function.
        thing = getattr(thing, "callback", None) or thing
        module = getattr(thing, "__module__", None) or ""
        if module.startswith((*LIBRARIES, *STARTERS)):
            return True
        if not _is_ours(module) or module == "tests.conftest":
            return False
        if inspect.isclass(thing):
            return any(self.needs(each) for each in vars(thing).values())
        thing = inspect.unwrap(thing) if callable(thing) else thing
        return isinstance(thing, FunctionType) and any(
            self._code_needs(code, thing.__globals__) for code in _codes(thing.__code__)
        )

    def _code_needs(self, code: CodeType, known: Mapping[str, Any]) -> bool:
        self.names |= {*code.co_names, *code.co_varnames}
        values = [known.get(name) for name in code.co_names]
        texts = set().union(*map(_texts, [*code.co_consts, *values]))
        self.words |= texts
        return (
            any(name.startswith(LIBRARIES) for name in code.co_names)
            or ("importorskip" in code.co_names and bool(texts & set(LIBRARIES)))
            or any(_starts(self._folder / text) for text in texts)
            or any(self.needs(value) for value in values)
        )


def _is_ours(module: str) -> bool:
    """Whether a module is one of the tests."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and TESTS in Path(file).parents


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


@functools.cache
def _starts(script: Path) -> bool:
    """Whether a script, or one beside it that it names, loads TensorFlow."""
    if script.suffix != ".py" or len(str(script)) > 300 or not script.is_file():
        return False
    text = script.read_text("utf-8", "replace")
    named = {script.parent / name for name in re.findall(r"[\"'](\w+\.py)[\"']", text)}
    return bool(_IMPORT.search(text)) or any(_starts(each) for each in named - {script})
