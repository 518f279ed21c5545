"""The rewrite of one module's text, without files or a command line."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
from tfmigrate.emit import ProgramsRewrite, rewrite_programs
from tfmigrate.options import RewriteOptions
from tfmigrate.symbols.resolver import Resolver


def run(code: str, **options: object) -> ProgramsRewrite:
    """What becomes of the programs of a valid module."""
    compile(code, "program.py", "exec")
    module = cst.parse_module(code)
    return rewrite_programs(
        module,
        path=Path("program.py"),
        resolver=Resolver(module),
        options=RewriteOptions(**options),  # type: ignore[arg-type]
    )
