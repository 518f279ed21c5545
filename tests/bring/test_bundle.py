"""Modules of ours put together into one module of the user's project."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tfmigrate.bring import (
    Bundle,
    CannotBundle,
    Sources,
    bundle,
    identifiers,
)
from tfmigrate.project.files import is_ours
from tfmigrate.project.guard import check_output

Make = Callable[..., Sources]


@pytest.fixture
def package(tmp_path: Path) -> Make:
    def make(**modules: str) -> Sources:
        """Files by name; ``a__b`` is b.py in the package a, ``a__init`` its init."""
        for name, text in modules.items():
            *folders, stem = name.split("__")
            folder = tmp_path / "lib"
            for below in ["", *folders]:
                folder = folder / below
                folder.mkdir(exist_ok=True)
                (folder / "__init__.py").touch()
            (folder / f"{'__init__' if stem == 'init' else stem}.py").write_text(text)
        return Sources("lib", tmp_path / "lib")

    return make


def made(sources: Sources, *wanted: str, **options: object) -> Bundle:
    result = bundle(sources, wanted, doc="Things.", **options)  # type: ignore[arg-type]
    # What is taken is bound by the module around the text.
    around = "".join(f"{name} = 1\n" for name in options.get("bound", {}))  # type: ignore[attr-defined]
    inside = around + "".join(result.imports) + result.body
    check_output("", inside if around else result.text)
    again = bundle(sources, wanted, doc="Things.", **options)  # type: ignore[arg-type]
    assert (again, again.text) == (result, result.text)
    return result


def run(result: Bundle, expression: str) -> object:
    space: dict[str, object] = {"__name__": "made"}
    exec(compile(result.text, "made", "exec"), space)
    return eval(expression, space)


def defined(result: Bundle) -> list[str]:
    return [
        node.name
        for node in ast.parse(result.text).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]


class TestWhatIsKept:
    def test_only_what_is_reached(self, package: Make) -> None:
        lib = package(
            a="import os\nimport math\n\n\ndef used():\n    return other()\n\n\n"
            "def other():\n    return math.pi\n\n\ndef idle():\n    return os.sep\n"
        )
        result = made(lib, "used")
        assert defined(result) == ["used", "other"]
        assert "import math" in result.text
        assert "import os" not in result.text
        assert run(result, "used()") == pytest.approx(3.14159, abs=1e-5)

    def test_comments_and_docstrings_stay(self, package: Make) -> None:
        lib = package(
            a='"""What this part is about."""\n\n# Why it is so.\nLIMIT = 3\n\n\n'
            '# About f.\ndef f():\n    """What f does."""\n    return LIMIT  # here\n',
            b="from .a import f\n\n\ndef g():\n    return f()\n",
        )
        text = made(lib, "g").text
        for kept in ("# What this part is about.", "# Why it is so.", "# About f."):
            assert kept in text
        assert '"""What f does."""' in text
        assert "# here" in text

    def test_every_statement_that_binds_a_name(self, package: Make) -> None:
        lib = package(
            a="table = {}\ntable['x'] = 1\n\n"
            "try:\n    import json as codec\nexcept ImportError:\n    codec = None\n\n"
            "idle = {}\nidle['x'] = 2\n\n\n"
            "def f():\n    return table, codec.dumps(1)\n"
        )
        result = made(lib, "f")
        assert run(result, "f()") == ({"x": 1}, "1")
        assert "idle" not in result.text

    def test_names_for_annotations_only(self, package: Make) -> None:
        lib = package(
            a="from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\n"
            "if TYPE_CHECKING:\n    from .b import B\n\n\ndef f(b: B) -> int:\n    return 1\n",
            b="from .a import f\n\n\nclass B:\n    value = f(None)\n",
        )
        result = made(lib, "B")
        assert run(result, "B.value") == 1

    def test_what_is_not_there(self, package: Make) -> None:
        lib = package(a="def f():\n    return 1\n", b="def f():\n    return 2\n")
        with pytest.raises(CannotBundle, match="nothing defines g"):
            made(lib, "g")
        with pytest.raises(CannotBundle, match=r"defined in lib\.a and lib\.b"):
            made(lib, "f")
        assert run(made(lib, "b.f"), "f()") == 2

    def test_modules_that_stay(self, package: Make) -> None:
        lib = package(
            a="from .engine.core import run\n\n\ndef f():\n    return run()\n",
            engine__core="def run():\n    return 1\n",
        )
        with pytest.raises(CannotBundle, match=r"it needs lib\.engine\.core\.run"):
            made(lib, "f", stay=["lib.engine"])

    def test_what_another_module_has(self, package: Make) -> None:
        lib = package(
            a="from .spec import Spec\n\n\ndef f():\n    return Spec()\n",
            spec="class Spec:\n    pass\n",
        )
        text = made(lib, "f", given={"lib.spec.Spec": "training_loop.Spec"}).text
        assert "from training_loop import Spec\n" in text
        assert "class Spec" not in text


class TestModulesBecomeOne:
    def test_relative_imports_and_module_attributes(self, package: Make) -> None:
        lib = package(
            a="from . import b\nfrom .deep import c as other\n\n\n"
            "def f(b_value=b.ONE):\n    from .b import TWO\n\n"
            "    return b_value + TWO + other.three()\n",
            b="ONE = 1\nTWO = 2\n",
            deep__c="from ..b import ONE, TWO\n\n\ndef three():\n    return ONE + TWO\n",
        )
        result = made(lib, "f")
        assert run(result, "f()") == 6
        assert "from ." not in result.text

    def test_stars_follow_all(self, package: Make) -> None:
        lib = package(
            a__init="from .b import *\nfrom .c import *\n",
            a__b="__all__ = ['f']\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n",
            a__c="def g():\n    return 3\n",
        )
        assert run(made(lib, "a.g"), "g()") == 3
        assert run(made(lib, "a.f"), "f()") == 1

    def test_definitions_come_before_what_needs_them(self, package: Make) -> None:
        lib = package(
            a="from .z import make\n\n\nclass A(make()):\n    pass\n",
            z="from .m import Base\n\n\ndef make():\n    return Base\n",
            m="class Base:\n    value = 4\n",
        )
        assert run(made(lib, "A"), "A.value") == 4

    def test_order_where_there_is_a_choice(self, package: Make) -> None:
        lib = package(
            a="def f():\n    return 1\n",
            b="def g():\n    return 2\n",
            c="from .a import f\nfrom .b import g\n\n\ndef h():\n    return f() + g()\n",
        )
        assert defined(made(lib, "h")) == ["f", "g", "h"]
        assert defined(made(lib, "h", order=["b", "a"])) == ["g", "f", "h"]

    def test_a_module_as_a_value_is_refused(self, package: Make) -> None:
        lib = package(a="from . import b\n\nPARTS = (b,)\n", b="x = 1\n")
        with pytest.raises(CannotBundle, match=r"uses the module lib\.b as a value"):
            made(lib, "PARTS")


class TestNames:
    def test_the_same_private_name_twice(self, package: Make) -> None:
        lib = package(
            a="from .b import g\n\n\ndef _help():\n    return 1\n\n\n"
            "def f():\n    return _help() + g()\n",
            b="def _help():\n    return 10\n\n\ndef g():\n    return _help()\n",
        )
        assert run(made(lib, "f"), "f()") == 11

    def test_the_same_import_name_for_two_modules(self, package: Make) -> None:
        lib = package(
            a="import math as m\n\nfrom .b import g\n\n\ndef f():\n    return m.pi, g()\n",
            b="import string as m\n\n\ndef g():\n    return m.digits\n",
        )
        assert run(made(lib, "f"), "f()[1]") == "0123456789"

    def test_a_local_name_does_not_hide_what_a_module_had(self, package: Make) -> None:
        lib = package(
            a="from . import b\n\n\ndef f(size):\n    size = size + 1\n"
            "    return [b.size(size) for _ in range(2)]\n",
            b="def size(value):\n    return value * 2\n",
        )
        assert run(made(lib, "f"), "f(1)") == [4, 4]

    def test_a_built_in_name_stays_one(self, package: Make) -> None:
        lib = package(
            a="from .b import filter as strain\n\n\ndef f(values):\n"
            "    return strain(list(filter(None, values)))\n",
            b="def filter(values):\n    return values[:1]\n",
        )
        assert run(made(lib, "f"), "f([0, 1, 2])") == [1]

    def test_names_that_are_taken(self, package: Make) -> None:
        lib = package(
            a="import math\nimport json as codec\n\n\ndef f():\n"
            "    return math.floor(1.5), codec.dumps(LIMIT)\n\n\nLIMIT = 3\n"
        )
        result = made(
            lib, "f", bound={"math": "math", "f": None, "LIMIT": None, "codec": None}
        )
        assert result.names["f"] != "f"
        assert not any("import math" in section for section in result.imports)
        space: dict[str, object] = {}
        code = "import math\nf = LIMIT = codec = 0\n" + "".join(result.imports)
        exec(code + result.body, space)
        assert space[result.names["f"]]() == (1, "3")  # type: ignore[operator]
        assert space["f"] == 0

    def test_globals_keep_their_name(self, package: Make) -> None:
        lib = package(
            a="from .b import _count\n\n\ndef f():\n    return _count()\n",
            b="_number = 0\n\n\ndef _count():\n    global _number\n    _number += 1\n"
            "    return _number\n",
        )
        assert run(made(lib, "f"), "[f(), f()]") == [1, 2]


LOOPS = {
    "a": "from .b import Base\n\n\n"
    "class Estimator(Base):\n"
    '    """Trains."""\n\n'
    "    def __init__(self):\n        self.steps = 0\n\n"
    "    def train(self):\n        return self._once()\n\n"
    "    def _once(self):\n        return 1\n\n"
    "    def export(self):\n        return self._receiver()\n\n"
    "    def _receiver(self):\n        return Receiver()\n\n\n"
    "class Receiver:\n    pass\n",
    "b": "class Base:\n    def close(self):\n        return 2\n",
}


class TestMethods:
    def test_those_never_named_are_left_out(self, package: Make) -> None:
        result = made(package(**LOOPS), "Estimator", used=identifiers("e.train()"))
        assert "def train" in result.text
        assert "def _once" in result.text
        assert "export" not in result.text
        assert "Receiver" not in result.text
        assert "def close" not in result.text
        assert run(result, "Estimator().train()") == 1

    def test_a_name_in_a_string_counts(self, package: Make) -> None:
        words = identifiers("getattr(e, 'export')()")
        text = made(package(**LOOPS), "Estimator", used=words).text
        assert "def _receiver" in text
        assert "class Receiver" in text

    def test_all_stay_when_nobody_knows(self, package: Make) -> None:
        text = made(package(**LOOPS), "Estimator").text
        for name in ("train", "_once", "export", "_receiver", "close"):
            assert f"def {name}(" in text

    def test_classes_that_a_library_calls(self, package: Make) -> None:
        lib = package(
            a="import threading\n\n\nclass Worker(threading.Thread):\n"
            "    def run(self):\n        return 1\n"
        )
        assert "def run" in made(lib, "Worker", used=set()).text

    def test_what_is_mixed_into_such_a_class(self, package: Make) -> None:
        lib = package(
            lib="import threading\n\n"
            "class First:\n    def start(self): pass\n\n"
            "class Mixed(First):\n    def run(self): return self.extra()\n"
            "    def extra(self): pass\n\n"
            "class Worker(Mixed, threading.Thread):\n    pass\n"
        )
        for name in ("start", "run", "extra"):
            assert f"def {name}" in made(lib, "Worker", used=set()).text
            assert f"def {name}" not in made(lib, "Mixed", used=set()).text

    def test_an_empty_class(self, package: Make) -> None:
        lib = package(a="class A:\n    def f(self):\n        return 1\n")
        assert run(made(lib, "A", used=set()), "vars(A()) == {}") is True


def test_ours_and_not_ours(package: Make) -> None:
    text = made(package(a="def f():\n    return 1\n"), "f").text
    assert is_ours(text)
    assert not is_ours('"""Things."""\n\ndef f():\n    return 1\n')
    assert not is_ours("def f():\n    return 1\n")
    assert not is_ours("")


def test_the_text_is_clean(package: Make, tmp_path: Path) -> None:
    lib = package(
        a='"""First."""\n\nfrom __future__ import annotations\n\nimport os\n'
        "from collections.abc import Callable\nfrom typing import Any\n\n"
        "import numpy as np\n\nfrom .b import LIMIT, helper\n\n"
        "Gradients = list[Any]\n\n\ndef f(call: Callable[[], Any]) -> Gradients:\n"
        "    return [call(), helper(), LIMIT, np.pi, os.sep]\n",
        b='"""Second."""\n\nimport math\n\nLIMIT = 3  # type: ignore[assignment]\n\n\n'
        "def helper():\n    return math.pi\n",
    )
    file = tmp_path / "made.py"
    file.write_text(made(lib, "f").text)
    for command in (["check", "--select", "E,F,W,I,UP"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "type: ignore" not in file.read_text()
