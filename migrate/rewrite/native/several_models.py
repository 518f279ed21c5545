"""Several Keras models that a model function makes and calls become one of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import libcst as cst

from ...code.edits import Put, changed
from ...code.names import fresh
from ...code.statements import assigned, binds
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from .named_models import makes_model
from .task import alias_of

_TRAIN = "ModeKeys.TRAIN"
_UPDATES = re.compile(r"(\w+)\.(?:get_updates_for|updates)\b")


def with_models_in_one(
    parsed: ParsedModule,
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> ParsedModule:
    """The file with a model that holds and calls those of a model function.

    ``code = encoder(x)`` and ``rebuilt = decoder(code)`` are its `call`; where they are
    asked for variables or losses, they are attributes of it.
    """
    for defined in parsed.each(cst.FunctionDef):
        if is_model_fn(defined):
            tree = Tree(parsed.module, parsed.resolver)
            found = _Models(tree, defined, parsed, facts).edits()
            if found:
                return changed(parsed, facts, found)
    return parsed


class _Models:
    """The models of one function, and the statements between their calls."""

    def __init__(
        self,
        tree: Tree,
        defined: cst.FunctionDef,
        parsed: ParsedModule,
        facts: ProjectFacts,
    ) -> None:
        self.tree = tree
        self.parsed = parsed
        self.defined = defined
        block = defined.body
        self.lines = (
            statements_of(block) if isinstance(block, cst.IndentedBlock) else []
        )
        self.makers: dict[str, cst.SimpleStatementLine] = {}
        for one in self.lines:
            small = only_small(one)
            made = small.value if isinstance(small, cst.Assign) else None
            names = assigned(one)
            if (
                made is not None
                and len(names) == 1
                and makes_model(made, parsed, facts)
            ):
                assert isinstance(one, cst.SimpleStatementLine)
                self.makers[names[0]] = one
        self.own = tree.resolver.scopes.opened[defined].bindings

    def edits(self) -> dict[cst.CSTNode, Any]:
        """What makes one model of several; nothing where that is not plain."""
        places = [n for n, one in enumerate(self.lines) if self._calls(one)]
        if (
            len(self.makers) < 2
            or self.tree.parent(self.defined) is not self.tree.module
        ):
            return {}
        whole = self.lines[places[0] : places[-1] + 1] if places else []
        inside = [one for one in whole if one not in self.makers.values()]
        before = self.lines[: places[0]] if places else []
        if (
            not inside
            or any(len(self.own.get(name, ())) != 1 for name in self.makers)
            or not all(one in [*before, *whole] for one in self.makers.values())
            or any(isinstance(n, cst.Return) for one in inside for n in walk(one))
        ):
            return {}
        bound = {name for one in inside for name in binds(one)}
        setup = self._reads([*self.makers.values()])
        late = [n for n in self._reads(inside) if n not in self.makers]
        late = [n for n in late if n not in bound or self._is_bound(before, n)]
        flags = {one for one in late if self._is_flag(one)}
        tests = [one for line in inside for one in self._tests(line)]
        modes = sum(n.value == "mode" for line in inside for n in walk(line, cst.Name))
        behind = self.lines[places[-1] + 1 :]
        read = {n.value for one in behind for n in walk(one, cst.Name)}
        outputs = [n for one in inside for n in assigned(one) if n in read]
        outputs = list(dict.fromkeys(outputs))
        if (
            {*setup} & ({*self.makers} | bound)
            or "labels" in late
            or len(flags) > 1
            or modes != len(tests)
            or not outputs
        ):
            return {}
        tensors = [one for one in late if one not in flags and one != "mode"]
        asked = [*flags, *(self.tree.code(one) for one in tests)][:1]
        if not tensors or (flags and tests):
            return {}
        taken = {*self.tree.resolver.scopes.module_scope.bindings}
        asked_for = re.findall(_UPDATES, self.tree.code(self.defined))
        normalized = self.parsed.source.text.count("BatchNorm")
        if asked_for and {*asked_for} != {*self.makers} and normalized > 1:
            return {}  # the averages of some are updated
        model, kind = fresh("model", {*taken, *self.own}), fresh("Model", taken)
        made = self._class(kind, setup, tensors, inside, tests, flags, outputs)
        given = [*tensors, *(f"training={one}" for one in asked)]
        code = f"{model} = {kind}({', '.join(setup)})\n"
        code += f"{', '.join(outputs)} = {model}({', '.join(given)})\n"
        found: dict[cst.CSTNode, Any] = {one: [] for one in inside}
        found |= {one: [] for one in self.makers.values()}
        comments = getattr(whole[0], "leading_lines", ())
        lines = [*cst.parse_module(code).body]
        found[inside[-1]] = [lines[0].with_changes(leading_lines=comments), lines[1]]
        for one in behind:
            for total in walk(one, cst.BinaryOperation):
                parts = re.split(r"\s*\+\s*", self.tree.code(total).strip("()"))
                if {*parts} == {f"{name}.trainable_variables" for name in self.makers}:
                    found[total] = cst.parse_expression(f"{model}.trainable_variables")
        held = ((n, n.value) for one in behind for n in walk(one, cst.Name))
        for node, name in held:
            if name in self.makers and node in self.tree.resolver.scopes.loads:
                found[node] = cst.parse_expression(f"{model}.{name}")
        top = self.defined
        found[top] = lambda now: [made, now]
        return found

    def _class(
        self,
        kind: str,
        setup: list[str],
        tensors: list[str],
        inside: list[Statement],
        tests: list[cst.Comparison],
        flags: set[str],
        outputs: list[str],
    ) -> cst.BaseStatement:
        """The class whose `call` is what stood between the calls."""
        places: dict[cst.CSTNode, Any] = {one: cst.Name("training") for one in tests}
        for line in inside:
            for node in walk(line, cst.Name):
                if node in self.tree.resolver.scopes.loads:
                    if node.value in self.makers:
                        places[node] = cst.parse_expression(f"self.{node.value}")
                    elif node.value in flags:
                        places[node] = cst.Name("training")
        body = [line.visit(Put(places, line)) for line in inside]
        parameters = ["self", *tensors, *(["training"] if flags or tests else [])]
        code = f"class {kind}({alias_of(self.parsed)}.keras.Model):\n"
        code += f"    def __init__({', '.join(['self', *setup])}):\n"
        code += "        super().__init__()\n"
        for name, line in self.makers.items():
            small = only_small(line)
            assert isinstance(small, cst.Assign)
            code += f"        self.{name} = {self.tree.code(small.value)}\n"
        code += f"\n    def call({', '.join(parameters)}):\n        pass\n"
        made = cst.parse_statement(code)
        assert isinstance(made, cst.ClassDef)
        call = made.body.body[-1]
        assert isinstance(call, cst.FunctionDef)
        last = cst.parse_statement(f"return {', '.join(outputs)}\n")
        block = call.body.with_changes(body=[*body, last])
        return made.with_deep_changes(call, body=block).with_changes(
            leading_lines=[cst.EmptyLine(indent=False)] * 2
        )

    def _calls(self, line: Statement) -> bool:
        """A statement calls one of the models."""
        return any(
            isinstance(one.func, cst.Name) and one.func.value in self.makers
            for one in walk(line, cst.Call)
        )

    def _reads(self, lines: list[Any]) -> list[str]:
        """Names of the function that statements read, in their order."""
        found = [
            node.value
            for line in lines
            for node in walk(line, cst.Name)
            if node in self.tree.resolver.scopes.loads and node.value in self.own
        ]
        return list(dict.fromkeys(found))

    def _is_bound(self, lines: list[Statement], name: str) -> bool:
        parameters = [one.name.value for one in self.defined.params.params]
        return name in parameters or any(name in binds(one) for one in lines)

    def _is_flag(self, name: str) -> bool:
        """``training = mode == tf.estimator.ModeKeys.TRAIN``"""
        made = self.own[name][0].value if len(self.own[name]) == 1 else None
        return made is not None and bool(self._tests(made))

    def _tests(self, node: cst.CSTNode) -> list[cst.Comparison]:
        return [
            one
            for one in walk(node, cst.Comparison)
            if self.tree.code(one.left) == "mode"
            and isinstance(one.comparisons[0].operator, cst.Equal)
            and self.tree.code(one.comparisons[0].comparator).endswith(_TRAIN)
        ]
