"""Weights that PREDICT gets by name are handed to what makes them for the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .code import Refused, dotted, literal, matched, symbol_of
from .text import (
    Text,
    bound_names,
    names_in,
    on_one_line,
    parameters_of,
    stores_in,
    substituted,
    without_gone,
)

_CRF = "tf.contrib.crf.crf_log_likelihood"


def with_weights_handed(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files whose model functions make such weights once, before a mode returns."""
    for number, one in enumerate(files):
        made = filter(is_model_fn, one.each(cst.FunctionDef))
        names = {n.name.value for n in made if isinstance(n, cst.FunctionDef)}
        if not names or "get_variable" not in one.source.text:
            continue
        texts = [Text(file.source.text) for file in files]
        for function in walk_ast(ast.Module(texts[number].body, []), ast.FunctionDef):
            told = _Function(files, texts, number, function)
            if function.name in names and told.hands():
                again = [
                    facts.module_of(file.source.with_text(without_gone(text.done())))
                    for file, text in zip(files, texts, strict=True)
                ]
                return with_weights_handed(again, facts)
    return [*files]


class _Function:
    """A model function, and the texts of its program."""

    def __init__(
        self,
        files: Sequence[ParsedModule],
        texts: Sequence[Text],
        number: int,
        function: ast.FunctionDef,
    ) -> None:
        self.files, self.texts, self.function = files, texts, function
        self.parsed, self.text = files[number], texts[number]

    def hands(self) -> bool:
        """Hands a weight to what makes it a second time, if there is such a one."""
        block = self.function.body
        for place, branch in enumerate(block):
            if not isinstance(branch, ast.If):
                continue
            if not isinstance(branch.body[-1], ast.Return):
                continue
            for made, holder, scope in self._flat(branch.body):
                if _weight(self.parsed, made) is None:
                    continue
                assert isinstance(made, ast.Assign)
                for used, _, around in self._flat(block[place + 1 :]):
                    code = ""
                    if scope == around:
                        code = self._handed(made, used, block[:place])
                    if code:
                        lines = [f"{dotted(made.targets[0])} = {code}"]
                        if scope:
                            lines = [f"with {scope}:", f"    {lines[0]}"]
                        self.text.add(branch, *lines)
                        self.text.drop(holder)
                        return True
        return False

    def _flat(self, block: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.stmt, str]]:
        """Statements, with what goes if they do, and the scope that they are in."""
        for one in block:
            if not isinstance(one, ast.With):
                yield one, one, ""
            elif len(one.items) == 1 and one.items[0].optional_vars is None:
                scope = on_one_line(self.text.of(one.items[0].context_expr))
                for inner in one.body:
                    yield inner, one if len(one.body) == 1 else inner, scope

    def _handed(self, made: ast.Assign, used: ast.stmt, before: list[ast.stmt]) -> str:
        """The weight that a statement makes, which it is given instead, if it does."""
        variable = dotted(made.targets[0])
        own = {*stores_in(made), *stores_in(used)}
        if any(o.id == variable and o not in own for o in stores_in(self.function)):
            return ""
        for call in walk_ast(used, ast.Call):
            helper = self._helper(dotted(call.func).rpartition(".")[2])
            crf = symbol_of(self.parsed.resolver, call.func) == _CRF
            code = self._of_crf(made, call) if crf else ""
            inner = self._second(helper, made) if helper is not None else None
            if helper is not None and inner is not None:
                code = self._said(helper, inner, call)
            if not code or not self._is_known(code, before):
                continue
            local = "transition_params"
            if helper is not None and inner is not None:
                local = dotted(inner.targets[0])
                number, defined = helper
                _, end = self.texts[number].span(defined.args.args[-1])
                self.texts[number].replace(end, end, f", {local}")
                self.texts[number].drop(inner)
            plain = helper is not None and not call.keywords
            self.text.add_argument(call, f"{'' if plain else f'{local}='}{variable}")
            if isinstance(used, ast.Assign) and isinstance(used.targets[0], ast.Tuple):
                # What is given comes back.
                target = used.targets[0].elts[-1]
                back = crf or (helper is not None and _gives_last(helper[1], local))
                if back and used.value is call and dotted(target) == variable:
                    self.text.put(target, "_")
            return code
        return ""

    def _of_crf(self, made: ast.Assign, call: ast.Call) -> str:
        """The weight of a chain, which begins as it does where nothing is said."""
        assert isinstance(made.value, ast.Call)
        shown = [*map(self.text.of, made.value.args[:2])]
        plain = len(shown) == 2 and len(call.args) == 3 and not call.keywords
        if not plain or _weight(self.parsed, made) != "transitions":
            return ""
        return f"{dotted(made.value.func)}({', '.join(shown)})"

    def _second(
        self, helper: tuple[int, ast.FunctionDef], made: ast.Assign
    ) -> ast.Assign | None:
        """The statement of a helper that makes a variable of the same name."""
        name, file = _weight(self.parsed, made), self.files[helper[0]]
        found = [one for one in helper[1].body if _weight(file, one) == name]
        one = found[0] if len(found) == 1 else None
        return one if isinstance(one, ast.Assign) else None

    def _said(
        self, helper: tuple[int, ast.FunctionDef], inner: ast.Assign, call: ast.Call
    ) -> str:
        """The weight of a helper in words of its caller; empty where it has none."""
        number, defined = helper
        try:
            given = matched(call, parameters_of(defined))
        except Refused:
            return ""
        read = {one.id for one in names_in(inner.value)} - {"tf"}
        if self.files[number] is self.parsed:
            # A name of the module means the same in both.
            read &= bound_names(defined) | bound_names(self.function)
        stores = [one.id for one in stores_in(defined)]
        once = stores.count(dotted(inner.targets[0])) == 1
        if not once or not read <= given.keys() or {*stores} & read:
            return ""
        return substituted(on_one_line(self.texts[number].of(inner.value)), given)

    def _helper(self, name: str) -> tuple[int, ast.FunctionDef] | None:
        """A function of that name that is called once, and the number of its file."""
        found = [
            (number, one)
            for number, text in enumerate(self.texts)
            for one in text.body
            if isinstance(one, ast.FunctionDef) and one.name == name
        ]
        said = [
            one
            for text in self.texts
            for one in walk_ast(ast.Module(text.body, []), ast.Name, ast.Attribute)
            if dotted(one).rpartition(".")[2] == name
        ]
        if len(found) != 1 or len(said) != 1:
            return None
        given = found[0][1].args
        more = given.vararg or given.kwarg or given.kwonlyargs or given.defaults
        return None if more or not given.args else found[0]

    def _is_known(self, code: str, before: list[ast.stmt]) -> bool:
        """What an expression reads is there in every mode, before the first returns."""
        first, *rest = parameters_of(self.function)
        known = {one.id for part in before for one in stores_in(part)}
        known |= {first, *rest[1:]} - {"labels"}
        read = {one.id for one in names_in(ast.parse(code))}
        return read & bound_names(self.function) <= known


def _weight(parsed: ParsedModule, statement: ast.stmt) -> str | None:
    """The name of the variable that ``v = tf.get_variable("name", ...)`` makes."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(value, ast.Call):
        return None
    if not dotted(statement.targets[0]).isidentifier() or not value.args:
        return None
    name = literal(ast.unparse(value.args[0]))
    made = symbol_of(parsed.resolver, value.func) == "tf.get_variable"
    return name if made and isinstance(name, str) else None


def _gives_last(function: ast.FunctionDef, name: str) -> bool:
    """``return loss, name``, the only return"""
    returns = walk_ast(function, ast.Return)
    given = returns[0].value if len(returns) == 1 else None
    return isinstance(given, ast.Tuple) and dotted(given.elts[-1]) == name
