"""Programs of TF1 that use tf.contrib, with what they use of it beside them."""

from __future__ import annotations

import libcst as cst
from tfmigrate.bring import contrib
from tfmigrate.symbols.nodes import walk
from tfmigrate.symbols.resolver import Resolver

__all__ = ["renamed"]


def renamed(programs: dict[str, str]) -> dict[str, str]:
    """The programs (by file name) for plain TensorFlow 2, and their contrib module.

    Only names change, and ``tf`` becomes TensorFlow's v1 namespace.
    """
    trees = {}
    wanted = set()
    for name, text in programs.items():
        module = cst.parse_module(text)
        found = {}
        done: set[cst.CSTNode] = set()
        resolver = Resolver(module)
        for node in walk(module):
            if isinstance(node, (cst.Import, cst.ImportFrom)):
                done.update(walk(node))
            if node in done or not isinstance(node, (cst.Attribute, cst.Name)):
                continue
            symbol = resolver.resolve(node) or ""
            if symbol.startswith(("tf.contrib.", "tf.layers", "tf.nn.rnn_cell")):
                if isinstance(node, cst.Name) and node not in resolver.scopes.loads:
                    continue
                place = contrib.place(symbol)
                assert not isinstance(place, contrib.Missing), place
                found[node] = place
                done.update(walk(node))
                if isinstance(place, contrib.Brought) and not place.is_namespace:
                    wanted.add(place.symbol)
        trees[name] = (module, found)
    made = contrib.bring(wanted)
    results = {f"{contrib.MODULE}.py": made.text}
    for name, (module, found) in trees.items():
        imports = {f"import {contrib.MODULE}", "import tensorflow.compat.v1 as tf"}
        changed = {}
        for node, place in found.items():
            if isinstance(place, contrib.Brought):
                named = made.names.get(place.symbol)
                code = f"{contrib.MODULE}.{named}" if named else contrib.MODULE
                code += place.below and f".{place.below}"
            else:
                imports.add(f"import {place.module} as {place.module.split('.')[-1]}_")
                code = f"{place.module.split('.')[-1]}_" + (
                    place.name and f".{place.name}"
                )
            changed[node] = cst.parse_expression(code)
        text = module.visit(Replace(changed)).code  # type: ignore[union-attr]
        head = "\n".join(sorted(imports)) + "\ntf.disable_v2_behavior()\n"
        results[name] = text.replace("import tensorflow as tf\n", head)
    return results


class Replace(cst.CSTTransformer):
    def __init__(self, changed: dict[cst.CSTNode, cst.BaseExpression]) -> None:
        super().__init__()
        self.changed = changed

    def on_leave(self, original_node, updated_node):  # type: ignore[no-untyped-def]
        return self.changed.get(original_node, updated_node)
