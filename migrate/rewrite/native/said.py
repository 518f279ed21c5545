"""Code of a model function in the words of a Task's methods."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.data import is_data
from ...code.texts import source_text
from ...code.tree import Statement, statements_of, walk
from ...model.in_mode import Called
from .code import Code, grouped, literal
from .losses import SIGNATURES as LOSSES
from .losses import loss
from .metrics import SIGNATURES as METRICS
from .optimizers import SIGNATURES as OPTIMIZERS
from .optimizers import optimizer
from .schedules import SIGNATURES as SCHEDULES
from .schedules import schedule
from .slices import GLOBAL_STEPS, Mode, is_step
from .tidy import CASTS

if TYPE_CHECKING:
    from .task import Maker

_SUMMARIES = "tf.summary."
_SHORT = 50
# Collections of variables and losses, and the attributes that have them.
_COLLECTIONS = {
    "REGULARIZATION_LOSSES": "self.model.losses",
    "TRAINABLE_VARIABLES": "self.model.trainable_variables",
}
_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
SUMMARY = {
    "scalar": ("name", "tensor", "collections", "family"),
    "histogram": ("name", "values", "collections", "family"),
    "image": ("name", "tensor", "max_outputs", "collections", "family"),
    "audio": ("name", "tensor", "sample_rate", "max_outputs", "collections", "family"),
    "text": ("name", "tensor", "collections"),
}
IMAGES = (
    "TensorFlow 1 scaled the images of summaries by their largest value; here they "
    "are taken to go from 0 to 1"
)
_NAMES = "summaries of variables go by the names that Keras gives these"
_EVERY = (
    "a metric that is shown while it trains has all batches in it; "
    "TensorFlow 1.15 added only those of the steps that showed it"
)

# Most nodes, with nothing to say; LibCST would make each of them anew.
_LAYOUT = (cst.BaseParenthesizableWhitespace, cst.Comma, cst.AssignEqual, cst.Dot)


class Said(cst.CSTTransformer):
    """Code of the model function in the words of a method of the Task."""

    def __init__(
        self,
        maker: Maker,
        mode: Mode,
        *,
        init: bool = False,
        training: bool = False,
        gradients: Collection[cst.CSTNode] = (),
        rate: bool = False,
    ) -> None:
        self.maker = maker
        self.mode = mode
        self.tree = maker.tree
        self.init = init
        self.training = training
        self.gradients = gradients
        # The learning rate of a step, which is the parameter `step`.
        self.rate = rate
        self.step = "step"
        # Expressions that the constructor says in another way.
        self.replaced = maker.replaced if init else maker.computed
        self.took_gradients = False
        # Statements that are said in another way, or left out.
        self.lines: Mapping[cst.CSTNode, str] = {}

    def statement(self, node: Statement) -> str:
        """Source text of a statement."""
        changed = node.visit(self)
        parts = changed if isinstance(changed, cst.FlattenSentinel) else [changed]
        return "".join(source_text(one) for one in parts)  # type: ignore[arg-type]

    def expression(self, node: cst.BaseExpression) -> str:
        """Source text of an expression."""
        changed = node.visit(self)
        assert isinstance(changed, cst.BaseExpression)
        return source_text(changed)

    def argument(self, node: cst.Arg) -> str:
        """Source text of an argument."""
        keyword = "" if node.keyword is None else f"{node.keyword.value}="
        return f"{node.star}{keyword}{self.expression(node.value)}"

    # -- what the mode decides

    def _is_decided(self, node: cst.CSTNode) -> bool:
        if type(node) is cst.Name:
            known = node in self.tree.resolver.scopes.loads
            return known and self.mode.decided(node) is not None
        tests = (cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)
        return type(node) in tests and self.mode.decided(node) is not None

    def on_leave(
        self, original: cst.CSTNodeT, updated: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original in self.lines:
            body = cst.parse_module(self.lines[original]).body
            return cst.FlattenSentinel(body)  # type: ignore[arg-type]
        if original in self.replaced:
            text = self.replaced[original]  # type: ignore[index]
            return cst.parse_expression(text)  # type: ignore[return-value]
        if self._is_decided(original):
            return self._flag(original)  # type: ignore[return-value]
        return super().on_leave(original, updated)

    def _flag(self, node: cst.CSTNode) -> cst.BaseExpression:
        """A test of the mode: a truth value, or the flag of the forward pass."""
        found = self.mode.decided(node)
        assert found is not None
        if not isinstance(found.value, bool):
            raise self.maker.stop(node, "the mode itself is handed on")
        if not self.training:
            return cst.Name(str(found.value))
        told = {name: one.decided(node) for name, one in self.maker.modes.items()}
        values = {n: bool(v.value) for n, v in told.items() if v is not None}
        others = {v for n, v in values.items() if n != "TRAIN"}
        if others <= {not values["TRAIN"]}:
            word = "training" if values["TRAIN"] else "not training"
            return cst.parse_expression(word)
        if others == {values["TRAIN"]}:
            return cst.Name(str(values["TRAIN"]))
        raise self.maker.stop(node, "it tells evaluation from prediction")

    def visit_IfExp(self, node: cst.IfExp) -> bool:
        return self.mode.decided(node.test) is None or self.training

    def leave_IfExp(
        self, original_node: cst.IfExp, updated_node: cst.IfExp
    ) -> cst.BaseExpression:
        test = self.mode.decided(original_node.test)
        if test is None or self.training:
            return updated_node
        chosen = original_node.body if test.value else original_node.orelse
        changed = chosen.visit(self)
        assert isinstance(changed, cst.BaseExpression)
        return changed

    # -- names

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        maker = self.maker
        if original_node not in self.tree.resolver.scopes.loads:
            return updated_node
        name = original_node.value
        if name not in (maker.model, *maker.kept, "config", "mode", "self"):
            return updated_node
        bound = self.tree.resolver.bindings(original_node)
        own = self.tree.resolver.scopes.opened[maker.defined]
        if not any(one.scope is own for one in bound):
            if name == "self":
                maker.closes_over_self = True
                return cst.Name("owner")
            return updated_node
        if name == "self":
            maker.reads_owner = True
            if self.init:
                return cst.Name("owner")
            maker.keeps_owner = True
            return cst.parse_expression("self.owner")
        if name == maker.model:
            return cst.parse_expression("self.model")
        if name in maker.kept and not self.init:
            maker.stored.add(name)
            return cst.parse_expression(f"self.{name}")
        if name in ("config", "mode") and name in maker.given:
            raise maker.stop(original_node, f"it depends on `{name}`")
        return updated_node

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        """``variable.op.name`` of a loop, as the tag of a summary."""
        held = original_node.value
        whole = isinstance(held, cst.Attribute) and held.attr.value == "op"
        base = held.value if isinstance(held, cst.Attribute) and whole else held
        if original_node.attr.value != "name" or not isinstance(base, cst.Name):
            return updated_node
        loops = [
            above.for_in if isinstance(above, cst.ListComp) else above
            for above in self.tree.ancestors(base)
            if isinstance(above, (cst.For, cst.ListComp))
        ]
        targets = [name.value for one in loops for name in walk(one.target, cst.Name)]
        if base.value not in targets:
            return updated_node
        shown = self.maker.is_summary(self.tree.statement(base))
        if shown and _NAMES not in self.maker.parts.notes:
            self.maker.parts.notes.append(_NAMES)
        if not whole:
            return updated_node
        quote = self.maker.quote
        return cst.parse_expression(f"{base.value}.name.partition({quote}:{quote})[0]")

    def leave_For(
        self, original_node: cst.For, updated_node: cst.For
    ) -> cst.For | cst.FlattenSentinel[cst.BaseStatement]:
        """``for name, metric in metrics.items()``: what it does, for each of these."""
        items = self.mode.shown(original_node)
        if items is None:
            return updated_node
        found: list[cst.BaseStatement] = []
        named, held = (one.value for one in walk(original_node.target, cst.Name))
        before = self.replaced
        for key, value in items:
            self.replaced = {**before}
            for one in walk(original_node.body, cst.Name):
                parent = self.tree.parent(one)
                if one not in self.tree.resolver.scopes.loads:
                    continue
                if one.value == named:
                    self.replaced[one] = self.maker.shown_key(key)
                elif one.value == held and isinstance(parent, cst.Subscript):
                    made = self._shown(parent, value, re.sub(r"\W+", "_", key))
                    self.replaced[parent] = source_text(made)
                elif one.value == held:
                    raise self.maker.stop(one, f"`{held}` is read while it trains")
            for line in statements_of(original_node.body):  # type: ignore[arg-type]
                said = line.visit(self)
                found += said if isinstance(said, cst.FlattenSentinel) else [said]  # type: ignore[list-item]
        self.replaced = before
        return cst.FlattenSentinel(found)

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.BaseExpression:
        """``accuracy[1]``, ``metrics["acc"][1]``: a metric shown while it trains."""
        value = self.mode.found.notes.values.get(original_node.value)
        if (
            not isinstance(value, Called)
            or value.symbol not in METRICS
            or value.node is None
        ):
            return updated_node
        return self._shown(original_node, value, self.tree.code(original_node.value))

    def _shown(
        self, original_node: cst.Subscript, value: Called, shown: str
    ) -> cst.BaseExpression:
        """The value of a metric while it trains; ``shown`` is how it is called."""
        index = original_node.slice[0].slice
        told = self.tree.code(original_node.value)
        in_dict = re.fullmatch(r"\w+\[['\"](\w+)['\"]\]", shown)
        shown = in_dict[1] if in_dict is not None else shown
        updated = any(f"{one}[1]" in self.tree.text for one in (shown, told))
        before = self.tree.code(index) == "0" and updated
        if (
            not isinstance(index, cst.Index)
            or not (self.tree.code(index) == "1" or before)
            or not shown.isidentifier()
            or not self.mode.is_own(value)
        ):
            # What stands there before an update is zero, as nothing runs it.
            raise self.maker.stop(original_node, f"`{shown}` is read while it trains")
        key = self.maker.shown_key(shown)
        made = self.maker.metric_of(self.mode, key, value)
        name = f"train_{shown}"
        parts = self.maker.parts
        if before:
            # TensorFlow 1 left open whether that was before or behind the update.
            parts.training_metrics.setdefault(name, made.constructor.text)
            return cst.parse_expression(f"self.{name}.result()")
        if name in parts.training_metrics:
            return cst.parse_expression(f"self.{name}.result()")
        parts.training_metrics[name] = made.constructor.text
        if _EVERY not in parts.notes:
            parts.notes.append(_EVERY)
        inside = [*made.update]
        if made.sample_weight is not None:
            inside.append(f"sample_weight={made.sample_weight}")
        return cst.parse_expression(f"self.{name}({', '.join(inside)})")

    # -- calls

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        maker = self.maker
        symbol = self.tree.symbol(original_node.func)
        if self.tree.code(original_node.func) == maker.model:
            args = [
                now.with_changes(keyword=cst.Name("training"), equal=_EQUAL)
                if isinstance(getattr(self.mode.decided(one.value), "value", 0), bool)
                else now
                for one, now in zip(original_node.args, updated_node.args, strict=True)
            ]
            return updated_node.with_changes(args=args)
        if original_node in self.gradients:
            self.took_gradients = True
            if symbol == "tf.gradients":
                return cst.Name("gradients")
            return cst.parse_expression(
                "list(zip(gradients, self.model.trainable_variables))"
            )
        if symbol is None:
            return updated_node
        if symbol in LOSSES:
            texts = self._arguments(original_node, updated_node, LOSSES[symbol])
            given = match_arguments(original_node, LOSSES[symbol])
            labels = given.get("labels") or given.get("onehot_labels")
            learned = not is_data(self.tree, labels)
            return self._parsed(loss(symbol, texts, learned=learned))
        if symbol in OPTIMIZERS and self.init:
            texts = self._arguments(original_node, updated_node, OPTIMIZERS[symbol])
            return self._parsed(self.optimizer(symbol, texts, original_node))
        if symbol in SCHEDULES:
            return self._scheduled(symbol, original_node, updated_node)
        if symbol in GLOBAL_STEPS:
            if self.init:
                # Read by schedules alone, which are told the step.
                _, above, *_ = self.tree.ancestors(original_node)
                called = above.func if isinstance(above, cst.Call) else None
                if called is not None and self.tree.symbol(called) not in SCHEDULES:
                    raise maker.stop(original_node, "the step is handed on")
                return cst.Name("None")
            return cst.parse_expression(
                self.step if self.rate else "self.optimizer.iterations"
            )
        if symbol == "tf.trainable_variables" and not original_node.args:
            return cst.parse_expression("self.model.trainable_variables")
        if symbol == "tf.losses.get_regularization_loss":
            # `tf.add_n` of none fails.
            return cst.parse_expression("sum(self.model.losses)")
        if symbol == "tf.losses.get_regularization_losses":
            return cst.parse_expression("self.model.losses")
        if symbol == "tf.get_collection" and len(original_node.args) == 1:
            shown = self.tree.code(original_node.args[0].value)
            key = shown.rpartition(".")[2].strip("'\"").upper()
            if key not in _COLLECTIONS:
                raise maker.stop(original_node, f"the collection `{shown}`")
            return cst.parse_expression(_COLLECTIONS[key])
        if symbol in CASTS and len(original_node.args) == 1:
            inside = source_text(updated_node.args[0].value)
            return self._protected(
                f"tf.cast({maker.marked(inside)}, tf.{CASTS[symbol]})"
            )
        if symbol.startswith(_SUMMARIES) and symbol.count(".") == 2:
            kind = symbol.rpartition(".")[2]
            if kind in SUMMARY:
                return self._summary(kind, original_node, updated_node)
        return updated_node

    def on_visit(self, node: cst.CSTNode) -> bool:
        return (
            not isinstance(node, _LAYOUT)
            and node not in self.replaced
            and node not in self.lines
            and not (type(node) is cst.For and self.mode.shown(node))
            and not self._is_decided(node)
            and super().on_visit(node)
        )

    def _scheduled(
        self, symbol: str, call: cst.Call, updated: cst.Call
    ) -> cst.BaseExpression:
        """A schedule: the object, or its rate for a step.

        The optimizer's `learning_rate` is that of the last step until it updates.
        """
        texts = self._arguments(call, updated, SCHEDULES[symbol])
        given = match_arguments(call, SCHEDULES[symbol])
        name = "x" if "x" in SCHEDULES[symbol] else "global_step"
        step = texts.pop(name, None)
        value = self.mode.found.notes.values.get(given[name]) if name in given else None
        if self.init and (value is None or not is_step(value)):
            reason = "a learning rate of something else than the step"
            raise self.maker.stop(call, reason)
        made = self._parsed(schedule(symbol, texts))
        if self.init:
            return made
        if isinstance(made, cst.Call) and len(source_text(made)) > _SHORT:
            # An argument a line, since a call of a call is wrapped at its own.
            alone = [
                one.with_changes(comma=cst.MaybeSentinel.DEFAULT) for one in made.args
            ]
            lines = "".join(f"    {source_text(one)},\n" for one in alone)
            made = cst.parse_expression(f"{source_text(made.func)}(\n{lines})")
        now = self.step if self.rate else "self.optimizer.iterations"
        return cst.Call(made, [cst.Arg(cst.parse_expression(step or now))])

    def _summary(self, kind: str, call: cst.Call, updated: cst.Call) -> cst.Call:
        """A summary, under the tag that TF 1 gave it."""
        func = cst.parse_expression(f"__tf2__.summary.{kind}")
        if kind == "image" and IMAGES not in self.maker.parts.notes:
            self.maker.parts.notes.append(IMAGES)
        given = self._arguments(call, updated, SUMMARY[kind])
        if "collections" in given:
            raise self.maker.stop(call, "a summary in collections of its own")
        name, family = (literal(given.get(key, "")) for key in ("name", "family"))
        parts = [*self._scopes(call)]
        if "family" in given:
            parts = [family, *parts, family]
        tag = name
        if isinstance(name, str) and all(isinstance(part, str) for part in parts):
            tag = re.sub(r"[^-/.\w]", "_", "/".join([*parts, name]))
        elif parts:
            raise self.maker.stop(call, "a summary whose scope or `family` is computed")
        plain = all(one.keyword is None for one in call.args[:2])
        if tag == name and plain and len(call.args) == 2:
            return updated.with_changes(func=func)
        first, value = given.pop("name"), given.pop(SUMMARY[kind][1])
        if tag != name:
            first = f"{self.maker.quote}{tag}{self.maker.quote}"
        given.pop("family", None)
        more = [f"{key}={text}" for key, text in given.items()]
        made = self._protected(
            f"__tf2__.summary.{kind}({', '.join([first, value, *more])})"
        )
        assert isinstance(made, cst.Call)
        return made

    def _scopes(self, node: cst.CSTNode) -> list[Any]:
        """The names of the scopes around a node, the outermost first."""
        found = []
        for above in self.tree.ancestors(node):
            for item in reversed(above.items) if isinstance(above, cst.With) else ():
                call = item.item
                symbol = self.tree.symbol(getattr(call, "func", call)) or ""
                if symbol in ("tf.name_scope", "tf.variable_scope"):
                    args = call.args if isinstance(call, cst.Call) else ()
                    named = source_text(args[0].value) if args else ""
                    found.append(literal(named))
        return found[::-1]

    def decay(
        self, names: Sequence[str], call: cst.Call, rate: cst.BaseExpression
    ) -> str:
        """The schedule of a function of a rate and a step, of these names."""
        symbol = self.tree.symbol(call.func) or ""
        if symbol not in SCHEDULES or len(names) != 2:
            why = "a decay of the learning rate that is not known"
            raise self.maker.stop(call, why)
        given = self.maker.given_to(call, SCHEDULES[symbol])
        step = "x" if "x" in given else "global_step"
        if self.tree.code(given.pop(step)) != names[1]:
            raise self.maker.stop(call, "a decay of something else than the step")
        plain = self.maker.marked(self.expression(rate))
        texts = {}
        for name, value in given.items():
            text = self.maker.marked(self.expression(value))
            told = plain if text == names[0] else grouped(plain)  # as in `lr / 20`
            texts[name] = told.join(re.split(rf"(?<![\w.]){names[0]}\b(?!=)", text))
        return self.maker.take(schedule(symbol, texts))

    def optimizer(self, symbol: str, texts: dict[str, str], call: cst.Call) -> Code:
        """The optimizer of today for a call that makes one."""
        scheduled = self.is_scheduled(texts, call)
        return optimizer(symbol, texts, schedule=scheduled, rows=self._has_rows())

    def is_scheduled(self, texts: Mapping[str, str], call: cst.Call) -> bool:
        """The rate of an optimizer follows the step."""
        if re.search(r"schedules\.|Schedule\(", texts.get("learning_rate", "")):
            return True
        for one in call.args:
            for node in (one.value, self.mode.source_of(one.value)):
                value = self.mode.found.notes.values.get(node)
                if isinstance(value, Called) and value.symbol in SCHEDULES:
                    return True
                if node in self.maker.scheduled:
                    return True
        return False

    def _has_rows(self) -> bool:
        """Some gradients may be rows of a table."""
        text = self.tree.text
        words = ("embedding", "gather", "feature_column", "DenseFeatures")
        return any(word in text for word in words)

    def _arguments(
        self, original: cst.Call, updated: cst.Call, parameters: Sequence[str]
    ) -> dict[str, str]:
        try:
            found = match_arguments(updated, parameters)
        except UnknownArguments as problem:
            shown = self.tree.code(original.func)
            raise self.maker.stop(original, f"`{shown}` with {problem}") from None
        texts = {n: self.maker.marked(source_text(v)) for n, v in found.items()}
        return {n: t for n, t in texts.items() if t != "None"}

    def _parsed(self, code: Code) -> cst.BaseExpression:
        return cst.parse_expression(self.maker.take(code))

    def _protected(self, text: str) -> cst.BaseExpression:
        return cst.parse_expression(self.maker.protected(text))
