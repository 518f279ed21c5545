"""Plain classes that are networks become models of Keras, with their layers in them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.edits import Put, changed
from ...code.tree import Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.spelling import FLAGS, RESERVED

_LIFTED = ("tf.estimator.ScopedModel", "tf.estimator.ScopedLayer")


def with_networks_as_models(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with its networks as models.

    A network is a class without a base that is called, and makes layers then or holds
    layers of Keras.
    """
    paths = facts.importers(parsed.path)
    importers = [one.read_text("utf-8", "replace") for one in paths]
    while True:
        tree = Tree(parsed.module, parsed.resolver)
        lifted = {
            one.name.value: one
            for one in parsed.each(cst.ClassDef)
            if any(tree.symbol(base.value) in _LIFTED for base in one.bases)
        }
        for one in parsed.each(cst.ClassDef):
            if one in lifted.values():
                continue
            network = _Network(tree, one, lifted, importers)
            if not network.is_one():
                continue
            parsed = changed(parsed, facts, network)
            break
        else:
            return parsed


class _Network(cst.CSTTransformer):
    """Makes a model of one class."""

    def __init__(
        self,
        tree: Tree,
        holder: cst.ClassDef,
        lifted: dict[str, cst.ClassDef],
        importers: Sequence[str],
    ) -> None:
        self.tree = tree
        self.holder = holder
        self.lifted = lifted
        # The class whose layers it takes over, and what makes and calls it.
        self.layers: cst.ClassDef | None = None
        self.makes: cst.CSTNode | None = None
        self.calls: cst.CSTNode | None = None
        self.base = ""
        self.importers = importers
        # Plain values of the call that the layers are made of.
        self.values: list[cst.SimpleStatementLine] = []
        # Attributes that have a meaning for models of Keras, under other names.
        self.renamed: dict[str, str] = {}

    def _read_elsewhere(self, names: set[str]) -> bool:
        """Code outside of the class reads attributes of these names."""
        inside = set(walk(self.holder))
        return any(
            one.attr.value in names
            and one not in inside
            and self.tree.resolver.qualified(one) is None
            for one in self.tree.each(cst.Attribute)
        )

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        name = self.renamed.get(original_node.attr.value)
        held = original_node.value
        if name is None or not isinstance(held, cst.Name) or held.value != "self":
            return updated_node
        inside = any(one is self.holder for one in self.tree.ancestors(original_node))
        return (
            updated_node.with_changes(attr=cst.Name(name)) if inside else updated_node
        )

    def is_one(self) -> bool:
        """Whether the class is a network that can be a model."""
        bases = [self.tree.code(one.value) for one in self.holder.bases]
        if bases not in ([], ["object"]):
            return False
        methods = self._methods()
        if "__call__" not in methods or "call" in methods:
            return False
        attributes = {
            one.attr.value
            for one in walk(self.holder, cst.Attribute)
            if isinstance(one.value, cst.Name) and one.value.value == "self"
        }
        if set(methods) & RESERVED:
            return False
        taken = attributes & RESERVED
        if taken and self._read_elsewhere(taken):
            return False
        self.renamed = {name: f"{name}_layer" for name in taken}
        self._find_layers(methods["__call__"])
        init = methods.get("__init__")
        keras = init is not None and any(
            isinstance(one, cst.Call)
            and (self.tree.symbol(one.func) or "").startswith("tf.keras.layers.")
            for one in walk(init)
        )
        if self.layers is None and not keras:
            return False
        if self.layers is not None and not self._fits(attributes):
            return False
        tf = self._tensorflow()
        self.base = f"{tf}.estimator.ScopedModel" if self.layers else "tf_keras.Model"
        return bool(tf) or self.layers is None

    def _tensorflow(self) -> str:
        for one in self.tree.each(cst.ImportAlias):
            if self.tree.code(one).startswith("tensorflow"):
                name = one.evaluated_alias or one.evaluated_name
                if one.evaluated_name in ("tensorflow", "tensorflow.compat.v1"):
                    return name
        return ""

    def _methods(self) -> dict[str, cst.FunctionDef]:
        return {
            one.name.value: one
            for one in self.holder.body.body
            if isinstance(one, cst.FunctionDef)
        }

    def _find_layers(self, method: cst.FunctionDef) -> None:
        """``model = Lifted(self)`` and ``net = model(net)``."""
        for one in walk(method.body, cst.SimpleStatementLine):
            small = only_small(one)
            value = small.value if isinstance(small, (cst.Assign, cst.Return)) else None
            if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Name):
                continue
            name = value.func.value
            if name in self.lifted and isinstance(small, cst.Assign):
                given = [self.tree.code(arg.value) for arg in value.args]
                told = [name for name in given if name != "self"]
                values = [self._plain_value(method, one, name) for name in told]
                if self.makes is not None or None in values:
                    return
                self.makes = one
                self.values = [value for value in values if value is not None]
                self.layers = self.lifted[name]
                self.held = self.tree.code(small.targets[0].target)
            elif self.makes is not None and name == self.held:
                self.calls = one

    def _plain_value(
        self, method: cst.FunctionDef, makes: cst.CSTNode, name: str
    ) -> cst.SimpleStatementLine | None:
        """The statement that tells a name from the object alone, for the layers."""
        own = self.tree.resolver.scopes.opened[method].bindings
        bound = [*own.get(name, ())]
        made = bound[0].value if len(bound) == 1 else None
        line = self.tree.statement(made) if made is not None else None
        uses = self.tree.uses(bound[0]) if made is not None else []
        if (
            made is None
            or not isinstance(line, cst.SimpleStatementLine)
            or not isinstance(only_small(line), cst.Assign)
            or [self.tree.statement(one) for one in uses] != [makes]
            or any(
                one.value in {*own} - {"self"}
                for one in walk(made, cst.Name)
                if one in self.tree.resolver.scopes.loads
            )
        ):
            return None
        return line

    def _fits(self, attributes: set[str]) -> bool:
        """Its layers have other names than what the class has."""
        assert self.layers is not None
        if self.calls is None:
            return False
        uses = [
            one
            for one in self.tree.each(cst.Name)
            if one.value == self.layers.name.value
        ]
        own = {
            one.attr.value
            for one in walk(self.layers, cst.Attribute)
            if isinstance(one.value, cst.Name) and one.value.value == "self"
        }
        return len(uses) == 2 and not (own - {"owner"}) & attributes

    # -- the class

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef | cst.RemovalSentinel:
        if original_node is self.layers:
            return cst.RemoveFromParent()
        if original_node is not self.holder:
            return updated_node
        base = cst.Arg(cst.parse_expression(self.base))
        body = list(updated_node.body.body)
        if not any(
            isinstance(one, cst.FunctionDef) and one.name.value == "__init__"
            for one in body
        ):
            made = cst.parse_statement("def __init__(self):\n    super().__init__()\n")
            assert isinstance(made, cst.FunctionDef)
            body.insert(0, self._with_layers(made))
        return updated_node.with_changes(
            bases=[base],
            lpar=cst.MaybeSentinel.DEFAULT,
            rpar=cst.MaybeSentinel.DEFAULT,
            body=updated_node.body.with_changes(body=body),
        )

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        block = self.tree.parent(original_node)
        if block is None or self.tree.parent(block) is not self.holder:
            return updated_node
        name = original_node.name.value
        if name == "__call__":
            call = updated_node.with_changes(name=cst.Name("call"))
            flag = self._flag(original_node)
            names = [one for one in walk(call, cst.Name) if one.value == flag]
            told = {one: cst.Name("training") for one in names}
            return call.visit(Put(told, call))  # type: ignore[return-value]
        if name != "__init__":
            return updated_node
        first = cst.parse_statement("super().__init__()\n")
        body = updated_node.body
        assert isinstance(body, cst.IndentedBlock)
        statements = list(body.body)
        place = 1 if _is_text(statements[0]) else 0
        statements.insert(place, first)
        changed = updated_node.with_changes(body=body.with_changes(body=statements))
        return self._with_layers(changed)

    def _flag(self, method: cst.FunctionDef) -> str:
        """What a call is told of training under a name that only it knows."""
        names = [one.name.value for one in method.params.params]
        inside = {one.value for one in walk(method, cst.Name)}
        flags = [one for one in names[2:] if one in FLAGS]
        named = any(
            one.keyword is not None and one.keyword.value in flags
            for one in self.tree.each(cst.Arg)
        )
        named = named or any(
            f"{one}=" in text for one in flags for text in self.importers
        )
        return "" if named or "training" in inside or not flags else flags[0]

    def _with_layers(self, init: cst.FunctionDef) -> cst.FunctionDef:
        """The constructor that makes the layers as well."""
        if self.layers is None:
            return init
        made = self._method_of_layers("__init__")
        assert isinstance(made.body, cst.IndentedBlock)
        values = [one.with_changes(leading_lines=[]) for one in self.values]
        lines: list[cst.BaseStatement] = [*values]
        lines += [
            one.visit(_Owned())  # type: ignore[misc]
            for one in statements_of(made.body)
            if self.tree.code(one).strip()
            not in ("super().__init__()", "self.owner = owner")
        ]
        body = init.body
        assert isinstance(body, cst.IndentedBlock)
        return init.with_changes(body=body.with_changes(body=[*body.body, *lines]))

    def _method_of_layers(self, name: str) -> cst.FunctionDef:
        assert self.layers is not None
        for one in self.layers.body.body:
            if isinstance(one, cst.FunctionDef) and one.name.value == name:
                return one
        raise AssertionError(name)

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> (
        cst.SimpleStatementLine
        | cst.FlattenSentinel[cst.BaseStatement]
        | cst.RemovalSentinel
    ):
        if original_node is self.makes or original_node in self.values:
            return cst.RemoveFromParent()
        if original_node is not self.calls:
            return updated_node
        call = self._method_of_layers("call")
        assert isinstance(call.body, cst.IndentedBlock)
        small = only_small(original_node)
        assert isinstance(small, (cst.Assign, cst.Return))
        assert isinstance(small.value, cst.Call)
        found: list[cst.BaseStatement] = []
        names = [one.name.value for one in call.params.params][1:]
        for name, arg in zip(names, small.value.args, strict=False):
            shown = self.tree.code(arg.value)
            if shown != name:
                found.append(cst.parse_statement(f"{name} = {shown}\n"))
        for one in statements_of(call.body):
            owned = one.visit(_Owned())
            assert isinstance(owned, cst.BaseStatement)
            found.append(owned)
        last = only_small(found[-1])
        if isinstance(small, cst.Assign) and isinstance(last, cst.Return):
            target = self.tree.code(small.targets[0].target)
            assert last.value is not None
            value = self.tree.module.code_for_node(last.value).strip()
            found.pop()
            if target != value:
                found.append(cst.parse_statement(f"{target} = {value}\n"))
        return cst.FlattenSentinel(found)


def _is_text(node: cst.BaseStatement) -> bool:
    return (
        isinstance(node, cst.SimpleStatementLine)
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.SimpleString)
    )


class _Owned(cst.CSTTransformer):
    """``owner.x`` and ``self.owner.x`` as ``self.x``."""

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        return cst.Name("self") if original_node.value == "owner" else updated_node

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        value = updated_node.value
        if (
            isinstance(original_node.value, cst.Name)
            and original_node.value.value == "self"
            and original_node.attr.value == "owner"
        ):
            return cst.Name("self")
        return updated_node.with_changes(value=value, attr=original_node.attr)
