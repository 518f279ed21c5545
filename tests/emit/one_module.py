"""The rewrite of one module's text, without files or a command line."""

from __future__ import annotations

from pathlib import Path

from tfmigrate.emit import ProgramsRewrite, rewrite_programs
from tfmigrate.lift.in_place import InPlace
from tfmigrate.options import RewriteOptions
from tfmigrate.project.facts import ProjectFacts


def run(code: str, **options: object) -> ProgramsRewrite:
    """What becomes of the programs of a valid module, each with a loop in place."""
    compile(code, "program.py", "exec")
    facts = ProjectFacts()
    parsed = facts.load(Path("program.py"), code.encode())
    return rewrite_programs(
        parsed.module,
        path=parsed.path,
        resolver=parsed.resolver,
        options=RewriteOptions(**options),  # type: ignore[arg-type]
        read_model=InPlace(parsed, facts),
    )
