"""Hooks that a specification brings along, which become callbacks of the Task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.tree import Statement, only_small, walk
from ...model.definitions import method_of
from ...project.facts import Definition
from . import tidy
from .hooks import BASES, FETCHES, LOGGING, WORDS, of_self
from .slices import Mode, is_step

if TYPE_CHECKING:
    from .task import Maker

_SAVING = (
    *("save_steps", "save_secs", "output_dir", "summary_writer", "scaffold"),
    "summary_op",
)
_UNWRITTEN = re.compile(r"save_summary_steps\s*=\s*(None|0)\b")
_WRITTEN = (
    "a SummarySaverHook wrote all summaries once more: they are in `model_dir` alone, "
    "every `save_summary_steps` of the RunConfig"
)
# What a specification calls its hooks, and the mode that runs them.
_FIELDS = {
    "training_hooks": "TRAIN",
    "training_chief_hooks": "TRAIN",
    "evaluation_hooks": "EVAL",
    "prediction_hooks": "PREDICT",
}


@dataclass
class SpecHooks:
    """The hooks of a specification, and the tensors that they look at, by name."""

    hooks: list[cst.Call] = field(default_factory=list)
    tensors: dict[str, cst.BaseExpression] = field(default_factory=dict)
    # Arguments of the hooks, and the names of values that take their places.
    replaced: dict[cst.BaseExpression, str] = field(default_factory=dict)


def read_hooks(maker: Maker) -> SpecHooks:
    """The hooks of all modes, or Refused."""
    found = SpecHooks()
    for mode in maker.modes.values():
        assert mode.spec is not None
        for name, runs in _FIELDS.items():
            given = mode.spec.get(name)
            if given is None or runs != mode.found.mode:
                continue
            reader = _Reader(maker, mode, found)
            for node in reader.listed(given.node, name):
                if mode is not maker.train:
                    raise maker.stop(node, f"EstimatorSpec(`{name}`=)")
                reader.read(node, name)
    return found


def is_own_hook(hook: Definition) -> bool:
    """A class of the program that is a SessionRunHook itself."""
    return isinstance(hook.node, cst.ClassDef) and any(
        hook.module.resolver.resolve(base.value) in BASES for base in hook.node.bases
    )


def tensors_asked(hook: Definition, constructor: cst.FunctionDef) -> set[str]:
    """Parameters that a hook keeps to fetch them, and for nothing else."""
    asked = {
        of_self(node)
        for call in walk(hook.node, cst.Call)
        if hook.module.resolver.resolve(call.func) in FETCHES
        for node in walk(call)
    }
    kept = {
        assign.value.value: of_self(assign.targets[0].target)
        for assign in walk(constructor.body, cst.Assign)
        if isinstance(assign.value, cst.Name)
    }
    reads = Counter(of_self(node) for node in walk(hook.node, cst.Attribute))
    return {
        name
        for name, attribute in kept.items()
        if attribute in asked - {None} and reads[attribute] == 2
    }


class _Reader:
    def __init__(self, maker: Maker, mode: Mode, found: SpecHooks) -> None:
        self.maker = maker
        self.mode = mode
        self.found = found

    def listed(self, node: cst.BaseExpression, name: str) -> Iterator[cst.Call]:
        """The calls that make the hooks of a list."""
        source = self.mode.source_of(node)
        if isinstance(source, cst.Name):
            node, source = source, self.maker.tree.value(source) or source
        if not isinstance(source, (cst.List, cst.Tuple)):
            raise self.maker.stop(node, f"EstimatorSpec(`{name}`=)")
        listed = [one.value for one in source.elements]
        for one in [*listed, *self._appended(node, name)]:
            made = self.mode.source_of(one)
            if not isinstance(made, cst.Call):
                raise self.maker.stop(one, f"EstimatorSpec(`{name}`=)")
            yield made

    def _appended(
        self, node: cst.BaseExpression, name: str
    ) -> Iterator[cst.BaseExpression]:
        """What ``hooks.append(hook)`` puts into a list, in the statements of the mode.

        One in a branch that the mode does not decide is nobody's: Refused.
        """
        tree = self.maker.tree
        if not isinstance(node, cst.Name):
            return
        made = {tree.statement(one.node) for one in tree.resolver.bindings(node)}
        for load in tree.loads(node.value):
            statement = tree.statement(load)
            small = only_small(statement)
            call = small.value if isinstance(small, cst.Expr) else None
            if load is node or tree.function(load) is not self.mode.defined:
                continue
            appends = (
                isinstance(call, cst.Call)
                and tree.code(call.func) == f"{node.value}.append"
                and len(call.args) == 1
            )
            if isinstance(call, cst.Call) and appends and statement in self.mode.taken:
                self.maker.parts.used.update({statement, *made})
                yield call.args[0].value
            elif not appends or self._may_run(statement):
                raise self.maker.stop(load, f"EstimatorSpec(`{name}`=)")

    def _may_run(self, statement: Statement) -> bool:
        """Whether a statement stands in one that the mode keeps whole."""
        above = self.maker.tree.ancestors(statement)
        return any(one in self.mode.taken for one in above)

    def read(self, call: cst.Call, name: str) -> None:
        """Takes a hook, and what it looks at."""
        symbol = self.maker.tree.symbol(call.func) or ""
        if symbol.endswith(".SummarySaverHook") and self._writes_all(call):
            self.maker.parts.used.update(self._statements(call))
            self.maker.parts.notes.append(_WRITTEN)
            return
        own = self.maker.facts.definition(call.func, self.maker.parsed)
        if own is not None and is_own_hook(own):
            self._own(call, own)
        elif symbol not in WORDS:
            shown = self.maker.tree.code(call.func)
            raise self.maker.stop(call, f"EstimatorSpec(`{name}`=) has `{shown}`")
        self.found.hooks.append(call)
        self.maker.parts.used.update(self._statements(call))
        kind = symbol.rpartition(".")[2]
        if kind == "NanTensorHook":
            self._nan(call)
        if kind == "LoggingTensorHook":
            self._logged(call)

    def _writes_all(self, call: cst.Call) -> bool:
        """The hook writes what the Trainer writes, too."""
        if _UNWRITTEN.search(self.maker.tree.text):
            return False
        op = self._given(call, _SAVING).get("summary_op")
        made = self.mode.source_of(op) if op is not None else None
        if not isinstance(made, cst.Call):
            return False
        self.maker.parts.used.update(self._statements(made))
        return self.maker.tree.symbol(made.func) == "tf.summary.merge_all"

    def _statements(self, call: cst.Call) -> Iterator[Statement]:
        if self.maker.tree.holds(call):
            yield self.maker.tree.statement(call)

    def _own(self, call: cst.Call, hook: Definition) -> None:
        """Gives a hook of the program names where it was given tensors."""
        assert isinstance(hook.node, cst.ClassDef)
        constructor = method_of(hook.node, "__init__")
        if constructor is None or not call.args:
            return
        names = [one.name.value for one in constructor.params.params[1:]]
        given = self._given(call, tuple(names))
        for name in tensors_asked(hook, constructor).intersection(given):
            value = self.mode.found.notes.values.get(given[name])
            if value is not None and is_step(value):
                raise self.maker.stop(call, "a hook is given the step: let it ask")
            told = self._name(name, given[name])
            self.found.replaced[given[name]] = (
                f"{self.maker.quote}{told}{self.maker.quote}"
            )

    def _nan(self, call: cst.Call) -> None:
        given = self._given(call, ("loss_tensor", "fail_on_nan_loss"))
        if not self._is_loss(given["loss_tensor"]):
            raise self.maker.stop(call, "a NanTensorHook of something else")
        self.found.replaced[given["loss_tensor"]] = '"loss"'

    def _logged(self, call: cst.Call) -> None:
        given = self._given(call, LOGGING)
        tensors = self.mode.source_of(given["tensors"])
        names: dict[str, str] = {}
        if isinstance(tensors, cst.Dict):
            for one in tensors.elements:
                key = one.key if isinstance(one, cst.DictElement) else None
                label = key.evaluated_value if isinstance(key, cst.SimpleString) else ""
                if not isinstance(label, str) or not label:
                    raise self.maker.stop(call, "it is not seen what a hook logs")
                names[label] = self._name(label, one.value)
        elif isinstance(tensors, (cst.List, cst.Tuple)):
            for item in tensors.elements:
                if not isinstance(item.value, cst.SimpleString):
                    raise self.maker.stop(call, "a hook logs tensors without names")
                label = str(item.value.evaluated_value)
                names[label] = label
        else:
            raise self.maker.stop(call, "it is not seen what a hook logs")
        quote = self.maker.quote
        texts = [f"{quote}{name}{quote}" for name in names.values()]
        around = "[]"
        if list(names) != list(names.values()):
            around = "{}"
            pairs = zip(names, texts, strict=True)
            texts = [f"{quote}{label}{quote}: {text}" for label, text in pairs]
        self.found.replaced[given["tensors"]] = tidy.held(around, texts, 16)

    def _given(
        self, call: cst.Call, parameters: tuple[str, ...]
    ) -> dict[str, cst.BaseExpression]:
        try:
            return match_arguments(call, parameters)
        except UnknownArguments as problem:
            shown = self.maker.tree.code(call.func)
            raise self.maker.stop(call, f"`{shown}` with {problem}") from None

    def _is_loss(self, node: cst.BaseExpression) -> bool:
        assert self.mode.spec is not None
        loss = self.mode.spec.get("loss")
        value = self.mode.found.notes.values.get(node)
        return loss is not None and value is loss.value

    def _name(self, label: str, node: cst.BaseExpression) -> str:
        """The name under which callbacks see a tensor."""
        if isinstance(node, cst.SimpleString):
            return str(node.evaluated_value).removesuffix(":0")
        if self._is_loss(node):
            return "loss"
        value = self.mode.found.notes.values.get(node)
        if value is not None and is_step(value):
            return "global_step"
        name = label if label not in ("loss", "global_step") else f"{label}_value"
        code = self.maker.tree.code
        other = self.found.tensors.setdefault(name, node)
        if code(other) != code(node):
            raise self.maker.stop(node, f"several hooks look at a `{label}`")
        return name
