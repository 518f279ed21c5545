"""Weights that a loop of the call makes: a list of them, one for each round."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .code import Refused, dotted, parsed
from .text import attribute_of_self, names_in, stores_in

if TYPE_CHECKING:
    from .classes import Lifted
    from .weights import Weight


def loop_around(lifted: Lifted, statement: ast.stmt) -> ast.For | None:
    """The one loop around a statement, where every round comes to it."""
    around = [n for n in lifted.around(statement) if not isinstance(n, ast.With)]
    (loop,) = around if len(around) == 1 else (None,)
    if not isinstance(loop, ast.For) or loop.orelse:
        return None
    targets = {one.id for one in names_in(loop.target)}
    stored = {one.id for part in loop.body for one in stores_in(part)}
    return None if targets & stored else loop


def check_names(lifted: Lifted, node: ast.Call, name: str) -> None:
    """Refuses a variable that has the same name in each round."""
    said = [name]
    for block in lifted.around(node):
        entered = [item.context_expr for item in getattr(block, "items", ())]
        said += [lifted.of(one.args[0]) for one in entered if getattr(one, "args", ())]
    said += [lifted.value(one) for one in said]
    if not {n.id for one in said for n in names_in(parsed(one))} & lifted.each_round:
        raise Refused(f"the rounds of a loop share the variables of `{name[1:-1]}`")


def move_rounds(
    lifted: Lifted, loop: ast.For, statement: ast.stmt, weight: Weight
) -> None:
    """Makes a list of weights before, which the loop goes over besides."""
    assert isinstance(statement, ast.Assign)
    targets, overs = [loop.target], [loop.iter]
    over = loop.iter
    made = isinstance(over, ast.Call) and dotted(over.func) == "zip"
    zipped = over.args if isinstance(over, ast.Call) and made else []
    read = {one.id for one in names_in(ast.parse(weight.code))}
    if all(map(attribute_of_self, zipped[1:])) and isinstance(loop.target, ast.Tuple):
        given = loop.target.elts[1:]
        if zipped[1:] and not read & {n.id for one in given for n in names_in(one)}:
            targets, overs = loop.target.elts, zipped
    several = targets[0].elts if isinstance(targets[0], ast.Tuple) else []
    first = ", ".join(map(lifted.of, several)) or lifted.of(targets[0])
    shown = [f"({first})" if several else first]
    name = f"self.{weight.attribute}"
    shown += [*map(lifted.of, targets[1:]), dotted(statement.targets[0])]
    held = [*map(lifted.of, overs), name]
    lifted.source.put(loop.target, ", ".join(shown))
    lifted.source.put(loop.iter, f"zip({', '.join(held)})")
    lifted.source.drop(statement)
    lifted.rounds.add(weight.attribute)
    rounds = lifted.for_init(held[0], f"the weight `{weight.attribute}`")
    head, append = f"for {first} in ", f"    {name}.append({weight.code})"
    if weight.build:
        head += f"{lifted.in_build(rounds)}:"
        lifted.add_to_build([f"{name} = []", head, append])
    else:
        lifted.add_to_init([f"{name} = []", f"{head}{rounds}:", append], statement)
