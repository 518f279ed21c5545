"""Parts of a model that have optimizers, and maybe losses, of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from ...code.names import fresh
from . import tidy
from .method import Method
from .said import Said

if TYPE_CHECKING:
    from .task import Maker
    from .updates import Reader, Trained

_TOGETHER = (
    "all of its losses are of the weights before the step; TensorFlow 1.15 left open "
    "whether one update saw what another had written"
)


@dataclass(frozen=True)
class _Part:
    """An optimizer's attribute, what it is made by, and what it trains by what."""

    name: str
    maker: cst.BaseExpression
    variables: str
    loss: str


def read_parts(
    reader: Reader, updates: Sequence[cst.Call], trained: Trained
) -> Trained:
    """Adds what a Task says of updates of different variables, or raises Refused."""
    maker = reader.maker
    counting = [one for one in updates if "global_step" in reader.minimized(one)]
    if len(reader.counted) == 1 and not counting:
        counting = [updates[0]]
    if len(counting) != 1:
        why = "several updates count the step, or none does"
        raise maker.stop(updates[1], why)
    taken = {"model", "optimizer", "metrics", "loss"}
    methods: list[Method] = []
    parts = []
    for one in (*counting, *(each for each in updates if each not in counting)):
        part = _part(reader, one, one in counting, taken, methods)
        if maker.learning_rate(part.maker):
            why = "one of several optimizers has a rate that is computed of the step"
            raise maker.stop(one, why)
        made, setup = maker.constructed(part.maker)
        trained.setup += [line for line in setup if line not in trained.setup]
        if one in counting:
            trained.optimizer = made
        else:
            trained.others[part.name] = made
        parts.append(part)
    maker.parts.words.add("optimizers")
    trained.methods += _kept(parts)
    if methods:
        maker.parts.notes.append(_TOGETHER)
        trained.methods += [*methods, _step(reader, parts)]
    return trained


def _part(
    reader: Reader,
    update: cst.Call,
    counts: bool,
    taken: set[str],
    methods: list[Method],
) -> _Part:
    maker, mode = reader.maker, reader.mode
    given = reader.minimized(update)
    assert isinstance(update.func, cst.Attribute)
    optimizer = update.func.value
    if "var_list" not in given or "loss" not in given:
        raise maker.stop(update, "the model_fn updates its variables twice")
    if counts:
        reader.check_step(given.get("global_step"), update)
    for above in maker.tree.ancestors(update):
        if isinstance(above, cst.With) and reader.waits(above):
            raise maker.stop(update, "an update waits for another: which loss is left?")
    read = mode.needed([given["var_list"]])
    maker.parts.used.update(read.statements)
    said = Said(maker, mode)
    chosen = mode.source_of(given["var_list"])
    if isinstance(chosen, cst.List):
        items = [
            "*" * isinstance(one, cst.StarredElement) + said.expression(one.value)
            for one in chosen.elements
        ]
        variables = tidy.held("[]", items, 30)
    else:
        variables = said.expression(chosen)
    if "self.model." not in variables:
        raise maker.stop(update, "gradients of some variables only")
    own = "optimizer" if counts else _attribute(optimizer, variables)
    name = own if counts else fresh(own, taken)
    loss = "loss"
    if not reader.is_loss(given["loss"]):
        wanted = maker.tree.code(given["loss"])
        loss = fresh(wanted if wanted.isidentifier() else f"{name}_loss", taken)
        methods.append(maker.method(loss, given["loss"]))
    return _Part(name, optimizer, variables, loss)


def _attribute(optimizer: cst.BaseExpression, variables: str) -> str:
    """What an optimizer is called: as in the program, or after what it trains."""
    if isinstance(optimizer, cst.Name) and "opt" in optimizer.value:
        return optimizer.value
    first = variables.partition("self.model.")[2]
    return f"{first.partition('.')[0]}_optimizer"


def _kept(parts: Sequence[_Part]) -> list[Method]:
    names = [f'"{one.name}": self.{one.name}' for one in parts]
    variables = [f'"{one.name}": {one.variables}' for one in parts]
    return [
        Method("optimizers", (), [], tidy.held("{}", names, 15)),
        Method("variables", (), [], tidy.held("{}", variables, 15)),
    ]


def _step(reader: Reader, parts: Sequence[_Part]) -> Method:
    """The step: one forward pass, and gradients of the loss of each optimizer."""
    maker = reader.maker
    outputs, _ = maker.unpacked(set())
    given = f"{maker.features}, {maker.labels}, {outputs}"
    losses = dict.fromkeys(("loss", *(one.loss for one in parts)))
    computed = [f"{one} = self.{one}({given})\n" for one in losses]
    lines = [taped(maker, computed, "persistent=True")]
    maker.parts.words.add("train_step")
    for one in parts:
        lines.append(f'variables = self.variables()["{one.name}"]\n')
        lines.append(f"gradients = tape.gradient({one.loss}, variables)\n")
        lines.append(f"self.{one.name}.apply_gradients(zip(gradients, variables))\n")
    return Method("train_step", (maker.features, maker.labels), lines, '{"loss": loss}')


def taped(maker: Maker, lines: Iterable[str], options: str = "") -> str:
    """The forward pass of a step, and what is computed of it, on a tape."""
    outputs, _ = maker.unpacked(set())
    body = f"{outputs} = self.forward({maker.features}, training=True)\n"
    tape = f"with {maker.alias}.GradientTape({options}) as tape:\n"
    return tape + tidy.indented("".join((body, *lines)))
