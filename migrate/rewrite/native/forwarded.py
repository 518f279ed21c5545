"""Functions that hand keywords on to a layer say which: ``def conv(x, n, **kw)``."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, walk
from ...model.layer_functions import LAYERS
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.spelling import argument_of

# What functions of tf.layers take where nobody says it.
_USUAL = {
    "activation": "None",
    "use_bias": "True",
    "strides": "1",
    "padding": "'valid'",
    "dilation_rate": "1",
    "kernel_initializer": "None",
    "kernel_regularizer": "None",
    "bias_regularizer": "None",
    "trainable": "True",
    "name": "None",
}


def with_keywords_said(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file whose functions have parameters for what their calls hand on."""
    tree = Tree(parsed.module, parsed.resolver)
    places: dict[cst.CSTNode, Any] = {}
    for node in parsed.each(cst.FunctionDef):
        if node.params.star_kwarg is not None:
            said = None if node.decorators else _said(tree, node)
            others = facts.texts_of_importers(parsed.path) if said else ()
            if said and not any(node.name.value in text for text in others):
                places |= said
    return changed(parsed, facts, places) if places else parsed


def _said(tree: Tree, node: cst.FunctionDef) -> dict[cst.CSTNode, Any] | None:
    """A function with its keywords as parameters; None where they are not seen."""
    holder = node.params.star_kwarg
    assert holder is not None
    reads = [n for n in walk(node.body, cst.Name) if n.value == holder.name.value]
    arg = tree.parent(reads[0]) if len(reads) == 1 else None
    call = tree.parent(arg) if isinstance(arg, cst.Arg) and arg.star == "**" else None
    if not isinstance(call, cst.Call) or tree.symbol(call.func) not in LAYERS:
        return None
    if call.args[-1] is not arg:
        return None
    params = node.params
    known = [one.name.value for one in (*params.params, *params.kwonly_params)]
    uses = tree.calls_of(node)
    if uses is None:
        return None
    given: list[set[str]] = []
    for use in uses:
        if any(one.star for one in use.args):
            return None
        given.append({one.keyword.value for one in use.args if one.keyword} - {*known})
    names = sorted(set().union(*given))
    always = set.intersection(*given) if given else set()
    taken = {one.value for one in walk(node.body, cst.Name)}
    taken -= {one.keyword.value for one in walk(node.body, cst.Arg) if one.keyword}
    if {*names} - always - {*_USUAL} or {*names} & taken or not given:
        return None
    bare = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    usual = [cst.parse_expression(_USUAL.get(name, "None")) for name in names]
    more = [
        cst.Param(cst.Name(name), default=value, equal=bare)
        for name, value in zip(names, usual, strict=True)
    ]
    handed = [argument_of(cst.Name(name), cst.Name(name)) for name in names]
    return {
        params: params.with_changes(params=[*params.params, *more], star_kwarg=None),
        call: lambda now: now.with_changes(args=[*now.args[:-1], *handed]),
    }
