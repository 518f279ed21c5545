"""A model function whose specification a head makes becomes a task of that head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.edits import changed
from ...code.statements import without_docstring
from ...code.tree import Tree, only_small
from ...model.in_mode import Called
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .canned import task_of_head
from .code import LAYER_WORDS
from .method import Method
from .said import Said
from .slices import HEAD, is_step
from .updates import NO_SUMMARIES, Trained, clipped

if TYPE_CHECKING:
    from .task import Maker

_CLIPPED = "tf.contrib.estimator.clip_gradients_by_norm"


@dataclass
class Headed:
    """The class of training.py that the Task extends, and what it is made of."""

    name: str
    options: list[str]
    setup: list[str]
    logits: cst.BaseExpression
    trained: Trained


def with_parts_inside(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with heads and networks that a module makes in the model functions.

    Each model function that asks one for more makes it.
    """
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, list[cst.CSTNode]] = {}
    for name, bound in parsed.resolver.scopes.module_scope.bindings.items():
        made = bound[0].value if len(bound) == 1 else None
        if not isinstance(made, cst.Call) or not _is_part(tree, made):
            continue
        functions = {tree.function(one) for one in tree.uses(bound[0])}
        others = facts.texts_of_importers(parsed.path)
        line = tree.statement(bound[0].node)
        if any(name in text for text in others) or only_small(line) is None:
            continue
        tops = [
            without_docstring(one.body)[:1]
            for one in functions
            if isinstance(one, cst.FunctionDef) and is_model_fn(one)
        ]
        if len(tops) == len(functions) > 0 and all(tops):
            inside = line.with_changes(leading_lines=[])
            for (first,) in tops:
                edits[first] = [*edits.get(first, [first])[:-1], inside, first]
            edits[line] = []
    return changed(parsed, facts, edits) if edits else parsed


def _is_part(tree: Tree, made: cst.Call) -> bool:
    """A head, or an object of a class of the file that makes layers."""
    kind = tree.resolver.definition(made.func)
    return (tree.symbol(made.func) or "").endswith("_head") or (
        isinstance(kind, cst.ClassDef)
        and LAYER_WORDS.search(tree.code(kind)) is not None
    )


def read_head(maker: Maker) -> Headed:
    """The head that the model function asks for its specification, or Refused."""
    spec = maker.train.spec
    assert spec is not None
    head = spec[HEAD].value
    assert isinstance(head, Called)
    assert head.node is not None
    if not maker.train.is_own(head):
        raise maker.stop(maker.defined, "its head is made elsewhere")
    _, setup = maker.setup([head.node])
    said = Said(maker, maker.train, init=True)
    arguments = ", ".join(map(said.argument, head.node.args))
    name, options = task_of_head(f"{head.symbol}({maker.marked(arguments)})")
    keywords = {one.partition("=")[0] for one in options}
    maker.parts.words |= {name, *keywords, *(f"{name}({one})" for one in keywords)}
    for mode in maker.modes.values():
        assert mode.spec is not None
        if maker.tree.code(mode.spec["logits"].node) != maker.tree.code(
            spec["logits"].node
        ):
            raise maker.stop(maker.defined, "each mode has logits of its own")
        _check_labels(maker, name, mode.spec.get("labels"))
    trained = _Optimizer(maker).trained()
    if "regularization_losses" in spec:
        trained.methods += _regularized(maker, spec["regularization_losses"].node)
    return Headed(name, options, setup, spec["logits"].node, trained)


def _regularized(maker: Maker, node: cst.BaseExpression) -> list[Method]:
    """A loss that has those of regularizers in it, and their mean as a metric."""
    maker.parts.used.update(maker.train.needed([node]).statements)
    text = Said(maker, maker.train).expression(maker.train.source_of(node))
    if text != "self.model.losses":
        raise maker.stop(node, "a head with other losses besides its own")
    given = (maker.features, maker.labels, "outputs")
    shown = ", ".join(given)
    mean = f"tf_keras.metrics.Mean({maker.quote}regularization_loss{maker.quote})"
    update = f"self.metrics[-1].update_state(sum({text}))\n"
    return [
        Method("more_metrics", (), [], f"[*super().more_metrics(), {mean}]"),
        Method("loss", given, [], f"super().loss({shown}) + sum({text})"),
        Method("update_metrics", given, [f"super().update_metrics({shown})\n", update]),
    ]


def _check_labels(maker: Maker, name: str, labels) -> None:  # type: ignore[no-untyped-def]
    """Labels are those of the input function, a head may see them as a column."""
    if labels is None:
        return
    node = labels.node
    if isinstance(node, cst.IfExp):
        test = maker.train.decided(node.test)
        if test is not None:
            node = node.body if test.value else node.orelse
    own = maker.labels
    plain = [own]
    if name != "MultiLabelClassifier":
        plain += [f"tf.expand_dims({own}, -1)", f"tf.expand_dims({own}, axis=-1)"]
        plain += [f"tf.expand_dims({own}, 1)", f"tf.reshape({own}, [-1, 1])"]
    if maker.marked(maker.tree.code(node)) not in plain:
        raise maker.stop(node, "a head that gets other labels")


class _Optimizer:
    """How the head is told to train."""

    def __init__(self, maker: Maker) -> None:
        self.maker = maker
        self.mode = maker.train

    def trained(self) -> Trained:
        """The optimizer, and what it does with gradients."""
        maker, spec = self.maker, self.mode.spec
        assert spec is not None
        if "optimizer" in spec:
            node = spec["optimizer"].node
            value = spec["optimizer"].value
            if isinstance(value, Called) and value.symbol == _CLIPPED:
                node = value.node or node
        elif "train_op_fn" in spec:
            node = self._minimizing(spec["train_op_fn"].node)
        else:
            raise maker.stop(spec[HEAD].node, "a head without an optimizer")
        trained = Trained()
        symbol = maker.tree.symbol(node.func) if isinstance(node, cst.Call) else None
        if isinstance(node, cst.Call) and symbol == _CLIPPED:
            given = match_arguments(node, ("optimizer", "clip_norm"))
            if maker.tree.holds(node):
                maker.parts.used.add(maker.tree.statement(node))
            trained.methods.append(clipped(maker, given["clip_norm"]))
            node = given["optimizer"]
        trained.methods += maker.learning_rate(node)
        trained.optimizer, trained.setup = maker.constructed(node)
        return trained

    def _minimizing(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The optimizer of a function that only minimizes the loss it is given."""
        maker = self.maker
        node = self.mode.source_of(node)
        names, body = maker.decay_function(node, summaries=True)
        defined = maker.tree.resolver.definition(node)
        if isinstance(defined, cst.FunctionDef):
            maker.parts.used.add(defined)
            if ".summary." in maker.tree.code(defined):
                note = NO_SUMMARIES.format(f"`{defined.name.value}`", "the loss")
                maker.parts.notes.append(note)
        if (
            not isinstance(body, cst.Call)
            or not isinstance(body.func, cst.Attribute)
            or body.func.attr.value != "minimize"
        ):
            raise maker.stop(node, "it is not seen how the head trains")
        try:
            given = match_arguments(body, ("loss", "global_step"))
        except UnknownArguments as problem:
            raise maker.stop(node, f"minimize with {problem}") from None
        step = given.get("global_step")
        value = self.mode.found.notes.values.get(step) if step is not None else None
        counts = value is not None and is_step(value)
        if isinstance(step, cst.Call):
            counts = counts or maker.is_step_call(step)
        if [maker.tree.code(given["loss"])] != names or not counts:
            raise maker.stop(node, "it is not seen how the head trains")
        return body.func.value
