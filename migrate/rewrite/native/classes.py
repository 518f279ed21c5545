"""Lifted classes of a program as plain classes of Keras."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property

import libcst as cst

from ...code.names import fresh
from ...code.texts import camel
from ...model.contrib_functions import SIGNATURES, contrib_name
from ...model.layer_functions import LAYERS, LayerFunction
from ...names.ast_nodes import children as ast_children
from ...names.ast_nodes import parents_of, tree_of
from ...names.ast_nodes import walk as walk_ast
from ...names.dotted import dotted_node
from ...project.facts import ParsedModule, ProjectFacts
from ...project.long_lines import WIDTH
from ..layers.model_functions import is_model_fn
from ..layers.spelling import RESERVED
from .by_name import Started, find_started, hold_layers
from .code import Refused, arguments_of, call, dotted, is_absent, literal, parsed
from .held_choices import with_classes_held
from .layers import (
    RANKS,
    Layers,
    Plain,
    initializer,
    layers,
    regularizer,
)
from .plain_names import with_plain_names, words_written
from .recurrent import CELLS, RECURRENT, cell, cell_name, recurrent
from .shared_tables import share_tables
from .sharing import has_mode_branches, merge_shared
from .sites import simplified
from .text import (
    HELD,
    Text,
    attribute_of_self,
    bound_names,
    elements,
    fitted,
    loads_in,
    names_in,
    on_one_line,
    parameters_of,
    place_of,
    stores_in,
    without_gone,
)
from .tidy import folded, without_unread_initializers
from .towers import with_towers_unfolded
from .weights import COLUMNS, SEQUENCE_INPUT, move_weights, sequence_input

_KERAS = "tf_keras.layers."
_BASES = {
    "tf.estimator.ScopedModel": "tf_keras.Model",
    "tf.estimator.ScopedLayer": "tf_keras.layers.Layer",
}
_SCOPES = ("tf.variable_scope", "tf.name_scope", "tf.device")
# What a model function is given.
_TASK = re.compile(r"\blabels\b.*\bmode\b", re.DOTALL)
_ARG_SCOPES = ("tf.contrib.framework.arg_scope", "tf.contrib.slim.arg_scope")
# Layers of the program's own whose defaults are written out later.
_OTHER_DEFAULTS = frozenset(
    f"tf.keras.layers.{kind}"
    for kind in ("LSTM", "GRU", "LSTMCell", "GRUCell", "CuDNNLSTM", "CuDNNGRU")
)
# Classes of training.py.
_LAYERS = {
    *("DenseFeatures", "ExampleNormalization", "LinearModel", "SampleNormalization"),
    *("SequenceFeatures", "Tables"),
}
_SPLIT = re.compile(r"\.split\(['\"],['\"]\)")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
# Functions that change the elements of a tensor, each for itself.
_ELEMENTWISE = (
    "tf.nn.relu", "tf.nn.elu", "tf.nn.dropout", "tf.identity", "tf.nn.tanh",
    "tf.sigmoid", "tf.tanh", "tf.nn.leaky_relu", "tf.nn.relu6",
)  # fmt: skip
# Functions that give one tensor.
_WHOLE = ("tf.concat", "tf.constant", "tf.convert_to_tensor", "tf.nn.l2_normalize")
_SUMMARIES = tuple(
    f"tf.summary.{kind}" for kind in ("scalar", "histogram", "image", "text", "audio")
)
_PENALTIES = ("l1_regularizer", "l2_regularizer", "l1_l2_regularizer")


def plain_classes(
    parsed: ParsedModule,
    facts: ProjectFacts,
    always_drops: bool | None = None,
    *,
    shared_columns: bool = False,
    started: Mapping[str, Started] | None = None,
    beside: Sequence[ParsedModule] = (),
) -> ParsedModule:
    """The module with its lifted classes as classes of Keras; raises Refused.

    `always_drops` is what `with_constant_shares` told of it before it was lifted;
    `shared_columns` says that the program has columns that share an embedding;
    `started`, by patterns of names, gets the layers that a warm start means. Classes
    of other files are in `beside`, as they were lifted.
    """
    if ".estimator.Scoped" not in parsed.source.text:
        return parsed
    text = with_classes_held(parsed.source.text)
    if text != parsed.source.text:
        parsed = facts.module_of(parsed.source.with_text(text))
    module = Module(parsed, facts)
    if module.reuses:
        for one in module.classes:
            one.read()
        code = with_towers_unfolded(module)
        if code is not None:
            module = Module(facts.module_of(parsed.source.with_text(code)), facts)
    module.always_drops = always_drops
    module.shared_columns = shared_columns
    module.started = started or {}
    module.beside = beside
    found = facts.module_of(parsed.source.with_text(module.plain()))
    _check_made_once(found, {one.name for one in module.classes})
    return found


def _layer_maker(node: ast.AST) -> str | None:
    """The name of a function that only makes a layer."""
    last = node.body[-1] if isinstance(node, ast.FunctionDef) else None
    value = last.value if isinstance(last, ast.Return) else None
    func = dotted(value.func) if isinstance(value, ast.Call) else None
    layer = (func or "").startswith("tf_keras.layers.")
    return node.name if isinstance(node, ast.FunctionDef) and layer else None


def _check_made_once(parsed: ParsedModule, names: set[str]) -> None:
    """Models that a function makes whenever it is called have no place in a Task."""
    model_functions = {
        one.name.value for one in parsed.each(cst.FunctionDef) if is_model_fn(one)
    }
    tree = tree_of(parsed.source.text)
    above = parents_of(tree)
    # Classes of one layer may have become functions that make it.
    made = {*names, *filter(None, map(_layer_maker, tree.body))}
    for node in above:
        if not isinstance(node, ast.Call) or dotted(node.func) not in made:
            continue
        around: ast.AST = node
        while around in above and not isinstance(around, ast.FunctionDef):
            around = above[around]
        if isinstance(around, ast.FunctionDef) and around.name not in (
            "__init__",
            "build",
            *model_functions,
        ):
            raise Refused(f"`{around.name}` makes its layers whenever it is called")
        user = above[node]
        if isinstance(user, ast.Call) and user.func is node and around is not tree:
            raise Refused(f"`{dotted(node.func)}` is made where it is called: name it")
        name = dotted(user.targets[0]) if isinstance(user, ast.Assign) else ""
        if name and sum(one.id == name for one in stores_in(around)) > 1:
            raise Refused(f"`{name}` is a model, and what it gives as well")


def training_words(parsed: ParsedModule) -> frozenset[str]:
    """What the classes of a plain module take from training.py."""
    nodes = [*walk_ast(tree_of(parsed.source.text))]
    read = {one.id for one in nodes if isinstance(one, ast.Name)}
    read -= {one.name for one in nodes if isinstance(one, ast.ClassDef)}
    words = {"summary"} if "__tf2__.summary." in parsed.source.text else set()
    bare = re.findall(r"self\.(\w+) = [\w.]*(?:Dropout|Noise)", parsed.source.text)
    for one in nodes:
        if isinstance(one, ast.If) and dotted(one.test) == "training":
            inside = ast.Module(one.body, [])
            called = {attribute_of_self(c.func) for c in walk_ast(inside, ast.Call)}
            words |= {"training_layers"} if called - {None, *bare} else set()
    return frozenset(read & (CELLS | _LAYERS) | words)


def _splits(text: str) -> bool:
    """Whether ``"64,32".split(",")`` gives texts that nothing makes numbers."""
    return any(
        _SPLIT.search(line) and not re.search(r"\b(int|float)\b", line)
        for line in text.splitlines()
    )


# What programs call their options: no model has these names.
_OPTIONS = ("params", "hparams", "hp", "FLAGS", "flags", "args", "config", "cfg")


class Module:
    """A module, and its lifted classes while they change."""

    def __init__(self, parsed: ParsedModule, facts: ProjectFacts) -> None:
        self.others = [*facts.texts_of_importers(parsed.path)]
        self.resolver = parsed.resolver
        self.symbols: dict[str, str | None] = {}
        self.code = parsed.source.text
        # What the program's author wrote; what is not in it may be broken anew.
        raw = parsed.source.raw.decode(parsed.source.encoding, "replace")
        self.written = raw if parsed.source.notebook is None else self.code
        self.words = words_written(parsed.source)
        self.stem = parsed.path.stem
        self.text = Text(self.code)
        self.tree = ast.Module(self.text.body, [])
        self.quote = '"' if self.code.count('"') > self.code.count("'") else "'"
        self.named = re.search(r"\.(op\.)?name\b", self.code) is not None
        # Layers of one scope and name share their variables where this is asked for.
        self.reuses = b"reuse" in parsed.source.raw
        # Whether wrappers of cells drop in each mode; None where there are none.
        self.always_drops: bool | None = None
        self.shared_columns = False
        self.started: Mapping[str, Started] = {}
        self.parsed, self.facts = parsed, facts
        self.beside: Sequence[ParsedModule] = ()
        self.classes: list[Lifted] = []
        self._find(self.text.body, frozenset())

    @cached_property
    def known(self) -> dict[str, Lifted]:
        """Lifted classes, of other files too, by what this one calls them."""
        found: dict[str, Lifted] = {}
        for other in self.beside:
            if other.path != self.parsed.path:
                module = Module(other, self.facts)
                module.beside = self.beside
                for one in module.classes:
                    one.read()
                    move_weights(one, COLUMNS)
                    found[f"{module.stem}.{one.name}"] = one
        called = {dotted(one.func) for one in walk_ast(self.tree, ast.Call)}
        places = {name: ".".join(self.imports(name).split(".")[-2:]) for name in called}
        found = {name: found[at] for name, at in places.items() if at in found}
        return found | {one.name: one for one in self.classes}

    def imports(self, code: str) -> str:
        """The dotted name of what a file takes from elsewhere than TensorFlow."""
        if not _NAME.fullmatch(code) or self.symbol(code) is not None:
            return ""
        told = self.resolver.qualified(dotted_node(code)) or ""
        return told if "." in told else ""

    @cached_property
    def splits(self) -> bool:
        """Sizes may be texts, which TensorFlow 1 took for numbers."""
        return any(map(_splits, (self.code, *self.others)))

    def _find(self, body: Sequence[ast.stmt], hidden: frozenset[str]) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                symbols = [self.symbol(self.text.of(b), hidden) for b in node.bases]
                if len(symbols) == 1 and symbols[0] in _BASES:
                    self.classes.append(Lifted(self, node, symbols[0], hidden))
                    continue
                self._find(node.body, hidden)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._find(node.body, hidden | bound_names(node))
            else:
                for block in ("body", "orelse", "finalbody"):
                    inner = getattr(node, block, None)
                    if isinstance(inner, list):
                        self._find(inner, hidden)

    def symbol(self, code: str, hidden: Container[str] = ()) -> str | None:
        """TensorFlow's name of an expression; `hidden` are names of functions."""
        if not _NAME.fullmatch(code) or code.partition(".")[0] in hidden:
            return None
        if code not in self.symbols:
            self.symbols[code] = self.resolver.resolve(dotted_node(code))
        return self.symbols[code]

    def value(self, name: str) -> str | None:
        """What the module gives to a name, in one place."""
        found = [
            one for top in self.text.body for one in stores_in(top) if one.id == name
        ]
        if len(found) != 1:
            return None
        for one in self.text.body:
            if isinstance(one, ast.Assign) and one.targets == found:
                return self.text.of(one.value)
        return None

    def entry(self, asked: ast.Subscript, inside: ast.ClassDef) -> str | None:
        """The initializer that one dict of a class, or else of all, has for a key."""
        for place in ([inside], self.text.body):
            found = [
                value
                for top in place
                for one in walk_ast(top, ast.Dict)
                for key, value in zip(one.keys, one.values, strict=True)
                if key is not None and ast.dump(key) == ast.dump(asked.slice)
            ]
            if found:
                break
        made = found[0] if len(found) == 1 else None
        if isinstance(made, ast.Name) and place == [inside]:
            return made.id
        if not isinstance(made, ast.Call):
            return None
        symbol = self.symbol(dotted(made.func)) or ""
        return self.text.of(made) if "initializer" in symbol else None

    def first(self, code: str) -> str | None:
        """The Keras initializer or regularizer that a global expression means."""
        node = parsed(code)
        if isinstance(node, ast.Name):
            code = self.value(node.id) or self.only_value(node.id) or code
            node = parsed(code)
        if not isinstance(node, ast.Call) or not all(
            isinstance(one, ast.Constant)
            for value in (*node.args, *(k.value for k in node.keywords))
            for one in [value.operand if isinstance(value, ast.UnaryOp) else value]
        ):
            return None
        reader = Plain(self.symbol, self.quote)
        for kind in (initializer, regularizer):
            try:
                found = kind(code, reader)
            except Refused:
                continue
            return found if found and found != code else None
        return None

    def reads(self, attribute: str, without: ast.ClassDef) -> bool:
        """Code outside of a class reads an attribute of this name."""
        inside = {*walk_ast(without)}
        return any(
            isinstance(one, ast.Attribute)
            and one.attr == attribute
            and one not in inside
            and attribute_of_self(one) is None
            and dotted(one.value) not in _OPTIONS
            for top in self.text.body
            for one in walk_ast(top)
        ) or any(
            re.search(rf"(?<!params)(?<!FLAGS)\.{attribute}\b", one)
            for one in self.others
        )

    def function(self, name: str) -> ast.FunctionDef | None:
        """A function of the module, by its name."""
        found = [
            one
            for one in self.text.body
            if isinstance(one, ast.FunctionDef) and one.name == name
        ]
        return found[0] if len(found) == 1 else None

    def values(self, name: str) -> list[str]:
        """What any code of the module gives to a name."""
        return [
            self.text.of(one.value)
            for top in self.text.body
            for one in walk_ast(top, ast.Assign)
            if [*map(dotted, one.targets)] == [name]
        ]

    def only_value(self, name: str) -> str | None:
        """What any code of the module gives to a name, in one place."""
        found = self.values(name)
        return found[0] if len(found) == 1 else None

    def plain(self) -> str:
        """The code with plain classes."""
        for one in self.classes:
            one.read()
        if self.reuses or any(map(has_mode_branches, self.classes)):
            merge_shared(self.classes)
        if self.reuses:
            self._check_shared()
        find_started(self, self.started)
        chosen = hold_layers(self) if self.classes else {}
        for one in self.classes:
            one.become_plain()
        if self.shared_columns:
            share_tables(self.classes)
        text = Text(self.code)
        for one in self.classes:
            start, end = text.span(one.node)
            # What stood in a block that is gone may leave lines of blanks.
            code = re.sub(r"(?m)^[ \t]+$", "", one.code)
            text.replace(text.code.rfind("\n", 0, start) + 1, end, code)
        for node, shown in chosen.items():
            start, end = self.text.span(node)
            text.replace(start, end, shown)
        names = {one.name for one in self.classes}
        code = simplified(text.done(), names, self._is_seen, self.first, self._is_given)
        code = self._without_contrib(code)
        text = Text(self._not_as_keras(code, names))
        kept = self.words | {*re.findall(r"\b(\w+)=[^=]", code)}
        for node in walk_ast(ast.Module(text.body, []), ast.ClassDef):
            if node.name in names:
                made = without_unread_initializers(text.of(node), code)
                text.put(node, with_plain_names(folded(made), kept))
        return self._laid_out(text.done(), names)

    def _check_shared(self) -> None:
        """Refuses functions that make a model several times, of the same variables."""
        made = {one.name for one in self.classes}
        calls = walk_ast(self.tree, ast.Call)
        for function in walk_ast(self.tree, ast.FunctionDef):
            makes = any(
                dotted(one.func) in made for one in walk_ast(function, ast.Call)
            )
            uses = sum(dotted(one.func) == function.name for one in calls)
            if makes and uses > 1 and function.name != "__init__":
                raise Refused(f"`{function.name}` may share variables by `reuse`")

    def scopes_of(
        self,
        node: ast.AST,
        above: Mapping[ast.AST, ast.AST],
        within: ast.FunctionDef | None,
    ) -> list[str] | None:
        """Names of the scopes around; None where one is no literal."""
        found: list[str] = []
        while node in above and node is not within:
            node = above[node]
            for item in node.items if isinstance(node, ast.With) else ():
                entered = item.context_expr
                if isinstance(entered, ast.Call) and dotted(entered.func).endswith(
                    "variable_scope"
                ):
                    name = (
                        literal(self.text.of(entered.args[0])) if entered.args else None
                    )
                    if not isinstance(name, str):
                        return None
                    found.append(name)
        return found

    def _without_contrib(self, code: str) -> str:
        """The code with cells and regularizers of Keras for those of TensorFlow 1."""
        while "rnn" in code or "_regularizer" in code:
            text = Text(code)
            above = parents_of(ast.Module(text.body, []))
            calls = [one for one in above if isinstance(one, ast.Call)]
            found = {one: self._cell_or_penalty(one, above, text) for one in calls}
            inner = [
                (node, name)
                for node, name in found.items()
                if name and [*filter(found.get, walk_ast(node, ast.Call))] == [node]
            ]
            if not inner:
                return code
            for node, name in inner:
                reader = Plain(self.symbol, self.quote)
                if name in _PENALTIES:
                    shown = on_one_line(text.of(node))
                    text.put(node, regularizer(shown, reader) or "None")
                    continue
                if name == "DropoutWrapper" and self.always_drops is None:
                    raise Refused("it is not known when `DropoutWrapper` drops")
                always = self.always_drops is True
                text.put(node, cell(name, node, reader, text.of, always=always))
            code = text.done()
        return code

    def _cell_or_penalty(
        self, node: ast.Call, above: Mapping[ast.AST, ast.AST], text: Text
    ) -> str:
        """The name of a class of cells, or of a regularizer, that a call makes."""
        hidden: set[str] = set()
        around: ast.AST | None = node
        while around is not None:
            hidden |= (
                bound_names(around) if isinstance(around, ast.FunctionDef) else set()
            )
            around = above.get(around)
        symbol = self.symbol(on_one_line(text.of(node.func)), hidden)
        name = contrib_name(symbol)
        return cell_name(symbol) or (name if name in _PENALTIES else None) or ""

    def _is_seen(self, name: str) -> bool:
        """Another file of the program may use a class, or the function that it was."""
        functions = re.findall(r"\bdef (\w+)\((.*?)\)", self.written, re.DOTALL)
        # A model function is a Task.
        names = [one for one, given in functions if not _TASK.search(given)]
        names = [name, *(one for one in names if camel(one) == name)]
        # A key of a dict may have the name as well.
        words = re.compile(rf"(?<!['\"])\b({'|'.join(names)})\b(?!['\"])")
        return any(words.search(text) for text in self.others)

    def _is_given(self, name: str, parameter: str) -> bool:
        """Another file may give a parameter to a class, or the function that it was."""
        made = walk_ast(tree_of(self.written), ast.FunctionDef)
        functions = [one for one in made if camel(one.name) == name]
        places = parameters_of(functions[0]) if len(functions) == 1 else []
        if parameter not in places:
            return True
        names = (name, functions[0].name)
        for tree in map(tree_of, self.others):
            calls = [
                one
                for one in walk_ast(tree, ast.Call)
                if dotted(one.func).rpartition(".")[2] in names
            ]
            said = walk_ast(tree, ast.Name, ast.Attribute)
            uses = [one for one in said if dotted(one).rpartition(".")[2] in names]
            for one in calls:
                told = {None, parameter} & {given.arg for given in one.keywords}
                starred = any(isinstance(given, ast.Starred) for given in one.args)
                if told or starred or len(one.args) > places.index(parameter):
                    return True
            if len(uses) > len(calls):
                return True  # it is handed about
        return False

    def _not_as_keras(self, code: str, names: set[str]) -> str:
        """The code whose class `Layer` has the name of the file as well."""
        if "Layer" not in names or self._is_seen("Layer"):
            return code
        text = Text(code)
        name = f"{camel(self.stem)}Layer"
        names.add(name)
        for node in (one for top in text.body for one in walk_ast(top)):
            if isinstance(node, ast.Name) and node.id == "Layer":
                text.put(node, name)
            elif isinstance(node, ast.ClassDef) and node.name == "Layer":
                start = code.index("Layer", text.span(node)[0])
                text.replace(start, start + len("Layer"), name)
        return text.done()

    def _laid_out(self, code: str, names: Container[str]) -> str:
        """The code with new lines broken where they are too long."""
        text = Text(code)
        known = {line.strip() for line in self.written.splitlines()}
        inits = {
            node
            for top in text.body
            for one in walk_ast(top, ast.ClassDef)
            if one.name in names
            for init in one.body
            if isinstance(init, ast.FunctionDef) and init.name == "__init__"
            for node in walk_ast(init)
        }
        for node in (one for top in text.body for one in walk_ast(top)):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.Return)) or (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            ):
                start, end = text.span(node)
            elif isinstance(node, ast.For) or (
                isinstance(node, ast.FunctionDef) and node.name in ("__init__", "call")
            ):
                start, _ = text.span(node)
                end = code.rfind(":", start, text.span(node.body[0])[0]) + 1
            else:
                continue
            old = code[start:end]
            if node not in inits and all(
                one.strip() in known for one in old.split("\n")
            ):
                continue
            if isinstance(node, (ast.For, ast.FunctionDef)) and "#" in old:
                continue
            indent = text.indent(node)
            if not indent.strip():
                text.replace(
                    start, end, fitted(old, indent, WIDTH).removeprefix(indent)
                )
        return text.done()


class Lifted:
    """A lifted class on its way to a plain one."""

    def __init__(
        self, module: Module, node: ast.ClassDef, base: str, hidden: frozenset[str]
    ) -> None:
        self.module = module
        self.node = node
        self.name = node.name
        self.base = base
        self.hidden = hidden
        text = module.text
        start, end = text.span(node)
        self.code = text.code[text.code.rfind("\n", 0, start) + 1 : end]
        self.lifted = self.code
        base_text = text.of(node.bases[0])
        # The program's name for TensorFlow.
        self.tf = base_text.removesuffix(f".estimator.{base.rpartition('.')[2]}")
        # Names of the call that weights are made of.
        self.moved_names: set[str] = set()
        # Names of the constructor whose values stand where weights begin.
        self.starts: set[str] = set()
        # Where in the call an expression stands whose names are looked up.
        self.at: ast.AST | None = None
        # Attributes that were added to the constructor, in the order of the call.
        self.added: list[str] = []
        # Names of the constructor for which it has got attributes.
        self.kept: dict[str, str] = {}
        # Lists of weights of a loop's rounds, and names that the loop at hand gives.
        self.rounds: set[str] = set()
        self.each_round: set[str] = set()

    # -- reading

    def read(self) -> None:
        """Reads the code again, after edits."""
        self.source = Text(self.code)
        tree = self.source.body[0]
        assert isinstance(tree, ast.ClassDef)
        self.tree = tree
        methods = {
            one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)
        }
        if "call" not in methods or "__init__" not in methods:
            raise Refused(f"the class `{self.name}` is not one that lifting makes")
        self.init, self.call = methods["__init__"], methods["call"]
        self.above = parents_of(tree)
        self.locals = bound_names(self.call)
        self.init_names = bound_names(self.init)

    def take(self) -> None:
        """Makes the edits, and reads what they give."""
        self.code = self.source.done()
        self.read()

    def of(self, node: ast.AST) -> str:
        """Source of a node, on one line."""
        return on_one_line(self.source.of(node))

    def symbol(self, code: str) -> str | None:
        """TensorFlow's name of an expression of the class."""
        local = self.locals | self.init_names | self.hidden
        return self.module.symbol(code, local)

    def value(self, code: str) -> str:
        """What a name stands for, or an attribute, where that is seen."""
        node = parsed(code)
        held = self.attributes().get(attribute_of_self(node) or "")
        if isinstance(held, ast.Name):
            stored = self.locals - {*parameters_of(self.call)}
            made = [
                one.value
                for one in walk_ast(self.init)
                if isinstance(one, ast.Assign)
                and [*map(dotted, one.targets)] == [held.id]
            ]
            read = {one.id for part in made for one in names_in(part)}
            return self.of(made[0]) if len(made) == 1 and not read & stored else code
        if isinstance(held, ast.Call) and "initializer" in (
            self.symbol(dotted(held.func)) or ""
        ):
            # Each layer has one of its own: one for all would draw equal values.
            return self.of(held)
        if isinstance(node, ast.Subscript):
            return self.module.entry(node, self.node) or code
        if not isinstance(node, ast.Name):
            return code
        if node.id in self.locals:
            found = self.value_of(node.id)
            self.moved_names.add(node.id)
            return code if found is None else self.of(found)
        if node.id in self.init_names | self.hidden:
            return code
        return self.module.value(node.id) or code

    def value_of(self, name: str) -> ast.expr | None:
        """What the call gives to a name, where it does so once.

        Or where it did so last, straight before the node `at`.
        """
        stores = [one for one in stores_in(self.call) if one.id == name]
        if not stores or name in parameters_of(self.call):
            return None
        if len(stores) > 1:
            found = None if self.at is None else self.definition(self.at, name)
            return None if found is None else found.value
        above = self.above[stores[0]]
        if isinstance(above, ast.Assign) and above.targets == stores:
            return above.value
        made = self.above.get(above)
        if isinstance(above, ast.Tuple) and isinstance(made, ast.Assign):
            return _part(made.value, above.elts.index(stores[0]))
        return None

    def definition(self, node: ast.AST, name: str) -> ast.Assign | None:
        """The statement that gave a name the value that it has at a node."""
        inner: ast.AST = self.statement(node)
        while inner is not self.call:
            outer = self.above[inner]
            for field in ("body", "orelse", "finalbody"):
                block = getattr(outer, field, None)
                if not isinstance(block, list) or inner not in block:
                    continue
                for one in reversed(_in_order(block[: block.index(inner)])):
                    if name not in _stored(one):
                        continue
                    plain = isinstance(one, ast.Assign) and [
                        *map(dotted, one.targets)
                    ] == [name]
                    return one if plain and isinstance(one, ast.Assign) else None
            if isinstance(outer, (ast.For, ast.While)) and name in _stored(outer):
                return None
            inner = outer
        return None

    def text(self, code: str) -> str:
        """A string in the program's quotes."""
        return f"{self.module.quote}{code}{self.module.quote}"

    def around(self, node: ast.AST) -> list[ast.AST]:
        """What is around a node in its method, from outside."""
        found: list[ast.AST] = []
        above = self.above.get(node)
        while above is not None and above not in (self.call, self.init):
            found.append(above)
            above = self.above.get(above)
        return found[::-1]

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self.above[node]
        return node

    def uses(self, attribute: str) -> list[ast.Call]:
        """Calls of an attribute, or of the elements of a list."""
        names: set[str] = set()
        iterators: set[str] = set()
        for node in walk_ast(self.call):
            if isinstance(node, (ast.For, ast.comprehension)):
                names |= elements(node.target, node.iter, attribute)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                iterated = node.value.args[:1]
                if iterated and attribute_of_self(iterated[0]) == attribute:
                    iterators |= {self.of(one) for one in node.targets}
        found: list[ast.Call] = []
        for node in walk_ast(self.call, ast.Call):
            func = node.func
            if (
                attribute_of_self(func) == attribute
                or (isinstance(func, ast.Name) and func.id in names)
                or (
                    isinstance(func, ast.Call)
                    and dotted(func.func) == "next"
                    and self.of(func.args[0]) in iterators
                )
            ):
                found.append(node)
        return found

    def appended(self, attribute: str) -> list[ast.Call]:
        """Calls whose values the constructor appends to a list."""
        return [
            one.args[0]
            for one in walk_ast(self.init, ast.Call)
            if isinstance(one.func, ast.Attribute)
            and attribute_of_self(one.func.value) == attribute
            and one.args
            and isinstance(one.args[0], ast.Call)
        ]

    # -- what the constructor can say

    def attributes(self) -> dict[str, ast.expr]:
        """What the constructor gives to attributes."""
        return {
            name: node.value
            for node in walk_ast(self.init, ast.Assign)
            if len(node.targets) == 1
            if (name := attribute_of_self(node.targets[0])) is not None
        }

    def for_init(self, code: str, what: str, free: Container[str] = ()) -> str:
        """An expression of the call, as the constructor says it.

        `free` are names that are bound where it will stand.
        """
        return self._moved(code, what, free or self.each_round, shapes=False)

    def for_build(self, code: str, what: str) -> str:
        """An expression of the call, as `build` says it, which knows the shape."""
        return self._moved(code, what, self.each_round, shapes=True)

    def _moved(
        self,
        code: str,
        what: str,
        free: Container[str],
        *,
        shapes: bool,
        seen: tuple[ast.expr, ...] = (),
    ) -> str:
        whole = f"({code}\n)"
        text = Text(whole)
        statement = text.body[0]
        assert isinstance(statement, ast.Expr)
        bound = frozenset(one.id for one in stores_in(statement))
        stored = self.attributes()
        pending: list[tuple[ast.AST, frozenset[str]]] = [(statement.value, bound)]
        while pending:
            node, inner = pending.pop()
            if isinstance(node, ast.Lambda):
                inner |= {one.arg for one in walk_ast(node.args, ast.arg)}
            if shapes:
                shown = self._of_shape(node)
                if shown is not None:
                    text.put(node, shown)
                    continue
            attribute = attribute_of_self(node)
            if attribute is not None:
                given = stored.get(attribute)
                if given is None:
                    raise Refused(f"{what} follows from `self.{attribute}`")
                if (
                    not shapes
                    and isinstance(given, ast.Name)
                    and given.id in self.init_names
                ):
                    text.put(node, given.id)
                continue
            if (
                isinstance(node, ast.Name)
                and node.id in self.locals - inner
                and node.id not in free
            ):
                value = self.value_of(node.id)
                if value is None or value in seen:
                    raise Refused(
                        f"{what} follows from `{node.id}`, which only the call knows"
                    )
                self.moved_names.add(node.id)
                at, self.at = self.at, value
                moved = self._moved(
                    self.of(value), what, free, shapes=shapes, seen=(*seen, value)
                )
                self.at = at
                text.put(node, moved if isinstance(value, HELD) else f"({moved})")
                continue
            pending += [(one, inner) for one in ast_children(node)]
        return text.done()[1:-2]

    def _of_shape(self, node: ast.AST) -> str | None:
        """`input_shape[-1]`, or `[-1:]`, for what is asked of the input's shape."""
        if (
            isinstance(node, ast.Call)
            and dotted(node.func) == "int"
            and len(node.args) == 1
        ):
            return self._of_shape(node.args[0])
        if isinstance(node, ast.Attribute) and node.attr == "value":
            node = node.value
        if not isinstance(node, ast.Subscript):
            return None
        index = ast.unparse(node.slice)
        parts = index.split(":") if isinstance(node.slice, ast.Slice) else [index]
        if not all(
            isinstance(literal(one), int) for one in parts if one or not parts[1:]
        ):
            return None
        held = node.value
        if isinstance(held, ast.Name) and held.id in self.locals:
            value = self.value_of(held.id)
            if value is not None:
                self.moved_names.add(held.id)
                held = value
        if (
            isinstance(held, ast.Call)
            and isinstance(held.func, ast.Attribute)
            and held.func.attr == "as_list"
        ):
            held = held.func.value
        if isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute):
            if held.func.attr != "get_shape":
                return None
            held = held.func.value
        elif isinstance(held, ast.Attribute) and held.attr == "shape":
            held = held.value
        else:
            return None
        part = ""
        if isinstance(held, ast.Subscript) and isinstance(held.slice, ast.Constant):
            part = (
                f"[{self.of(held.slice)}]"
                if held.slice in self.above
                else f"[{ast.unparse(held.slice)}]"
            )
            held = held.value
        first = parameters_of(self.call)[1:2]
        is_input = isinstance(held, ast.Name) and [held.id] == first
        if not is_input or self._is_stored(first[0]):
            return None
        return f"input_shape{part}[{index}]"

    def _is_stored(self, name: str) -> bool:
        """The call gives a parameter another value, before the node `at`."""
        stores = [one for one in stores_in(self.call) if one.id == name]
        if self.at is None or any(
            isinstance(one, (ast.For, ast.While)) for one in self.around(self.at)
        ):
            return bool(stores)
        return any(place_of(one) < place_of(self.at) for one in stores)

    def add_to_init(self, lines: Sequence[str], place: ast.AST) -> None:
        """Puts statements into the constructor, in the order of the calls.

        `place` is where the call uses what they make.
        """
        order = place_of(place)
        first_use: dict[str, tuple[int, int]] = {}
        for node in walk_ast(self.call):
            name = attribute_of_self(node)
            if name is not None:
                first_use[name] = min(
                    first_use.get(name, place_of(node)), place_of(node)
                )
        statements = self.init.body
        where = len(statements)
        for index in range(len(statements) - 1, 0, -1):
            made = _made_in(statements[index], self.source)
            if not made or made & {*self.added}:
                break
            if min(first_use.get(one, order) for one in made) > order:
                where = index
        self.added += re.findall(r"self\.(\w+) = ", "\n".join(lines))
        if where < len(statements):
            self.source.add(statements[where], *lines)
        else:
            self.source.add(statements[-1], *lines, below=True)

    def add_to_build(self, lines: Sequence[str]) -> None:
        """Puts statements into `build`, which knows the shape of the input."""
        known = next(
            (
                one
                for one in self.tree.body
                if isinstance(one, ast.FunctionDef) and one.name == "build"
            ),
            None,
        )
        if known is not None:
            self.source.add(known.body[-1], *lines, below=True)
            return
        step = " " * (self.call.body[0].col_offset - self.call.col_offset)
        self.source.add(
            self.call, "def build(self, input_shape):", *(step + one for one in lines)
        )
        start, _ = self.source.span(self.call)
        line = self.source.code.rfind("\n", 0, start) + 1
        self.source._edits.append((line, line, "\n"))

    def in_build(self, code: str | None) -> str | None:
        """What the constructor says, as `build` does, which has attributes alone."""
        if code is None:
            return None
        text = Text(f"({code}\n)")
        stored = {
            value.id: name
            for name, value in self.attributes().items()
            if isinstance(value, ast.Name)
        }
        for one in names_in(text.body[0]):
            if one.id in self.init_names - {"self"}:
                name = stored.get(one.id) or self._stored(one.id)
                text.put(one, f"self.{name}")
        return text.done()[1:-2]

    def _stored(self, name: str) -> str:
        """The new attribute that has what the constructor calls so."""
        stores = [one for one in stores_in(self.init) if one.id == name]
        if len(stores) != (name not in parameters_of(self.init)):
            raise Refused(f"a weight follows from `{name}` and its input")
        if name not in self.kept:
            self.kept[name] = self.fresh(name)
            line = f"self.{self.kept[name]} = {name}"
            self.source.add(self.init.body[-1], line, below=True)
        return self.kept[name]

    def fresh(self, wanted: str) -> str:
        """An attribute that the class does not have yet."""
        taken = {
            name
            for node in walk_ast(self.tree)
            if (name := attribute_of_self(node)) is not None
        }
        wanted = re.sub(r"\W+", "_", wanted).strip("_")
        if not wanted.isidentifier():
            wanted = "weight"
        if wanted in RESERVED:
            wanted = f"own_{wanted}"
        return fresh(wanted, taken)

    # -- the steps

    def become_plain(self) -> None:
        """Changes the code, step by step."""
        self.code = without_gone(self.code)
        self.read()
        self._first_values_made()
        self._functions()
        move_weights(self)
        self._scopes()
        self._check_inputs()
        self._words()
        self._unread_values()
        self._aliases()
        self._loops()
        self._comprehensions()
        self._unread()

    def _first_values_made(self) -> None:
        """Initializers and regularizers of the constructor, as those of Keras."""
        for node in walk_ast(self.init):
            if isinstance(node, ast.Call) and (
                (self.symbol(self.of(node.func)) or "").startswith("tf.keras.layers.")
            ):
                self._first_values_given(node)
            if not isinstance(node, ast.Assign):
                continue
            value = node.value
            function = value.func if isinstance(value, ast.Call) else value
            symbol = self.symbol(self.of(function)) or ""
            if symbol.endswith("_initializer") or ".initializers." in symbol:
                if not self._is_handed(node.targets[0]):
                    self.source.put(value, initializer(self.of(value), self))
            elif symbol.endswith("_regularizer"):
                made = regularizer(self.of(value), self)
                self.source.put(value, made or "None")
        self.take()

    def _is_handed(self, name: ast.expr) -> bool:
        """A function of the program is given it, perhaps for several weights.

        One object of Keras would begin them alike.
        """
        return any(
            self.of(value) == self.of(name)
            for call in walk_ast(self.init, ast.Call)
            if not self.symbol(self.of(call.func))
            for value in (*call.args, *(one.value for one in call.keywords))
        )

    def _first_values_given(self, layer: ast.Call) -> None:
        for one in layer.keywords:
            code = self.of(one.value)
            if is_absent(code) or one.arg is None:
                continue
            if one.arg.endswith("_initializer"):
                code = self.of(self._told(one.value))
                self.source.put(one.value, initializer(code, self))
            elif one.arg.endswith("_regularizer"):
                self.source.put(one.value, regularizer(code, self) or "None")

    def _told(self, node: ast.expr) -> ast.expr:
        """What the constructor gives to a name, in its place.

        One object of Keras would begin all weights of a shape alike.
        """
        made = [
            one.value
            for one in self.init.body
            if isinstance(one, ast.Assign)
            and [*map(dotted, one.targets)] == [dotted(node)]
        ]
        stores = [one.id for one in stores_in(self.init)]
        if not isinstance(node, ast.Name) or not made or stores.count(node.id) > 1:
            return node
        self.starts.add(node.id)
        return made[0]

    def _functions(self) -> None:
        """Layers that call a function of TensorFlow 1 become layers of Keras."""
        while True:
            node = next(
                (
                    one
                    for one in walk_ast(self.init, ast.Call)
                    if self.symbol(self.of(one.func)) == "tf.estimator.FunctionLayer"
                ),
                None,
            )
            if node is None:
                return
            self._function(node)
            self.at = None
            self.take()

    def _function(self, node: ast.Call) -> None:
        attribute = self._holder(node)
        function = self.of(self._told(node.args[0]))
        name = contrib_name(self.symbol(function))
        uses = self.uses(attribute)
        symbol = self.symbol(function)
        if symbol in RECURRENT and len(uses) == 1:
            recurrent(self, symbol, node, uses[0])
            return
        if symbol == SEQUENCE_INPUT:
            sequence_input(self, node, uses)
            return
        if symbol in LAYERS and len(uses) == 1:
            self._built(node, uses[0], LAYERS[symbol], function)
            return
        if name is None:
            raise Refused(f"`{function}` makes variables where it is called")
        if name in ("repeat", "stack") and len(uses) == 1:
            self._repeated(node, uses[0], name)
            return
        if name not in SIGNATURES:
            raise Refused(f"`{function}` has no Keras layer with its numbers")
        made = {self._used(node, one, name, function) for one in uses}
        nested = any(
            one is not other and _holds(one, other) for one in uses for other in uses
        )
        if len(made) != 1 or nested:
            raise Refused(f"`{function}` is called in {len(uses)} ways")
        self.source.put(node, made.pop())

    def _repeated(self, node: ast.Call, use: ast.Call, name: str) -> None:
        """``slim.repeat(net, 2, slim.conv2d, 64, [3, 3])``, or ``slim.stack``."""
        function = self.of(node.args[0])
        inputs, *late = use.args
        rest = [*late, *node.args[1:]]
        keywords = [*use.keywords, *node.keywords]
        given = {str(one.arg): self.of(one.value) for one in keywords}
        given.pop("scope", None)
        first, second, *more = rest
        times, layer = (first, second) if name == "repeat" else (second, first)
        inner = contrib_name(self.symbol(self.of(layer)))
        if late or inner not in SIGNATURES or "scope" not in SIGNATURES[inner]:
            raise Refused(f"`{function}` of `{self.of(layer)}`")
        names = SIGNATURES[inner][1:]
        rank = self._rank(inputs, use)
        flags: set[str | None] = set()

        def made(arguments: Sequence[str]) -> str:
            said = dict(zip(names, arguments, strict=False)) | given
            found = layers(inner, said, self, rank)
            flags.add(found.training)
            return self._constructor(found, function)

        plain = [self.of(one) for one in more]
        if name == "repeat":
            code = f"[{made(plain)} for _ in range({self.of(times)})]"
        elif isinstance(times, (ast.List, ast.Tuple)):
            code = f"[{', '.join(made(self._several(one)) for one in times.elts)}]"
        else:
            code = f"[{made(['size'])} for size in {self.of(times)}]"
        (flag,) = flags
        flagged = "" if flag is None else f", training={flag}"
        self.source.put(node, f"tf_keras.Sequential({code})")
        self.source.put(use, f"{self.of(use.func)}({self.of(inputs)}{flagged})")

    def _several(self, node: ast.expr) -> list[str]:
        """The arguments of one layer of a stack."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.of(one) for one in node.elts]
        return [self.of(node)]

    def given(
        self, node: ast.Call, use: ast.Call, names: Sequence[str], function: str
    ) -> dict[str, ast.expr]:
        """What a function gets of which a layer is made, by its maker and its call."""
        self.at = use
        args = [*use.args, *node.args[1:]]
        keywords: list[ast.keyword] = []
        for one in (*use.keywords, *node.keywords):
            held = self._told(one.value) if one.arg is None else None
            if not isinstance(held, ast.Dict):
                keywords.append(one)
                continue
            for key, value in zip(held.keys, held.values, strict=True):
                name = getattr(key, "value", None)
                keywords.append(ast.keyword(name, value))
        return arguments_of(ast.Call(node.func, args, keywords), names, function)

    def _used(self, node: ast.Call, use: ast.Call, name: str, function: str) -> str:
        """The constructor of a layer for one of its calls, which it puts right.

        `None` where the call makes the layer, which alone knows what it follows from.
        """
        late = {*use.args, *(one.value for one in use.keywords)}
        given = self.given(node, use, SIGNATURES[name], function)
        said: dict[str, str] = {}
        inputs = given.pop(SIGNATURES[name][0])
        in_call = False
        for parameter, value in given.items():
            code = self.of(value)
            if value in late and parameter not in ("is_training", "normalizer_params"):
                try:
                    code = self.for_init(code, f"`{parameter}` of `{function}`")
                except Refused:
                    if self.uses(self._holder(node)) != [use]:
                        raise
                    in_call = True
            said[parameter] = code
        if in_call:
            for parameter, value in given.items():
                code = self.of(value)
                said[parameter] = code if value in late else self.in_build(code) or ""
        made = layers(name, said, self, self._rank(inputs, use))
        flag = "" if made.training is None else f", training={made.training}"
        self.source.put(use, f"{self.of(use.func)}({self.of(inputs)}{flag})")
        if in_call:
            return self._made_late(node, use, made.code)
        return self._constructor(made, function)

    def _built(
        self, node: ast.Call, use: ast.Call, layer: LayerFunction, function: str
    ) -> None:
        """Makes a layer in `build`, which has the shape of the input."""
        given = self.given(node, use, (layer.inputs, *layer.parameters), function)
        what = f"`{function}`"
        shown = self.of(given.pop(layer.inputs))
        parts: dict[str, ast.expr] = {}
        for parameter, value in given.items():
            code = self.of(value)
            if parameter in layer.at_call:
                shown += f", {parameter}={code}"
                continue
            if parameter == "reuse" and literal(code) is not False:
                raise Refused(f"{what} with `reuse`")
            if not is_absent(code) and parameter not in ("reuse", "fused", "name"):
                parts[parameter] = value
        statement = self.above[node]
        if statement not in self.init.body:
            raise Refused(f"{what} follows from its input in a loop")

        def made(late: Callable[[str], str]) -> str:
            said = {}
            for parameter, value in parts.items():
                code = self.of(value)
                if parameter.endswith("_initializer"):
                    code = initializer(self.value(code), self)
                elif parameter.endswith("_regularizer"):
                    code = regularizer(self.value(code), self) or "None"
                own = value in use.args or value in [k.value for k in use.keywords]
                said[parameter] = late(code) if own else self.in_build(code) or ""
            first = [said.pop(name, "") for name in layer.parameters[:1]]
            return call(f"{_KERAS}{layer.keras}", *first, **said)

        try:
            code = made(lambda code: self.in_build(self.for_build(code, what)) or "")
        except Refused:
            self.source.put(node, self._made_late(node, use, made(lambda code: code)))
        else:
            self.source.drop(statement)
            self.add_to_build([f"self.{self._holder(node)} = {code}"])
        self.source.put(use, f"{self.of(use.func)}({shown})")

    def _made_late(self, node: ast.Call, use: ast.Call, code: str) -> str:
        """Makes a layer in the call; what the constructor gives to its attribute."""
        held = f"self.{self._holder(node)}"
        rounds = any(isinstance(one, (ast.For, ast.While)) for one in self.around(use))
        if rounds or self.above[node] not in self.init.body:
            raise Refused(f"`{code}` follows from what is computed in a loop")
        self.source.add(
            self.statement(use), f"if {held} is None:", f"    {held} = {code}"
        )
        return "None"

    def cell_for_init(self, code: str, what: str) -> str:
        """A cell as the constructor says it: what the call is given, it is given."""
        return self.for_init(code, what, parameters_of(self.call)[2:])

    def _constructor(self, made: Layers, function: str) -> str:
        code = made.code
        for one in walk_ast(parsed(code), ast.Name):
            if one.id in self.locals - self.init_names - {"self"}:
                raise Refused(
                    f"`{function}` depends on `{one.id}`, which only the call knows"
                )
        return code

    def _holder(self, node: ast.Call) -> str:
        """The attribute that holds a layer, or the list that does."""
        above = self.above[node]
        while (
            isinstance(above, ast.Call) and self.symbol(self.of(above.func)) is not None
        ):
            above = self.above[above]
        found: str | None = None
        if isinstance(above, ast.Assign):
            found = attribute_of_self(above.targets[0])
        elif isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
            found = attribute_of_self(above.func.value)
        if found is None:
            raise Refused(f"a layer of `{self.name}` that is not an attribute")
        return found

    def _rank(self, node: ast.expr, use: ast.AST) -> int | None:
        """How many dimensions a tensor of the call has, where that is seen."""
        if isinstance(node, ast.Name):
            before = [
                one
                for one in walk_ast(self.call, ast.Assign)
                if len(one.targets) == 1
                and isinstance(one.targets[0], ast.Name)
                and one.targets[0].id == node.id
                and place_of(one) < place_of(use)
                and not _holds(one, use)
            ]
            if not before:
                return None
            last = max(before, key=place_of).value
            return self._rank(last, last)
        if not isinstance(node, ast.Call):
            return None
        first = (
            node.args[0] if node.args else next((k.value for k in node.keywords), None)
        )
        held = attribute_of_self(node.func)
        if held is None and isinstance(node.func, ast.Name):
            held = next(
                (one for one in self.attributes() if node in self.uses(one)),
                None,
            )
        if held is not None:
            return self._rank_after(held, first, use)
        symbol = self.symbol(self.of(node.func)) or ""
        if symbol == "tf.reshape" and len(node.args) > 1:
            shape = node.args[1]
            return len(shape.elts) if isinstance(shape, (ast.List, ast.Tuple)) else None
        name = contrib_name(symbol)
        if name == "flatten":
            return 2
        if name is not None and "pool" in name:
            return 5 if name.endswith("3d") else 4
        if (symbol in _ELEMENTWISE or name == "dropout") and first is not None:
            return self._rank(first, use)
        return None

    def _rank_after(
        self, attribute: str, first: ast.expr | None, use: ast.AST
    ) -> int | None:
        code = " ".join(
            self.of(one)
            for one in walk_ast(self.init, ast.Call)
            if attribute in self.of(self.statement(one))
        )
        kinds = re.findall(r"\b(\w+)\(", code)
        for kind in reversed(kinds):
            if kind in RANKS:
                return RANKS[kind]
        if re.search(r"\bconv\w*2d|pool2d\b", code):
            return 4
        if first is None or not re.search(
            r"\b(Dense|Dropout|\w+Normalization|ReLU|Activation|fully_connected)\b",
            code,
        ):
            return None
        return self._rank(first, use)

    # -- scopes

    def _scopes(self) -> None:
        """Blocks that only name things vanish."""
        self._tell_scopes()
        self.take()
        while True:
            block = next(
                (one for one in walk_ast(self.call, ast.With) if self._names_only(one)),
                None,
            )
            if block is None:
                break
            self.source.dissolve(block)
            self.take()
        self.code = without_gone(self.code)
        self.read()

    def _tell_scopes(self) -> None:
        """What is read of ``tf.name_scope("a") as scope`` is the name."""
        told: list[tuple[tuple[int, int], str, str]] = []
        for item in walk_ast(self.call, ast.withitem):
            entered, bound = item.context_expr, item.optional_vars
            if (
                isinstance(bound, ast.Name)
                and isinstance(entered, ast.Call)
                and self.symbol(self.of(entered.func)) == "tf.name_scope"
                and len(entered.args) == 1
                and isinstance(entered.args[0], ast.Constant)
            ):
                code = self.of(entered.args[0])
                told.append((place_of(bound), bound.id, code))
        for name in {one for _, one, _ in told}:
            known = [one for one in told if one[1] == name]
            if len(known) < sum(one.id == name for one in stores_in(self.call)):
                continue
            for read in loads_in(self.call):
                before = [one for one in known if one[0] < place_of(read)]
                if read.id == name and before:
                    self.source.put(read, max(before)[2])

    def _check_inputs(self) -> None:
        """A class without inputs can have weights, and give them, but no layers."""
        if len(parameters_of(self.call)) > 1:
            return
        (*before, last) = self.call.body
        value = last.value if isinstance(last, ast.Return) else None
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if before or None in map(attribute_of_self, parts):
            raise Refused(f"the layers of `{self.name}` have no inputs")

    def _names_only(self, block: ast.With) -> bool:
        symbols = [
            self.symbol(self.of(one.context_expr.func))
            if isinstance(one.context_expr, ast.Call)
            else None
            for one in block.items
        ]
        known = [one in (*_SCOPES, *_ARG_SCOPES) for one in symbols]
        if not any(known):
            return False
        if not all(known):
            raise Refused(f"`{self.of(block.items[known.index(False)])}` around layers")
        # What enters a scope again has names alone, too.
        entered = {
            name
            for node in walk_ast(self.call)
            if isinstance(node, ast.With)
            for one in node.items
            if isinstance(one.context_expr, ast.Call)
            and self.symbol(self.of(one.context_expr.func)) in _SCOPES
            for name in names_in(one.context_expr)
        }
        read = {
            one.id
            for one in names_in(self.call)
            if isinstance(one.ctx, ast.Load) and one not in entered
        }
        for item in block.items:
            names = names_in(item.optional_vars) if item.optional_vars else []
            for name in names:
                if name.id in read:
                    raise Refused(f"the scope `{name.id}` is used as a value")
        return True

    # -- words

    def _words(self) -> None:
        """Names of Keras in the place of those of lifting."""
        self.source.put(self.tree.bases[0], _BASES[self.base])
        self.take()
        while True:
            changed = False
            for node in walk_ast(self.tree, ast.Call):
                symbol = self.symbol(self.of(node.func))
                if symbol == "tf.keras.layers.DenseFeatures":
                    self.source.put(node.func, self.columns_layer("DenseFeatures"))
                elif symbol == "tf.nn.xw_plus_b" and len(node.args) > 2:
                    x, w, b = (self.of(one) for one in node.args[:3])
                    product = f"{self.tf}.matmul({x}, {w})"
                    self.source.put(node, f"{self.tf}.nn.bias_add({product}, {b})")
                elif symbol == "tf.nn.embedding_lookup" and self._is_one(node):
                    table, ids = (self.of(one) for one in node.args[:2])
                    self.source.put(node, f"{self.tf}.gather({table}, {ids})")
                elif contrib_name(symbol) == "softmax":
                    given = [k.value for k in node.keywords if k.arg == "logits"]
                    (logits,) = node.args[:1] or given
                    self.source.put(node, f"{self.tf}.nn.softmax({self.of(logits)})")
                elif symbol in _SUMMARIES:
                    self._summary(node, symbol)
                elif symbol in _OTHER_DEFAULTS:
                    continue
                elif symbol is not None and symbol.startswith("tf.keras."):
                    if symbol.endswith("BatchNormalization"):
                        self._check_norm(node)
                    self.source.put(
                        node.func, f"tf_keras{symbol.removeprefix('tf.keras')}"
                    )
                else:
                    continue
                changed = True
                break
            if not changed:
                return
            self.take()

    def _summary(self, node: ast.Call, symbol: str) -> None:
        """A summary as TensorFlow 2 writes it, whose function has the same name."""
        parts = [self.of(one) for one in node.args]
        for one in node.keywords:
            if one.arg in ("family", None):
                raise Refused(f"`{symbol}` with `family`")
            if one.arg != "collections":
                name = "data" if one.arg in ("tensor", "values") else one.arg
                parts.append(f"{name}={self.of(one.value)}")
        kind = symbol.rpartition(".")[2]
        self.source.put(node, f"__tf2__.summary.{kind}({', '.join(parts)})")

    def _is_one(self, node: ast.Call) -> bool:
        """Rows are looked up in one table that is a weight."""
        names = {one.arg for one in node.keywords}
        table = node.args[0] if len(node.args) == 2 and names <= {"name"} else None
        if isinstance(table, ast.Name):
            table = self.value_of(table.id)
        made = self.of(table.func) if isinstance(table, ast.Call) else ""
        return attribute_of_self(table) is not None or self.symbol(made) in _WHOLE

    def _check_norm(self, node: ast.Call) -> None:
        frozen = [one for one in node.keywords if one.arg == "trainable"]
        if frozen and self.of(frozen[0].value) != "True":
            for use in self.uses(self._holder(node)):
                flag = [
                    self.of(one.value) for one in use.keywords if one.arg == "training"
                ]
                if flag and flag[0] != "False":
                    raise Refused(
                        "batch normalization that trains its averages and not its "
                        "weights: Keras runs such a layer in inference"
                    )
        if "Conv3D" in self.code and not any(k.arg == "fused" for k in node.keywords):
            # Of TensorFlow 1 only that of images was fused, and corrected variances.
            if "Conv2D" in self.code:
                raise Refused("batch normalization of volumes and of images")
            self.source.add_argument(node, "fused=False")

    def _aliases(self) -> None:
        """Layers are read where the constructor keeps them, not by another name."""
        for node in walk_ast(self.call, ast.Assign):
            if len(node.targets) != 1:
                continue
            name, attribute = dotted(node.targets[0]), attribute_of_self(node.value)
            value = self.attributes().get(attribute or "")
            if not isinstance(value, ast.Call) or self.value_of(name) is not node.value:
                continue
            for one in loads_in(self.call):
                if one.id == name:
                    self.source.put(one, f"self.{attribute}")
            self.source.drop(node)
        self.code = without_gone(self.source.done())
        self.read()

    # -- loops

    def _loops(self) -> None:
        """Loops go over the layers alone where nothing else is read."""
        lists = {
            name
            for name, value in self.attributes().items()
            if isinstance(value, ast.List) and self.appended(name)
        } | self.rounds
        for node in walk_ast(self.call):
            if isinstance(node, ast.For):
                inside: list[ast.AST] = [*node.body, *node.orelse]
            elif isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)):
                if len(node.generators) == 1:
                    inside = [*ast_children(node)]
                    inside.remove(node.generators[0])
                    inside += node.generators[0].ifs
                    self._loop(node.generators[0], inside, lists)
                continue
            else:
                continue
            self._loop(node, inside, lists)
        self.take()

    def _loop(
        self,
        node: ast.For | ast.comprehension,
        inside: Sequence[ast.AST],
        lists: Container[str],
    ) -> None:
        over = node.iter
        if not (isinstance(over, ast.Call) and dotted(over.func) == "zip"):
            return
        if not isinstance(node.target, ast.Tuple):
            return
        pairs = [*zip(node.target.elts, over.args, strict=False)]
        layers = [one for one in pairs if attribute_of_self(one[1]) in lists]
        others = [one for one in pairs if one not in layers]
        used = {one.id for part in inside for one in walk_ast(part, ast.Name)}
        if not layers or not others:
            return
        counted: str | None = None
        shown, held = [], []
        for target, iterated in others:
            late = {one.id for one in names_in(iterated)} & self.locals - {"self"}
            name, over_what = self._needed(target, iterated, used)
            if len(others) > 1 and (late or (over_what is None and name)):
                name, over_what = self.of(target), self.of(iterated)
            if name is None:
                continue
            if over_what is None:
                counted = name
                continue
            shown.append(name)
            held.append(over_what)
        shown += [self.of(target) for target, _ in layers]
        held += [self.of(iterated) for _, iterated in layers]
        joined = held[0] if len(held) == 1 else f"zip({', '.join(held)})"
        if counted is not None:
            if len(held) > 1:
                shown = [f"({', '.join(shown)})"]
            shown.insert(0, counted)
            joined = f"enumerate({joined})"
        self.source.put(node.target, ", ".join(shown))
        self.source.put(over, joined)

    def _needed(
        self, target: ast.expr, over: ast.expr, used: Container[str]
    ) -> tuple[str | None, str | None]:
        """What is read of the rounds: a target, and what it goes over.

        No second one for numbers that `enumerate` gives to the layers.
        """
        names = [one.id for one in walk_ast(target, ast.Name)]
        read = [one for one in names if one in used]
        if not read:
            return None, None
        function = dotted(over.func) if isinstance(over, ast.Call) else ""
        if (
            function == "enumerate"
            and isinstance(target, ast.Tuple)
            and len(names) == 2
        ):
            assert isinstance(over, ast.Call)
            if read == names[:1] and len(over.args) == 1:
                return names[0], None
            if read == names[1:] and len(over.args) == 1:
                return names[1], self.of(over.args[0])
        if function == "range" and isinstance(over, ast.Call) and len(over.args) == 1:
            return names[0], None
        return self.of(target), self.of(over)

    def _comprehensions(self) -> None:
        """Lists that a loop fills are comprehensions, where one statement does it."""
        while True:
            found = self._filled()
            if found is None:
                return
            lists, loop = found
            names = {one.id for one in walk_ast(loop.target, ast.Name)}
            for empty, append in lists:
                assert isinstance(append.value, ast.Call)
                element = append.value.args[0]
                used = {one.id for one in walk_ast(element, ast.Name)}
                target, over = self._rounds(loop, used & names)
                made = f"[{self.of(element)} for {target} in {over}]"
                self.source.put(empty, f"{self.of(empty.targets[0])} = {made}")
            self.source.drop(loop)
            self.code = without_gone(self.source.done())
            self.read()

    def _rounds(self, loop: ast.For, used: set[str]) -> tuple[str, str]:
        """What a comprehension goes over."""
        target, over = self.of(loop.target), self.of(loop.iter)
        if isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1:
            function = dotted(loop.iter.func)
            if function == "enumerate" and isinstance(loop.target, ast.Tuple):
                first, second = loop.target.elts
                if self.of(first) not in used:
                    return self.of(second), self.of(loop.iter.args[0])
            if function == "range" and not used:
                return "_", over
        if isinstance(loop.target, ast.Tuple):
            target = ", ".join(map(self.of, loop.target.elts))
        return target, over

    def _filled(self) -> tuple[list[tuple[ast.Assign, ast.Expr]], ast.For] | None:
        for place, loop in enumerate(self.init.body):
            if not isinstance(loop, ast.For) or loop.orelse:
                continue
            pairs: list[tuple[ast.Assign, ast.Expr]] = []
            for one in loop.body:
                if not (
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Call)
                    and isinstance(one.value.func, ast.Attribute)
                    and one.value.func.attr == "append"
                ):
                    break
                name = attribute_of_self(one.value.func.value)
                empty = [
                    before
                    for before in self.init.body[:place]
                    if isinstance(before, ast.Assign)
                    and attribute_of_self(before.targets[0]) == name
                    and isinstance(before.value, ast.List)
                    and not before.value.elts
                ]
                if len(empty) != 1:
                    break
                pairs.append((empty[0], one))
            else:
                plain = not any(
                    isinstance(n, ast.Call)
                    and dotted(n.func) not in ("enumerate", "range")
                    for n in walk_ast(loop.iter)
                )
                if pairs and (len(pairs) == 1 or plain):
                    return pairs, loop
        return None

    # -- columns

    def columns_layer(self, name: str) -> str:
        """The layer for columns: one of training.py, if they may share embeddings."""
        if self.module.shared_columns:
            return name
        sequence = name == "SequenceFeatures"
        return f"tf_keras.{'experimental' if sequence else 'layers'}.{name}"

    def top(self, node: ast.AST) -> ast.stmt:
        """The statement of the constructor's own block that a node is part of."""
        return next(one for one in self.init.body if _holds(one, node))

    # -- what is left over

    def _unread(self) -> None:
        """Attributes, and names of the constructor, that nothing reads are not kept."""
        while True:
            loaded = {
                one.id for one in names_in(self.init) if isinstance(one.ctx, ast.Load)
            }
            read = {
                name
                for node in walk_ast(self.tree, ast.Attribute)
                if isinstance(node.ctx, ast.Load)
                and (name := attribute_of_self(node)) is not None
            }
            found = [
                node
                for node in self.init.body
                if (
                    isinstance(node, ast.Assign)
                    and dotted(node.targets[0]) in self.starts - loaded
                )
                or (
                    isinstance(node, ast.Assign)
                    and (name := attribute_of_self(node.targets[0])) is not None
                    and name not in read
                    and isinstance(node.value, (ast.Name, ast.Attribute))
                    and not self.module.reads(name, self.node)
                )
                or (
                    any(_names_one(node, one) for one in self.init_names - loaded)
                    and not any(isinstance(one, ast.Call) for one in walk_ast(node))
                )
            ]
            if not found:
                return
            self.source.drop(found[0])
            self.code = without_gone(self.source.done())
            self.read()

    def _unread_values(self) -> None:
        """Values that the call computed for weights alone are not computed."""
        while True:
            # What gives a name a new value out of its old one does not read it.
            read = {
                one.id
                for one in loads_in(self.call)
                if not _names_one(self.statement(one), one.id)
            }
            found = [
                node
                for node in walk_ast(self.call, ast.Assign)
                for target in node.targets[:1]
                if {
                    *map(
                        dotted,
                        target.elts if isinstance(target, ast.Tuple) else [target],
                    )
                }
                <= self.moved_names - read
            ]
            if not found:
                return
            self.source.drop(found[0])
            self.code = without_gone(self.source.done())
            self.read()


def _in_order(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block, and in the place of `with scope:` what is in it."""
    found: list[ast.stmt] = []
    for one in block:
        scope = isinstance(one, ast.With) and not any(
            i.optional_vars for i in one.items
        )
        found += _in_order(getattr(one, "body", ())) if scope else [one]
    return found


def _part(value: ast.expr, place: int) -> ast.expr | None:
    """What a name gets of a pair, or of a comprehension that makes several alike."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts[place]
    if not isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return None
    given = {one.id for part in value.generators for one in names_in(part.target)}
    told = given & {one.id for one in loads_in(value.elt)}
    return None if told else value.elt


def _names_one(node: ast.AST, name: str) -> bool:
    """``name = ...``"""
    return isinstance(node, ast.Assign) and [*map(dotted, node.targets)] == [name]


def _stored(node: ast.AST) -> set[str]:
    return {one.id for one in stores_in(node)}


def _holds(node: ast.AST, inner: ast.AST) -> bool:
    return any(one is inner for one in walk_ast(node))


def _made_in(statement: ast.stmt, text: Text) -> set[str]:
    """Attributes with layers or weights that a statement of a constructor makes."""
    found = {
        name
        for node in walk_ast(statement)
        if (name := attribute_of_self(node)) is not None
    }
    code = text.of(statement)
    makes = re.search(
        r"layers\.|Layer\(|add_weight|Variable\(|Sequential|= \[\]|[A-Z]\w+\(", code
    )
    return found if makes else set()
