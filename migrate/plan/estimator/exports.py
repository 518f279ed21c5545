"""Exports for serving: receiver functions, and the exporters of an EvalSpec."""

from __future__ import annotations

import libcst as cst

from ...symbols.scopes import Binding
from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Statement, Tree, walk
from ..program import Difference, ExporterPlan, ReceiverPlan
from ..sites import Blocked
from .receivers import BUILDERS, Entries, built, receiver_function

__all__ = ["EXPORT_METHODS", "ExportReader"]

_RULE = "TFM110"
_SETTINGS = ("assets_extra", "as_text", "checkpoint_path", "strip_default_attrs")
_EXPORT = ("export_dir_base", "serving_input_receiver_fn", *_SETTINGS)
EXPORT_METHODS = {"export_savedmodel": _EXPORT, "export_saved_model": _EXPORT}
_EXPORTERS = {
    "tf.estimator.BestExporter": (
        "name",
        "serving_input_receiver_fn",
        "event_file_pattern",
        "compare_fn",
        "assets_extra",
        "as_text",
        "exports_to_keep",
    ),
    "tf.estimator.FinalExporter": (
        "name",
        "serving_input_receiver_fn",
        "assets_extra",
        "as_text",
    ),
    "tf.estimator.LatestExporter": (
        "name",
        "serving_input_receiver_fn",
        "assets_extra",
        "as_text",
        "exports_to_keep",
    ),
}


class ExportReader:
    """Reads what one program exports.

    It remembers the names it followed: at the end nothing else may read them,
    because what makes them goes.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.differences: list[Difference] = []
        self._followed: dict[Binding, set[cst.CSTNode]] = {}
        self._functions: dict[cst.FunctionDef, set[cst.CSTNode]] = {}
        self._copied: list[tuple[cst.CSTNode, cst.Call]] = []

    def call(
        self, call: cst.Call, given: dict[str, cst.BaseExpression]
    ) -> tuple[str, ReceiverPlan]:
        """Directory and receiver of ``estimator.export_savedmodel(...)``."""
        line = self.tree.line(call)
        self._refuse(given, line, "an export")
        for name in ("export_dir_base", "serving_input_receiver_fn"):
            if is_none(given.get(name)):
                raise Blocked(_RULE, line, f"an export without `{name}`")
        directory = self.tree.code(given["export_dir_base"])
        return directory, self._receiver(given["serving_input_receiver_fn"], call)

    def exporters(
        self, node: cst.BaseExpression | None, call: cst.Call
    ) -> tuple[tuple[ExporterPlan, ...], ReceiverPlan | None]:
        """``exporters=`` of the EvalSpec behind a call."""
        if node is None or is_none(node):
            return (), None
        line = self.tree.line(node)
        value = self._follow(node)
        nodes = [value]
        if isinstance(value, (cst.List, cst.Tuple)):
            nodes = [self._follow(element.value) for element in value.elements]
        plans, receivers = [], []
        for one in nodes:
            symbol = self.tree.symbol(one.func) if isinstance(one, cst.Call) else None
            if not isinstance(one, cst.Call) or symbol not in _EXPORTERS:
                shown = self.tree.code(one)
                raise Blocked(_RULE, line, f"no loop equivalent of exporter `{shown}`")
            plan, receiver = self._exporter(one, symbol, call)
            plans.append(plan)
            receivers.append(receiver)
        if any(receiver != receivers[0] for receiver in receivers):
            raise Blocked(_RULE, line, "exporters with different receiver functions")
        return tuple(plans), receivers[0] if receivers else None

    def drop(self) -> list[Statement]:
        """The statements that go, once all calls of the program are read."""
        tree, found = self.tree, []
        for binding, nodes in self._followed.items():
            if len(tree.uses(binding)) != len(nodes):
                line = tree.line(binding.node)
                reason = f"`{binding.name}` of an exporter is used elsewhere too"
                raise Blocked(_RULE, line, reason)
            assert binding.value is not None
            found.append(tree.statement(binding.value))
        for function, nodes in self._functions.items():
            name = function.name.value
            if len(tree.loads_of(function)) != len(nodes):
                reason = f"the receiver function `{name}` is used elsewhere too"
                raise Blocked(_RULE, tree.line(function), reason)
            found.append(function)
        for node, call in self._copied:
            self._check_names(node, call)
        return found

    # -- parts ------------------------------------------------------------------

    def _follow(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What a name stands for; what makes it will go."""
        for _ in range(12):
            binding = self.tree.assigned(node)
            if binding is None or binding.value is None:
                break
            self._followed.setdefault(binding, set()).add(node)
            node = binding.value
        return node

    def _matched(
        self, call: cst.Call, parameters: tuple[str, ...]
    ) -> dict[str, cst.BaseExpression]:
        try:
            return match_arguments(call, parameters)
        except UnknownArguments as problem:
            line = self.tree.line(call)
            raise Blocked(_RULE, line, f"an exporter with {problem}") from None

    def _refuse(
        self, given: dict[str, cst.BaseExpression], line: int, what: str
    ) -> None:
        for name in (*_SETTINGS, "event_file_pattern"):
            node = given.get(name)
            if not is_none(node) and self.tree.code(node) != "False":  # type: ignore[arg-type]
                raise Blocked(_RULE, line, f"{what} with `{name}`")

    def _exporter(
        self, made: cst.Call, symbol: str, call: cst.Call
    ) -> tuple[ExporterPlan, ReceiverPlan]:
        tree, line = self.tree, self.tree.line(made)
        kind = symbol.rpartition(".")[2]
        given = self._matched(made, _EXPORTERS[symbol])
        self._refuse(given, line, kind)
        name = given.get("name")
        code = "'best_exporter'" if name is None else tree.code(name)
        if name is None and kind != "BestExporter":
            raise Blocked(_RULE, line, f"{kind} without a name")
        function = given.get("serving_input_receiver_fn")
        if function is None or is_none(function):
            raise Blocked(_RULE, line, f"{kind} without a receiver function")
        keep = given.get("exports_to_keep")
        kept = "5" if keep is None else tree.code(keep)
        compare = given.get("compare_fn")
        for part in (name, keep, compare):
            if part is not None:
                self._copied.append((part, call))
        if kind == "FinalExporter":
            kept = "None"
        if kind == "BestExporter":
            self.differences.append(
                Difference(
                    "TFM138",
                    line,
                    "BestExporter begins anew in each run: it read the figures of "
                    "earlier runs from event files, which the loop does not write",
                    needs_review=True,
                )
            )
        plan = ExporterPlan(
            kind=kind,
            name=code,
            keep=None if kept == "None" else kept,
            better=None if is_none(compare) else tree.code(compare),  # type: ignore[arg-type]
        )
        return plan, self._receiver(function, call)

    def _receiver(self, node: cst.BaseExpression, call: cst.Call) -> ReceiverPlan:
        tree, line = self.tree, self.tree.line(node)
        value = self._follow(node)
        if isinstance(value, cst.Call) and tree.symbol(value.func) in BUILDERS:
            self._copied.append((value, call))
            entries = None
            if value.args:
                # A dict of placeholders goes with the call that reads it.
                first = tree.value(value.args[0].value)
                if isinstance(first, cst.Dict) and Entries.of(tree, first, named=True):
                    entries = self._follow(value.args[0].value)
                    for element in first.elements:
                        self._follow(element.value)
                value = self._with_spec(value)
            return built(tree, value, entries, line)
        defined = tree.resolver.definition(value)
        if not isinstance(defined, cst.FunctionDef):
            raise Blocked(_RULE, line, "the receiver function is not seen")
        self._functions.setdefault(defined, set()).add(value)
        self._copied.append((defined, call))
        return receiver_function(tree, defined)

    def _with_spec(self, made: cst.Call) -> cst.Call:
        """The builder's call with the spec that only it reads written out."""
        tree, node = self.tree, made.args[0].value
        binding = tree.assigned(node)
        spec = None if binding is None else binding.value
        if (
            binding is None
            or not isinstance(spec, cst.Call)
            or tree.symbol(spec.func) != "tf.feature_column.make_parse_example_spec"
            or len(tree.uses(binding)) != 1
            or tree.function(binding.node) is not tree.function(made)
        ):
            return made
        self._follow(node)
        return made.with_changes(
            args=[made.args[0].with_changes(value=spec), *made.args[1:]]
        )

    def _check_names(self, node: cst.CSTNode, call: cst.Call) -> None:
        """Copied code must read the same variables where the loop stands."""
        tree = self.tree
        scopes = tree.resolver.scopes
        here = scopes.opened.get(tree.function(call) or tree.module)
        own = scopes.opened.get(node)
        for name in walk(node):
            if not isinstance(name, cst.Name) or name not in scopes.loads:
                continue
            found = tree.resolver.bindings(name)
            if any(binding.scope is own for binding in found):
                continue
            if len(found) > 1:
                reason = f"an export reads `{name.value}`, which is assigned anew"
                raise Blocked(_RULE, tree.line(name), reason)
            hidden = here is not None and name.value in here.bindings
            if hidden and all(binding.scope is not here for binding in found):
                reason = f"an export reads a global named `{name.value}`"
                raise Blocked(_RULE, tree.line(name), reason)
