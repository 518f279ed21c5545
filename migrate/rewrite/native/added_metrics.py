"""Metrics that `add_metrics` gives to an Estimator, by a function of the program."""

from __future__ import annotations

import libcst as cst

from ...code.statements import names_in
from ...code.tree import only_small, walk
from ...names.scopes import Binding
from .code import Code, Refused
from .metrics import SIGNATURES as METRICS
from .metrics import Metric, metric
from .page import Page, Part
from .tidy import with_casts
from .word import Odd, Word, arguments, in_sight, placed, plain, spelled

ADD_METRICS = ("tf.estimator.add_metrics", "tf.contrib.estimator.add_metrics")
# What holds the updates of several metrics together.
_TOGETHER = ("tf.group", "tf.identity", "tf.tuple")


def add_metrics(page: Page, word: Word) -> None:
    """A trainer with more metrics, whose function tells what these are given."""
    call, args = in_sight(page, word, ("trainer", "measured"))
    page.rename(word.node, page.take("add_metrics"))
    for name, old in (("trainer", "estimator"), ("measured", "metric_fn")):
        if old in args:
            page.rename_keyword(args[old], name)
            args[name] = args[old]
    try:
        made = _Measured(page, args["measured"].value).metrics()
    except (Odd, Refused) as problem:
        page.refuse(call, f"the metrics ({{}}) are not added: {problem}")
        return
    keyword = "make_metrics=" if "metric_fn" in args else ""
    end = ""
    if len(made) > 1 or len(made[0]) > 1:
        line = f"{page.newline}{page.indent(call)}{page.step * _depth(page, call)}"
        made = [(f"{line}{page.step}", *one, ",") for one in made]
        end = line
    parts = [part for one in made for part in one]
    page.add_argument(call, f"{keyword}lambda: [", *parts, f"{end}]")


def _depth(page: Page, call: cst.CSTNode | None) -> int:
    """How much deeper the arguments of a call stand that is on several lines."""
    return int(call is not None and "\n" in page.source(call))


class _Measured:
    """A function that tells from now on what its metrics are given."""

    def __init__(self, page: Page, node: cst.BaseExpression) -> None:
        self.page = page
        self.node = node
        value, defined = page.value(node), page.resolver.definition(node)
        self.name = "lambda"
        if isinstance(value, cst.Lambda):
            self.scope = page.scopes.opened[value]
            self.entries = self._entries(value.body)
        elif isinstance(defined, cst.FunctionDef):
            self.name = defined.name.value
            self.scope = page.scopes.opened[defined]
            loads = [page.resolver.definition(n) for n in page.loads(self.name)]
            returns = list(walk(defined, cst.Return))
            if loads.count(defined) != 1 or len(returns) != 1:
                raise self._no_dict()
            self.entries = self._entries(returns[0].value)
        else:
            raise Odd(node, "their function is not one of the file")
        # Calls that tell what a metric is given from now on; those that tell it as one
        # of several metrics, of which another is computed.
        self.told: dict[cst.Call, Metric] = {}
        self.parts: set[cst.Call] = set()
        # Names whose places have another text, and what they had been given.
        self.read: set[cst.Name] = set()
        self.bound: dict[Binding, None] = {}

    def metrics(self) -> list[tuple[Part, ...]]:
        """Tells how the metrics are made, and has the function tell the rest."""
        found = [self._made(key, value) for key, value in self.entries]
        for binding in self.bound:
            if not {*self.page.uses(binding)} <= self.read:
                raise self._odd(binding.node)
        for call, known in self.told.items():
            values = [*known.update, *filter(None, [known.sample_weight])]
            shown = ", ".join(map(with_casts, values))
            if len(values) > 1 or call in self.parts:
                shown = f"({shown}{',' * (len(values) == 1)})"
            self.page.rewritten.add(call)
            self.page.forget(call.func)
            placed(self.page, call, Code(shown))
        return found

    def _entries(
        self, returned: cst.BaseExpression | None
    ) -> list[tuple[str, cst.BaseExpression]]:
        """The texts of keys, and values, of what is returned."""
        page, told = self.page, self.page.value(returned)
        found: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []
        if isinstance(told, cst.Dict):
            for one in told.elements:
                if not isinstance(one, cst.DictElement):
                    raise self._odd(one)
                found.append((one.key, one.value))
        elif not isinstance(told, cst.Call) or page.source(told.func) != "dict":
            raise self._no_dict()
        else:
            for arg in told.args:
                if arg.keyword is None:
                    raise self._odd(arg)
                text = page.string(arg.keyword.value)
                found.append((cst.SimpleString(text), arg.value))
        held = page.assigned(returned)
        for use in page.uses(held) if held is not None else ():
            if use is not returned:
                filled = _filled(page, use)
                if filled is None:
                    raise self._no_dict()
                found.append(filled)
        texts = []
        for key, value in found:
            if not isinstance(key, cst.SimpleString):
                raise self._odd(value)
            texts.append((key.value, value))
        if len(dict(texts)) < len(texts):
            raise self._no_dict()  # one takes the place of another
        return texts

    def _no_dict(self) -> Odd:
        why = "returns no plain dictionary, or is used besides"
        return Odd(self.node, f"`{self.name}` {why}")

    def _odd(self, node: cst.CSTNode) -> Odd:
        return Odd(node, f"`{self.name}` returns more than metrics by their names")

    def _made(self, key: str, value: cst.BaseExpression) -> tuple[Part, ...]:
        made = self.page.value(value)
        self.read.update(walk(value, cst.Name))
        if isinstance(made, cst.Tuple) and len(made.elements) == 2:
            return self._computed(key, made)
        return (self._constructor(key, made),)

    def _constructor(self, key: str, made: cst.BaseExpression | None) -> str:
        page = self.page
        symbol = page.symbol(made.func) if isinstance(made, cst.Call) else None
        if not isinstance(made, cst.Call) or symbol not in METRICS:
            raise self._odd(made or self.node)
        args = arguments(page, made, METRICS[symbol])
        if args is None:
            raise self._odd(made)
        given = {name: plain(page, arg.value) for name, arg in args.items()}
        known = self.told[made] = metric(symbol, key, given)
        if names_in(known.constructor.text) & {*self.scope.bindings}:
            why = "is made of what only it knows"
            raise Odd(made, f"a metric of `{self.name}` {why}")
        return spelled(page, self.node, known.constructor)

    def _computed(self, key: str, pair: cst.Tuple) -> tuple[Part, ...]:
        """A metric computed of others, of which the function tells what each is given.

        ``(2 * p[0] * r[0] / (p[0] + r[0]), tf.group(p[1], r[1]))`` becomes ``p, r``.
        """
        page = self.page
        value, update = (one.value for one in pair.elements)
        parts: dict[str, cst.Call] = {}
        updated: dict[str, cst.Call] = {}
        self._follow(value, "[0]", parts)
        self._follow(update, "[1]", updated)
        if not parts or parts != updated:
            raise self._odd(pair)
        self.parts.update(parts.values())
        page.put(pair, f"{', '.join(parts)}{',' * (len(parts) == 1)}")
        depth = 2 + _depth(page, page.parent(page.parent(self.node) or self.node))
        line = f"{page.newline}{page.indent(self.node)}{page.step * depth}"
        made = [self._constructor(page.string(n), one) for n, one in parts.items()]
        return (
            f"{page.take('Computed')}({line}lambda {', '.join(parts)}: ",
            value,
            "".join(f",{line}{one}" for one in (key, *made)),
            f",{line.removesuffix(page.step)})",
        )

    def _follow(
        self, node: cst.BaseExpression, place: str, parts: dict[str, cst.Call]
    ) -> None:
        """Says ``p`` for ``p[0]``, and in the places of other names what they hold.

        ``parts`` gets the metrics by their names.
        """
        page = self.page
        held: set[cst.BaseExpression] = set()
        for one in walk(node):
            if isinstance(one, cst.Call) and place == "[1]":
                if page.symbol(one.func) not in _TOGETHER:
                    raise self._odd(one)
                page.forget(one.func)
            if isinstance(one, cst.Subscript) and isinstance(one.value, cst.Name):
                made, name = page.value(one.value), one.value.value
                if isinstance(made, cst.Call) and page.symbol(made.func) in METRICS:
                    if page.source(one) != name + place:
                        raise self._odd(one)
                    held.add(one.value)
                    self._note(one.value)
                    parts[name] = made
                    page.put(one, name)
            elif isinstance(one, cst.Name) and one in page.scopes.loads:
                binding = page.assigned(one)
                if one in held or one.value not in self.scope.bindings:
                    continue
                if binding is None or binding.value is None:
                    raise self._odd(one)
                self._note(one)
                page.drop_statement(page.statement(binding.value))
                page.put(one, "(", binding.value, ")")
                self._follow(binding.value, place, parts)

    def _note(self, name: cst.Name) -> None:
        self.read.add(name)
        binding = self.page.assigned(name)
        if binding is not None:
            self.bound[binding] = None


def _filled(
    page: Page, held: cst.Name
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The key and the value of ``held[key] = value``, a line of the function."""
    subscript = page.parent(held)
    small = only_small(page.statement(held))
    if not isinstance(subscript, cst.Subscript) or not isinstance(small, cst.Assign):
        return None
    body = page.parent(page.statement(held))
    index = subscript.slice[0].slice
    alone = [one.target for one in small.targets] == [subscript]
    whole = body is not None and isinstance(page.parent(body), cst.FunctionDef)
    if not alone or not whole or not isinstance(index, cst.Index):
        return None
    return index.value, small.value
