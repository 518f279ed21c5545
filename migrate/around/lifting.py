"""Model functions of one file whose forward pass becomes a Keras class.

Only the definition changes: whatever stands behind the forward pass (loss, metrics,
optimizer, specifications) stays as it was written, and so does everything around the
model function. What comes out is still a program of TensorFlow 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from ..emit.module.edits import Edits
from ..emit.module.imports import imported_as
from ..emit.module.layout import fit
from ..emit.module.names import Names
from ..emit.module.spacing import with_blank_lines
from ..emit.module.template import parse_statements
from ..emit.programs.layer_class import class_statement
from ..lift.group import Understood, shares_columns, understood
from ..plan.code.reach import reachable
from ..plan.code.statements import binds, is_docstring, loads
from ..plan.code.tree import Statement, Tree, statements_of, walk
from ..plan.estimator.legacy import legacy_places
from ..plan.estimator.warm_start import BY_NAME, INIT
from ..plan.layers.lifted_helpers import finish
from ..plan.layers.lifted_names import Lifted, camel, source_text
from ..plan.layers.lifter_state import Kind, Shared
from ..plan.model_fn.forward import Forward, ForwardReader
from ..plan.model_fn.modes import Modes
from ..plan.model_fn.reader import layer_class
from ..plan.model_fn.source import Source
from ..plan.plainer.methods import without_methods
from ..plan.plainer.steps import model_fn_of
from ..plan.program import TF
from ..plan.sites import Blocked
from ..project.facts import ParsedModule, ProjectFacts
from ..project.guard import check_output
from ..project.parsing import parse
from ..project.positions import Unfaithful, code_of

__all__ = ["Lifting", "kept_because", "lifted", "lifted_together"]

# Words for the classes of the loop module, as if TensorFlow 1 had had them.
_BASES = {
    "Model": f"{TF}.estimator.KerasModel",
    "Layer": f"{TF}.estimator.KerasLayer",
}
_MOST_METHODS = 5
# Estimators whose model function the program gives.
_KNOWN = ("tf.estimator.Estimator", "tf.contrib.tpu.TPUEstimator")
_ARGUMENTS = ("features", "labels", "mode", "params", "config")
# A layer without a name, counted among those of its kind.
_NUMBERED = re.compile(r"(\w+)#\d+")
# What stays in the function as well where that reads it.
_PLAIN = (Kind.TRAINING, Kind.MODE, Kind.CONFIG, Kind.LOOP)


@dataclass
class Lifting:
    """A file with its lifted model functions, and why others are not."""

    parsed: ParsedModule
    made: list[str] = field(default_factory=list)
    # (line, reason) of a model function that stays as it is.
    left: list[tuple[int, str]] = field(default_factory=list)
    # Functions that are part of its model functions.
    entered: frozenset[cst.CSTNode] = frozenset()


def is_model_fn(node: cst.CSTNode) -> bool:
    """A function with the arguments of a model function."""
    if not isinstance(node, cst.FunctionDef):
        return False
    if not isinstance(node.body, cst.IndentedBlock):
        return False
    return {"features", "labels", "mode"} <= set(_parameters(node))


def _parameters(node: cst.FunctionDef) -> list[str]:
    given = (*node.params.params, *node.params.kwonly_params)
    return [one.name.value for one in given]


def lifted(parsed: ParsedModule, facts: ProjectFacts) -> Lifting:
    """The file with every model function lifted that can be."""
    try:
        return _lifted(parsed, facts)
    except Unfaithful:
        raise
    except Exception as problem:
        # By our fault: the functions are kept as they are.
        return Lifting(parsed, left=[(1, f"{type(problem).__name__}: {problem}")])


def lifted_together(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[Lifting]:
    """The files of a program with their model functions lifted, if all can be.

    What statements alone do not tell, an evaluation of the functions may.
    """
    if not shares_columns(files):
        # A layer of Keras for columns does not take those that share an embedding.
        found = [lifted(one, facts) for one in files]
        if kept_because(files, found) is None:
            return found
    try:
        result = understood(files, facts, is_model_fn)
        if not result.left:
            return [_understood(one, result, facts) for one in files]
        return [
            Lifting(
                file,
                left=[
                    (line, why) for path, line, why in result.left if path == file.path
                ],
            )
            for file in files
        ]
    except Unfaithful:
        raise
    except Exception as problem:
        # By our fault: the functions are kept as they are.
        told = f"{type(problem).__name__}: {problem}"
        return [Lifting(one, left=[(1, told)]) for one in files]


def _understood(
    parsed: ParsedModule, result: Understood, facts: ProjectFacts
) -> Lifting:
    path = os.path.abspath(parsed.path)
    made = result.made.get(path, [])
    if path not in result.modules:
        return Lifting(parsed, made, entered=result.entered)
    new = _again(parsed, result.modules[path], facts)
    check_output(
        parsed.source.text,
        new.source.text,
        scopes=parsed.resolver.scopes,
        cells=parsed.source.notebook is not None,
    )
    return Lifting(new, made, entered=result.entered)


def _lifted(parsed: ParsedModule, facts: ProjectFacts) -> Lifting:
    tree = _without_methods(parsed, facts)
    found = Lifting(parsed)
    edits = Edits()
    for node in walk(tree.module):
        if not isinstance(node, cst.FunctionDef) or not is_model_fn(node):
            continue
        try:
            _Definition(tree, node).lift(edits)
        except Blocked as stop:
            found.left.append((stop.blocker.line, stop.blocker.reason))
            continue
        found.made.append(node.name.value)
    if found.made:
        found.parsed = _again(parsed, edits.apply(tree.module), facts)
        check_output(
            parsed.source.text,
            found.parsed.source.text,
            scopes=parsed.resolver.scopes,
            cells=parsed.source.notebook is not None,
        )
    return found


def _again(
    parsed: ParsedModule, module: cst.Module, facts: ProjectFacts
) -> ParsedModule:
    text = code_of(module)
    return facts.module_of(replace(parsed.source, text=text, module=parse(text)))


def _without_methods(parsed: ParsedModule, facts: ProjectFacts) -> Tree:
    """The file with model functions that were methods as functions of it."""
    for _ in range(_MOST_METHODS):
        tree = Tree(parsed.module, parsed.resolver)
        module = None
        for call in legacy_places(tree).programs:
            given = model_fn_of(call)
            if given is None:
                continue
            try:
                module = without_methods(tree, given)
            except Blocked:
                continue
            if module is not None:
                break
        if module is None:
            break
        parsed = _again(parsed, module, facts)
    return tree


def kept_because(
    files: Sequence[ParsedModule], lifting: Sequence[Lifting]
) -> str | None:
    """Why not every model of a program is made of Keras layers once these are lifted.

    None if every one is.
    """
    for parsed, one in zip(files, lifting, strict=True):
        for line, reason in one.left:
            return f"{reason} ({_place(parsed, line)})"
    entered = frozenset().union(*(one.entered for one in lifting))
    for parsed in files:
        tree = Tree(parsed.module, parsed.resolver)
        for call in legacy_places(tree).programs:
            symbol = tree.symbol(call.func)
            if symbol not in _KNOWN:
                place = _place(parsed, tree.line(call))
                return f"`{symbol}` brings a model of its own ({place})"
        for call in tree.resolver.scopes.calls.values():
            symbol = tree.symbol(call.func) or ""
            if not symbol.endswith("EstimatorSpec"):
                continue
            if not any(
                is_model_fn(one) or one in entered for one in tree.ancestors(call)
            ):
                place = _place(parsed, tree.line(call))
                return f"a specification is made outside of a model_fn ({place})"
    if not any(one.made for one in lifting):
        return "no function with the arguments of a model_fn is seen"
    return None


def _place(parsed: ParsedModule, line: int) -> str:
    """Where a line is, for people: in a notebook, in which cell."""
    cell, line = parsed.source.locate(line)
    inside = f"cell {cell}:" if cell is not None else ""
    return f"{parsed.path.name}:{inside}{line}"


class _Reader(ForwardReader):
    """Finds the forward pass of which everything behind it may read."""

    by_name = True

    def reads(
        self, aside: list[Statement], behind: list[Statement], made: set[str]
    ) -> set[str]:
        """Names of ``made`` that the rest of the function reads."""
        rest = [*aside, *behind]
        return made & {name for one in rest for name in loads(self.tree, one)}


class _Definition:
    """One model function on its way to a class and what remains of it."""

    def __init__(self, tree: Tree, defined: cst.FunctionDef) -> None:
        self.tree = tree
        self.defined = defined
        self.source = Source(tree, defined)
        body = defined.body
        assert isinstance(body, cst.IndentedBlock)
        # All that the function sees, itself included.
        self.names = Names(tree, body)

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where the function cannot be lifted."""
        return self.source.stop(node, reason)

    def lift(self, edits: Edits) -> None:
        """Adds the edits that put a class in the place of the forward pass."""
        tree, defined = self.tree, self.defined
        tf = imported_as(tree.module, "tensorflow")
        body = defined.body
        assert isinstance(body, cst.IndentedBlock)
        if tf is None:
            raise self.stop(defined, "it names TensorFlow in another way")
        holder = tree.parent(defined)
        if holder is not tree.module and isinstance(
            tree.parent(holder) if holder is not None else None, cst.ClassDef
        ):
            raise self.stop(defined, "it is a method")
        statements = statements_of(body)
        head = []
        if statements and is_docstring(statements[0]):
            head, statements = statements[:1], statements[1:]
        self._check_effects()
        forward = self._forward(statements)
        rest, place = self._rest(statements, forward)
        outputs = self._outputs(forward, rest)
        shared = forward.lifter.shared
        self._check_helpers(shared)
        self._check_names(shared)
        model, helpers = self._model(forward, outputs), list(shared.helpers.values())

        def text(code: str) -> str:
            return code.replace(TF, tf)

        indent = self._indent()
        made = class_statement(layer_class(model), text, _BASES)
        call = self._call(model, outputs, tf)
        lines = [*head, *rest[:place], *call, *rest[place:]]
        after = defined.with_changes(body=body.with_changes(body=lines))
        edits.replace[defined] = [
            *fit(tree.module, [made], indent),
            with_blank_lines(after, 2 if holder is tree.module else 1),
        ]
        for helper in helpers:
            assert helper.definition is not None
            one = class_statement(layer_class(helper), text, _BASES)
            edits.replace[helper.definition] = fit(tree.module, [one], 0)

    def _indent(self) -> int:
        step = len(self.tree.module.default_indent.expandtabs(8))
        blocks = [
            one
            for one in self.tree.ancestors(self.defined)
            if isinstance(one, cst.IndentedBlock)
        ]
        return step * len(blocks)

    def _check_effects(self) -> None:
        """What looks variables up by name finds those of TensorFlow 1's store only."""
        for node in reachable(self.tree, [self.defined.body]):
            symbol = self.tree.symbol(node.func) if isinstance(node, cst.Call) else None
            if symbol in INIT:
                raise self.stop(node, BY_NAME)

    # -- the forward pass

    def _forward(self, statements: Sequence[Statement]) -> Forward:
        kinds = {
            "features": Kind.TENSOR,
            "labels": Kind.TENSOR,
            "params": Kind.CONFIG,
        }
        names = _parameters(self.defined)
        strange = set(names) - set(_ARGUMENTS)
        if strange:
            raise self.stop(self.defined, f"it takes `{min(strange)}`")
        modes = Modes(self.source)
        reader = _Reader(
            self.source,
            modes,
            {name: kinds.get(name, Kind.MODE) for name in names},
            True,
            (),
        )
        found = reader.read(statements)
        shared = found.lifter.shared
        if shared.dropped_summaries:
            # They would be written no more.
            raise self.stop(shared.dropped_summaries[0], "summaries between layers")
        return found

    # -- what remains

    def _rest(
        self, statements: Sequence[Statement], forward: Forward
    ) -> tuple[list[Statement], int]:
        """What stays in the function, and where among it the model is called."""
        stays = {id(one) for one in (*forward.aside, *forward.behind)}
        stays |= {id(one) for one in statements if self._stays_whole(one, stays)}
        kinds = forward.lifter.kinds
        while True:
            read = {
                name
                for one in statements
                if id(one) in stays
                for name in loads(self.tree, one)
            }
            more = [
                one
                for one in statements
                if id(one) not in stays
                and (bound := binds(one)) & read
                and all(kinds.get(name) in _PLAIN for name in bound)
            ]
            if not more:
                break
            stays |= {id(one) for one in more}
        gone = [n for n, one in enumerate(statements) if id(one) not in stays]
        if not gone:
            raise self.stop(self.defined, "no layers of tf.layers are seen")
        for number, one in enumerate(statements):
            if id(one) in stays:
                self._check_place(number, statements, stays)
        place = sum(id(one) in stays for one in statements[: gone[0]])
        return [one for one in statements if id(one) in stays], place

    def _stays_whole(self, statement: Statement, stays: set[int]) -> bool:
        """A scope of which everything stays; one that falls apart is not lifted."""
        if id(statement) in stays or not isinstance(statement, cst.With):
            return False
        body = statement.body
        inner = statements_of(body) if isinstance(body, cst.IndentedBlock) else []
        kept = [id(one) in stays or self._stays_whole(one, stays) for one in inner]
        if any(kept) and not all(kept):
            raise self.stop(statement, "one scope holds layers and what follows them")
        return bool(kept) and all(kept)

    def _check_place(
        self, number: int, statements: Sequence[Statement], stays: set[int]
    ) -> None:
        """What remains means the same before, between and behind the layers."""
        here = statements[number]
        before, after = [
            {n for one in part if id(one) not in stays for n in binds(one)}
            for part in (statements[:number], statements[number + 1 :])
        ]
        changed = loads(self.tree, here) & before & after
        if changed:
            reason = f"`{min(changed)}` changes before the loss is made"
            raise self.stop(here, reason)

    def _outputs(self, forward: Forward, rest: Sequence[Statement]) -> list[str]:
        """What the model returns, in the order in which it is last made."""
        read = {name for one in rest for name in loads(self.tree, one)}
        kinds = forward.lifter.kinds
        for name in sorted(read):
            if kinds.get(name) in (Kind.OBJECT, Kind.CELL, Kind.SIZE):
                reason = f"`{name}` of the layers is used behind the forward pass"
                raise self.stop(self.defined, reason)
        made = [n for n in dict.fromkeys(reversed(forward.order)) if n in read]
        made = [n for n in reversed(made) if kinds.get(n) in (None, Kind.TENSOR)]
        if not made or "features" in made:
            raise self.stop(self.defined, "the loss does not follow from the layers")
        if set(made) & {"labels", "mode", "params"}:
            raise self.stop(self.defined, "an argument is assigned anew")
        return made

    def _call(self, model: Lifted, outputs: list[str], tf: str) -> list[Statement]:
        name = self.names.fresh("model")
        given = ", ".join(model.parameters)
        flag = f", training=mode == {tf}.estimator.ModeKeys.TRAIN"
        flag = flag if model.training else ""
        code = f"{name} = {model.name}({given})\n"
        code += f"{', '.join(outputs)} = {name}(features{flag})\n"
        return parse_statements(code)

    # -- classes

    def _model(self, forward: Forward, outputs: list[str]) -> Lifted:
        lifter = forward.lifter
        reads = lifter.init_reads | lifter.call_reads
        for statement in lifter.config:
            if binds(statement) & reads:
                reads |= loads(self.tree, statement)
        code = [source_text(one) for one in forward.call]
        wanted = camel(self.defined.name.value)
        wanted += "" if wanted.endswith("Model") else "Model"
        return finish(
            lifter,
            name=self.names.fresh(wanted),
            base="Model",
            docstring=None,
            parameters=("params",) if "params" in reads else (),
            arguments=("features",),
            call=(*code, f"return {', '.join(outputs)}\n"),
        )

    def _check_helpers(self, shared: Shared) -> None:
        """A function that becomes a layer must not be used in another way."""
        for definition in shared.helpers:
            if not isinstance(definition, cst.FunctionDef):
                raise self.stop(definition, "layers in a class of the program's own")
            calls = [
                call
                for call in shared.lifted_calls
                if self.tree.resolver.definition(call.func) is definition
            ]
            if len(self.tree.loads_of(definition)) != len(calls):
                shown = definition.name.value
                reason = f"`{shown}` makes layers and is used elsewhere too"
                raise self.stop(definition, reason)

    def _check_names(self, shared: Shared) -> None:
        """Keras has to name variables as TensorFlow 1 did: checkpoints go by names."""
        if shared.cells:
            raise self.stop(
                self.defined, "variables of its cells have other names in Keras"
            )
        for made in shared.placed:
            if not _named_alike(made.symbol, made.place, made.constructor):
                shown = made.symbol or "a recurrent layer"
                reason = f"variables of `{shown}` have other names in Keras"
                raise self.stop(made.node, reason)


def _named_alike(symbol: str, place: str, constructor: str) -> bool:
    """Whether a layer of Keras gives its variables the names of TensorFlow 1."""
    if not symbol:
        return True  # A layer of layers, or a variable: it has its own name.
    if not symbol.startswith("tf.layers."):
        return False
    numbered = _NUMBERED.fullmatch(place)
    if numbered is None or "name=" in constructor:
        return "name=" in constructor
    kind = constructor.partition("(")[0].rpartition(".")[2]
    return numbered[1] == re.sub(r"([a-z])([A-Z])", r"\1_\2", kind).lower()
