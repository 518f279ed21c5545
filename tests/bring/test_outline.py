"""What modules of ours bind, told without trees for editing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.bring import installed_sources
from tfmigrate.bring.outline import Imported, read_outline
from tfmigrate.bring.parts import read_part


def test_scopes_bind_nothing_outside(tmp_path: Path) -> None:
    file = tmp_path / "things.py"
    file.write_text(
        "def f():\n    inside = 1\n    import os\n\n\n"
        "class A:\n    field = 2\n\n\n"
        "squares = [n * n for n in range(3)]\n"
        "later: int\n"
    )
    outline = read_outline("lib.things", file)
    assert outline.defined == {"f", "A", "squares", "later"}
    assert not outline.imports


def test_imports_by_where_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "__init__.py"
    file.write_text(
        "import a.b\nimport c.d as e\nfrom . import near\nfrom ..far import thing as it\n"
        "from .all import *\n"
        "if TYPE_CHECKING:\n    from g import h\n"
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n"
        "__all__ = ['it', 'near']\n"
    )
    outline = read_outline("lib.below", file)
    assert outline.imports == {
        "a": Imported("a.b", None, "a"),
        "e": Imported("c.d", None, "e"),
        "near": Imported("lib.below", "near", "near"),
        "it": Imported("lib.far", "thing", "it"),
        "h": Imported("g", "h", "h"),
    }
    assert outline.typing_only == {"h"}
    assert outline.stars == ["lib.below.all"]
    assert outline.defined == {"fast"}
    assert outline.exported == {"it", "near"}


@pytest.mark.parametrize("package", ["tfmigrate.runtime", "tfmigrate.compat.contrib"])
def test_outlines_name_what_is_cut_out(package: str) -> None:
    sources = installed_sources(package)
    for module in sources.modules():
        file = sources.file(module)
        assert file is not None
        names = set(read_part(module, file).by_name)
        assert read_outline(module, file).defined == names, module
