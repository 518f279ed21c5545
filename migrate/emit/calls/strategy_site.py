"""The strategy of a loop: where the program made its own, or before the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.code.tree import Statement
from ..module.template import parse_statements
from .mixed_precision import POLICY
from .strategies import remark, strategy_code

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter

__all__ = ["StrategySite"]


class StrategySite:
    """Writes the statements that make one program's strategy."""

    def __init__(self, emitter: LoopEmitter) -> None:
        self.emitter = emitter

    def line(self, name: str, code: str) -> str:
        """The statement that makes the strategy, with what is to be said of it."""
        return f"{remark(code, self.emitter.tree.text)}{name} = {code}\n"

    def edit(self) -> str:
        """Today's strategy where the program makes its own.

        Returns source text of the strategy that is still to be made.
        """
        emitter = self.emitter
        site, edits = emitter.program.sites.strategy, emitter.edits
        plan, chosen = emitter.plan.strategy, emitter.options.strategy
        source = emitter.tree.text
        code = emitter.text(strategy_code(plan, chosen, source))
        if site is None or plan.variable is None:
            return code
        edits.expressions[site.call] = emitter.fitted_expression(site.call, code)
        return ""

    def place(self, first: Statement) -> None:
        """The strategy, made before the statement that begins the model."""
        emitter = self.emitter
        sites, edits = emitter.program.sites, emitter.edits
        code = self.edit()
        line = self.line(emitter.strategy, code) if code else ""
        if emitter.options.mixed_precision:
            line += emitter.text(f"{POLICY}\n")
        if emitter.plan.config.seed is not None:
            line += f"{emitter.tf}.random.set_seed({emitter.plan.config.seed})\n"
        names = {"strategy": emitter.strategy}
        statements = parse_statements(line) + self.check(names)
        edits.before[first] = emitter.fitted(statements)
        hoist = [s for s in sites.hoist if edits.replace.get(s) != []]
        if hoist:
            edits.moved[first] = [*hoist]
            for statement in hoist:
                edits.replace[statement] = []

    def check(self, names: dict[str, str] | None = None) -> list[Statement]:
        """What stops a program whose strategy names devices that are not there."""
        emitter = self.emitter
        plan = emitter.plan.strategy
        named = {"devices", "num_gpus", "num_gpus_per_worker"}
        given = {name for name, code in plan.arguments if code != "None"}
        if emitter.options.strategy != "keep" or not named & given:
            return []
        inner = emitter.site_names("devices", "present")
        return emitter.fill("present_devices", names={**inner, **(names or {})})
