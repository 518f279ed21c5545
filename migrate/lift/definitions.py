"""A group's model functions on their way to Keras classes, in whatever file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import libcst as cst

from ..emit.module.layout import fit
from ..emit.module.names import Names
from ..emit.module.spacing import with_blank_lines
from ..emit.module.template import parse_statements
from ..emit.programs.layer_class import class_statement
from ..interp.evaluator import Event, evaluated
from ..interp.notes import Notes
from ..interp.values import Function, Time
from ..plan.code.statements import binds, is_docstring
from ..plan.code.tree import Statement, Tree, statements_of, walk
from ..plan.estimator.warm_start import BY_NAME, INIT
from ..plan.layers.lifted_names import camel, source_text
from ..plan.program import TF, LayerClass
from ..plan.sites import Blocked
from ..project.facts import ParsedModule, ProjectFacts
from ..project.parsing import parse
from ..project.positions import code_of
from .bodies import Body, Helper, Taken
from .files import File, import_text, imported, tensorflow_of
from .flow import blocks, surely_bound, without_blocks
from .proof import difference
from .spelling import parameter

__all__ = ["Understood", "understood"]

# Words for the classes of the loop module, as if TensorFlow 1 had had them.
_BASES = {
    "Model": f"{TF}.estimator.ScopedModel",
    "Layer": f"{TF}.estimator.ScopedLayer",
}
# What belongs behind the forward pass, whatever makes layers after it.
_BEHIND = (
    "tf.estimator.",
    "tf.train.",
    "tf.metrics.",
    "tf.gradients",
    "tf.contrib.tpu.",
)
_NOT_BEHIND = ("tf.estimator.ModeKeys", "tf.train.get_global_step")


class Group:
    """The model functions of some files, lifted together."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.facts = facts
        self.files = {
            os.path.abspath(one.path): File(one, Tree(one.module, one.resolver))
            for one in files
        }
        self.helpers: dict[cst.CSTNode, Helper] = {}
        self.definitions: list[_Definition] = []
        # Calls of each helper that were lifted.
        self.called: dict[cst.CSTNode, list[cst.Call]] = {}
        # Functions that the model functions call.
        self.entered: set[cst.CSTNode] = set()

    def lift(self, parsed: ParsedModule, defined: cst.FunctionDef) -> None:
        """Adds the edits for one model function, or raises Blocked."""
        definition = _Definition(
            self, self.files[os.path.abspath(parsed.path)], defined
        )
        definition.lift()
        self.definitions.append(definition)

    def finish(self) -> dict[str, cst.Module]:
        """The modules that change, by their paths."""
        for node, helper in self.helpers.items():
            self._keep(node, helper)
        for file in self.files.values():
            for statement, names in file.imports.items():
                file.edits.nodes[statement] = imported(file, statement, names)
        return {
            path: file.edits.apply(file.parsed.module)
            for path, file in self.files.items()
            if file.edits._touched()
        }

    def unlike(self, modules: dict[str, cst.Module]) -> list[tuple[Path, int, str]]:
        """Model functions that would not make the same variables, and why."""
        files: dict[str, ParsedModule] = {}
        for path, file in self.files.items():
            files[path] = file.parsed
            if path in modules:
                text = code_of(modules[path])
                source = replace(file.parsed.source, text=text, module=parse(text))
                files[path] = self.facts.module_of(source)
        found: list[tuple[Path, int, str]] = []
        for one in self.definitions:
            parsed = files[os.path.abspath(one.file.parsed.path)]
            name = one.defined.name.value
            why = difference(one.events, list(files.values()), parsed, name, self.facts)
            if why is not None:
                line = one.tree.line(one.defined)
                found.append((one.file.parsed.path, line, f"model_fn: {why}"))
        return found

    def _keep(self, node: cst.CSTNode, helper: Helper) -> None:
        """Leaves a function where it is used in another way too."""
        assert isinstance(node, cst.FunctionDef)
        file = self.file_of(helper.function.module)
        assert file is not None
        calls = self.called[node]
        name = node.name.value
        used = len(file.tree.loads_of(node)) - sum(
            1 for one in calls if one in file.tree._parents
        )
        words = re.compile(rf"\b{name}\b")
        for path in self.facts.importers(file.parsed.path):
            other = self.files.get(os.path.abspath(path))
            if other is not None:
                lifted = sum(1 for one in calls if one in other.tree._parents)
                used += len(words.findall(other.tree.text)) - lifted
                used -= sum(
                    len(words.findall(import_text(one))) for one in other.imports
                )
            else:
                used += len(words.findall(path.read_text("utf-8", "replace")))
        if used > 0:
            file.edits.replace[node] = [
                with_blank_lines(node, 0),
                *file.edits.replace[node],
            ]

    def file_of(self, module: ParsedModule) -> File | None:
        """The group's file of a module."""
        return self.files.get(os.path.abspath(module.path))


class _Definition:
    """One model function."""

    def __init__(self, group: Group, file: File, defined: cst.FunctionDef) -> None:
        self.group = group
        self.file = file
        self.tree = file.tree
        self.defined = defined
        self.notes = Notes()
        self.events: list[Event] = []
        # Variables that hold its models.
        self.named: set[str] = set()

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where the function cannot be lifted."""
        return Blocked("TFM103", self.tree.line(node), f"model_fn: {reason}")

    def lift(self) -> None:
        """Adds the edits for it and for its helpers."""
        evaluator = evaluated(
            self.group.facts,
            [one.parsed for one in self.group.files.values()],
            self.file.parsed,
            self.defined,
        )
        self.notes = evaluator.notes
        self.events = evaluator.events
        self.group.entered |= set(self.notes.parameters)
        for unknown in self.notes.unknown.values():
            raise self._stop_in(unknown.module, unknown.node, unknown.reason)
        self._check_effects()
        if not self.notes.made:
            if not self.notes.keras:
                raise self.stop(self.defined, "no layers are seen")
            # Its layers are of Keras already.
            self.file.made.append(self.defined.name.value)
            return
        if self.notes.initialized and any(
            one.kind != "variable" for one in self.notes.made.values()
        ):
            call = self.notes.initialized[0]
            raise self._stop_in(
                call.env.module, call.node, "a variable_scope with `initializer=`"
            )
        if self.notes.keras:
            node = self.notes.keras[0].node
            raise self._stop_in(
                self.notes.keras[0].env.module, node, "layers of Keras among others"
            )
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        runs = list(self._runs(body))
        for block, first, last in runs:
            self._region(block, first, last)
        self.file.made.append(self.defined.name.value)

    def _stop_in(self, module: ParsedModule, node: cst.CSTNode, reason: str) -> Blocked:
        """The same for a node of any file."""
        if module.path == self.file.parsed.path:
            return self.stop(node, reason)
        tree = Tree(module.module, module.resolver)
        where = f"{module.path.name}:{tree.line(node)}"
        return self.stop(self.defined, f"{reason} ({where})")

    def _check_effects(self) -> None:
        for node in walk(self.defined.body):
            if isinstance(node, cst.Call) and self.tree.symbol(node.func) in INIT:
                raise self.stop(node, BY_NAME)

    # -- where the layers are

    def _is_behind(self, statement: Statement) -> bool:
        """It cannot be part of a forward pass."""
        for node in walk(statement):
            if isinstance(node, (cst.Return, cst.Yield)):
                return True
            if isinstance(node, cst.Call):
                symbol = self.tree.symbol(node.func) or ""
                if symbol.startswith(_BEHIND) and not symbol.startswith(_NOT_BEHIND):
                    return True
        return False

    def _runs(
        self, block: cst.IndentedBlock
    ) -> Iterator[tuple[cst.IndentedBlock, int, int]]:
        """Stretches of statements with layers, each to become one class."""
        statements = statements_of(block)
        first: int | None = None
        last = 0
        for number, statement in enumerate(statements):
            behind = self._is_behind(statement)
            if not self.notes.makes(statement):
                if behind and first is not None:
                    yield block, first, last
                    first = None
                continue
            if not behind:
                first = number if first is None else first
                last = number
                continue
            if first is not None:
                yield block, first, last
                first = None
            inner = list(blocks(statement))
            if not inner or self.notes.makes(without_blocks(statement)):
                raise self.stop(statement, "layers in a statement that returns")
            for one in inner:
                yield from self._runs(one)
        if first is not None:
            yield block, first, last

    def _region(self, block: cst.IndentedBlock, first: int, last: int) -> None:
        tree, file = self.tree, self.file
        every = statements_of(block)
        region = every[first : last + 1]
        scope = tree.resolver.scopes.opened[self.defined]
        inside = {n for s in region for n in binds(s)}
        if "self" in inside:
            raise self.stop(region[0], "layers change attributes of `self`")
        outside = set(scope.bindings) - inside
        outside |= {one for one in inside if self._bound_before(one, region[0])}
        body = self._body(self.defined, region, outside, file)
        behind = self._read_behind(region)
        hoisted = [s for s in region if self._is_hoisted(body, s, behind)]
        if hoisted:
            region = [s for s in region if s not in hoisted]
            outside |= {n for s in hoisted for n in binds(s)}
            body = self._body(self.defined, region, outside, file)
        outputs = [
            n
            for n in body._ordered({n for s in region for n in binds(s)})
            if n in behind
        ]
        sure = surely_bound(region)
        for name in outputs:
            if name not in body.late:
                raise self.stop(region[0], f"`{name}` is read behind the layers")
            if name not in sure | outside:
                raise self.stop(region[0], f"`{name}` is made in one branch only")
        if not outputs:
            raise self.stop(region[-1], "nothing of the layers is used behind them")
        taken = body.take()
        # What may keep the value that it had before.
        given = [*taken.graph, *(n for n in outputs if n not in sure)]
        # Labels are not there in every mode: they are no first argument.
        graph = sorted(
            dict.fromkeys(given),
            key=lambda n: (body._outer_time(n) is not Time.GRAPH, n == "labels"),
        )
        if not graph:
            raise self.stop(region[0], "layers without an input")
        wanted = camel(self.defined.name.value if not self.named else outputs[-1])
        wanted += "" if wanted.endswith("Model") else "Model"
        names = Names(tree, self.defined.body)  # type: ignore[arg-type]
        names.reserve(*file.taken, *self.named)
        name = names.fresh(wanted)
        model = names.fresh("model" if not self.named else f"{outputs[-1]}_model")
        file.taken |= {name}
        self.named |= {model}
        returned = cst.parse_statement(f"return {', '.join(outputs)}\n")
        docstring = '"""The layers of the model function."""\n'
        made = self._class(file, name, "Model", taken, graph, {}, [returned], docstring)
        setup = ", ".join(taken.setup)
        code = f"{model} = {name}({setup})\n"
        code += f"{', '.join(outputs)} = {model}({', '.join(graph)})\n"
        call = parse_statements(code)
        holder = self._holder()
        lines = 2 if tree.parent(holder) is tree.module else 1
        before = file.edits.before.setdefault(holder, [])
        before.append(with_blank_lines(made, lines if before else 0))
        file.edits.spaced.add(holder)
        file.edits.nodes[holder] = lambda node: with_blank_lines(
            cast("Statement", node), lines
        )
        rest = [one for one in every[first : last + 1] if one not in hoisted]
        for one in rest:
            file.edits.replace[one] = []
        if hoisted and every.index(hoisted[-1]) > every.index(rest[-1]):
            raise self.stop(hoisted[-1], "a value behind the layers")
        file.edits.replace[rest[-1]] = call

    def _holder(self) -> cst.FunctionDef | cst.ClassDef:
        """The definition before which the class stands."""
        holder: cst.FunctionDef | cst.ClassDef = self.defined
        for one in self.tree.ancestors(self.defined):
            if isinstance(one, cst.ClassDef):
                holder = one
        return holder

    def _bound_before(self, name: str, first: Statement) -> bool:
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        parameters = [*self.defined.params.params, *self.defined.params.kwonly_params]
        if name in {one.name.value for one in parameters}:
            return True
        line = self.tree.line(first)
        return any(
            name in binds(one) and self.tree.line(one) < line
            for one in walk(body)
            if isinstance(one, cst.SimpleStatementLine)
        )

    def _read_behind(self, region: Sequence[Statement]) -> set[str]:
        """Names of the function that other statements read after these."""
        inside = {node for one in region for node in walk(one)}
        end = self.tree.end_line(region[-1])
        scopes = self.tree.resolver.scopes
        scope = scopes.opened[self.defined]
        return {
            node.value
            for node in walk(self.defined.body)
            if isinstance(node, cst.Name)
            and node in scopes.loads
            and node not in inside
            and self.tree.line(node) >= end
            and any(b.scope is scope for b in self.tree.resolver.bindings(node))
            and not self._is_of_loop(node, inside)
        }

    def _is_of_loop(self, node: cst.Name, inside: set[cst.CSTNode]) -> bool:
        """A name that a loop behind the layers binds anew, read within it."""
        before: cst.CSTNode = node
        for one in self.tree.ancestors(node):
            if isinstance(one, cst.For) and one not in inside and before is one.body:
                targets = {n.value for n in walk(one.target) if isinstance(n, cst.Name)}
                if node.value in targets:
                    return True
            before = one
        return False

    def _is_hoisted(self, body: Body, statement: Statement, behind: set[str]) -> bool:
        """Plain values, which stay in the function before the layers."""
        names = binds(statement)
        if not names or self.notes.makes(statement) or names & body.late:
            return False
        if body.reads(statement) & body.late or isinstance(
            statement, (cst.FunctionDef, cst.ClassDef)
        ):
            return False
        scope = self.tree.resolver.scopes.opened[self.defined]
        return all(len(scope.bindings.get(name, ())) == 1 for name in names)

    # -- classes

    def _body(
        self,
        defined: cst.FunctionDef,
        statements: Sequence[Statement],
        outside: set[str],
        file: File,
    ) -> Body:
        def helper(call: cst.Call, function: Function) -> Helper:
            return self._helper(call, function, file)

        def class_of(call: cst.Call, made: Helper) -> str:
            return self._class_of(call, made, file)

        return Body(
            file.tree, defined, statements, self.notes, outside, helper, class_of
        )

    def _helper(self, call: cst.Call, function: Function, file: File) -> Helper:
        """The class of a function that makes layers."""
        node = function.node
        group = self.group

        def stop(reason: str) -> Blocked:
            return self._stop_in(file.parsed, call, reason)

        if not isinstance(node, cst.FunctionDef) or function.owner is not None:
            raise stop("layers in a method or lambda")
        if function.args or function.keywords:
            raise stop("layers in a partial function")
        own = group.file_of(function.module)
        if own is None:
            raise stop(f"layers in {function.module.path.name}, which stays as it is")
        if self.tree.resolver is own.tree.resolver and any(
            one is self.defined for one in self.tree.ancestors(node)
        ):
            raise stop(
                f"`{node.name.value}` is a function inside of the model function"
            )
        group.called.setdefault(node, []).append(call)
        known = group.helpers.get(node)
        if known is not None:
            return known
        names = {p.name.value: p for p in node.params.params}
        if (
            node.params.kwonly_params
            or isinstance(node.params.star_arg, cst.Param)
            or node.params.star_kwarg is not None
        ):
            raise stop("layers in a function with `*` arguments")
        if not isinstance(node.body, cst.IndentedBlock):
            raise stop("several statements on one line")
        body = self._body(node, statements_of(node.body), set(names), own)
        taken = body.take()
        graph = [n for n in names if n in taken.graph]
        graph = sorted(
            graph,
            key=lambda n: (
                names[n].default is not None,
                body._outer_time(n) is not Time.GRAPH,
            ),
        )
        if not graph or body._outer_time(graph[0]) is not Time.GRAPH:
            raise stop(f"`{node.name.value}` makes layers without an input")
        found = Helper(function, "", tuple(n for n in names if n in taken.setup))
        found.graph = tuple(graph)
        wanted = camel(node.name.value)
        taker = Names(own.tree, own.tree.module)
        taker.reserve(*own.taken, *self.file.taken)
        found.name = taker.fresh(wanted)
        own.taken.add(found.name)
        defaults = {
            name: source_text(one.default)
            for name, one in names.items()
            if one.default is not None
        }
        first = statements_of(node.body)[0]
        docstring = source_text(first) if is_docstring(first) else None
        made = self._class(
            own, found.name, "Layer", taken, graph, defaults, [], docstring
        )
        own.edits.replace[node] = [made]
        group.helpers[node] = found
        return found

    def _class_of(self, call: cst.Call, helper: Helper, file: File) -> str:
        """What a call says to name the class."""
        function = helper.function.node
        assert isinstance(function, cst.FunctionDef)
        func = call.func
        if isinstance(func, cst.Name):
            found = file.tree.resolver.bindings(func)
            if file.tree.resolver.definition(func) is function:
                return helper.name
            if len(found) == 1 and isinstance(found[0].node, cst.ImportFrom):
                names = file.imports.setdefault(found[0].node, {})
                names[func.value] = helper.name
                return helper.name
        elif isinstance(func, cst.Attribute) and func.attr.value == function.name.value:
            return f"{source_text(func.value)}.{helper.name}"
        raise self._stop_in(file.parsed, call, "layers of a function by another name")

    def _class(
        self,
        file: File,
        name: str,
        base: str,
        taken: Taken,
        graph: Sequence[str],
        defaults: dict[str, str],
        more: list[Statement],
        docstring: str | None,
    ) -> Statement:
        tf = tensorflow_of(file)
        if tf is None:
            raise self._stop_in(
                file.parsed, file.tree.module.body[0], "a file without TensorFlow"
            )

        def text(code: str) -> str:
            return code.replace(TF, tf)

        def shown(one: str) -> str:
            name = parameter(one)
            return f"{name}={defaults[one]}" if one in defaults else name

        setup = sorted(taken.setup, key=lambda one: one in defaults)
        code = [source_text(one) for one in (*taken.call, *more)]
        plan = LayerClass(
            name=name,
            base=base,
            docstring=docstring,
            parameters=tuple(map(shown, setup)),
            arguments=tuple(map(shown, graph)),
            init=tuple(taken.init),
            call=tuple(code),
            training=False,
            fields=(),
            methods=(),
        )
        made = class_statement(
            replace(plan, base="Layer"), text, {"Layer": _BASES[base]}
        )
        (found,) = fit(file.tree.module, [made], 0)
        return found


@dataclass
class Understood:
    """What became of a program's model functions: all of them are lifted, or none."""

    # Modules that change, and the model functions that each file has, by its path.
    modules: dict[str, cst.Module] = field(default_factory=dict)
    made: dict[str, list[str]] = field(default_factory=dict)
    # (file, line, reason) of what is not understood.
    left: list[tuple[Path, int, str]] = field(default_factory=list)
    # Functions that the model functions call.
    entered: frozenset[cst.CSTNode] = frozenset()


def understood(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> Understood:
    """Lifts the model functions of a program by evaluating them."""
    group = Group(files, facts)
    found = Understood()
    for parsed in files:
        for node in walk(parsed.module):
            if not isinstance(node, cst.FunctionDef) or not is_model_fn(node):
                continue
            try:
                group.lift(parsed, node)
            except Blocked as stop:
                blocker = stop.blocker
                found.left.append((parsed.path, blocker.line, blocker.reason))
    if not found.left:
        found.modules = group.finish()
        found.left = group.unlike(found.modules)
    if found.left:
        found.modules = {}
    else:
        found.made = {path: one.made for path, one in group.files.items()}
        found.entered = frozenset(group.entered)
    return found
