"""Variables that a model function finds by their names: to train them, or to load them.

In Keras that is said of layers: those that are left out are not trained, and those that
a checkpoint has are named with what it calls them.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING

from ...names.ast_nodes import expression_of, parents_of
from ...names.ast_nodes import walk as walk_ast
from .code import UNKNOWN, Refused, dotted, literal
from .sharing import Places
from .text import loads_in, names_in, stores_in
from .weights import COLUMNS, move_weights

if TYPE_CHECKING:
    from .classes import Lifted, Module
    from .sharing import _Place

_UPDATES = ("var_list", "variables", "variables_to_train")
_BY_PLACE = {"minimize": 2, "compute_gradients": 1, "gradients": 1}
_TRAINABLE = ("tf.trainable_variables", "tf.contrib.framework.get_trainable_variables")
_BEGIN = "init_from_checkpoint"
_WORDS = ("trainable_variables", "TRAINABLE_VARIABLES", "get_trainable_variables")
# Names of weights of whatever layer.
_WEIGHTS = ("kernel", "bias", "gamma", "beta", "weights", "biases", "embeddings")
_EVERY = ("global_variables()", "get_variables()")
_SAFE = (
    ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Attribute,
    ast.Call, ast.GeneratorExp, ast.comprehension, ast.List, ast.Tuple, ast.Subscript,
    ast.Slice, ast.cmpop, ast.boolop, ast.unaryop, ast.expr_context,
)  # fmt: skip
# Layers whose weights are called in Keras what they were called in TensorFlow 1.
_LOADED = re.compile(r"keras\.layers\.(Dense|(Separable)?Conv\dD|BatchNormalization)$")
_HIDDEN = re.compile(r"\w*_rnn\b|\w+Cell\b|new_variable")
# What a test of names may call. Not the module `re`, by which one gets to others: a
# program is never run.
_RE = SimpleNamespace(**{name: getattr(re, name) for name in re.__all__})
_FUNCTIONS = {"any": any, "all": all, "len": len, "re": _RE, "str": str}

_Test = Callable[[str], bool]
_Path = tuple[str, ...]


@dataclass
class Started:
    """What a pattern of names means, by which weights begin as in a checkpoint."""

    # Attributes of a model all of whose layers it means.
    layers: list[_Path] = field(default_factory=list)
    # Where TensorFlow 1 has each variable, and the attribute that has it.
    variables: set[tuple[_Place, _Path]] = field(default_factory=set)


def hold_layers(module: Module) -> dict[ast.AST, str]:
    """Does not train layers whose variables an update of a model function leaves out.

    Returns what stands for code of the module: all variables that are trained are those
    that were chosen. Raises Refused.
    """
    words = (*_UPDATES, *_WORDS, "gradients", _BEGIN)
    if not any(word in module.code for word in words):
        return {}
    found: dict[ast.AST, str] = {}
    for one in module.classes:
        move_weights(one, COLUMNS)
    functions = walk_ast(module.tree, ast.FunctionDef)
    inner = {
        one for f in functions for one in walk_ast(f, ast.FunctionDef) if one is not f
    }
    for function in functions:
        reader = _Reader(module, function)
        if function in inner and not [*reader.models()]:
            continue  # what it chooses is read with what is around it
        chosen = reader.chosen()
        if len(chosen) == 1:
            ((node, test),) = chosen.items()
            reader.hold(node, test)
            found[node] = f"{reader.tf}.trainable_variables()"
        several = chosen if len(chosen) > 1 else {}
        for node, test in (several | reader.read_elsewhere(chosen)).items():
            found[node] = reader.part(test)
        found |= reader.read()
    return found


def find_started(module: Module, patterns: Mapping[str, Started]) -> None:
    """Finds the layers of which a warm start names the variables; raises Refused.

    A checkpoint has them by the attributes of the model that wrote it, so these have to
    be the same in all models that have such layers.
    """
    functions = walk_ast(module.tree, ast.FunctionDef)
    for reader in [_Reader(module, one) for one in functions] if patterns else ():
        for _, places in reader.models():
            if re.search(r"\btrainable=(?!True\b)", module.code):
                raise Refused("a warm start leaves layers out that do not train")
            for pattern, known in patterns.items():
                found = reader.started(places, pattern)
                if found.layers and known.layers and found != known:
                    raise Refused(
                        f"what `{pattern}` names is in other attributes of each model"
                    )
                known.layers = known.layers or found.layers
                known.variables |= found.variables


class _Reader:
    """A function that makes models, and what it says of names."""

    def __init__(self, module: Module, function: ast.FunctionDef) -> None:
        self.module = module
        self.function = function
        self.classes = module.known
        self.tf = module.classes[0].tf
        # Texts that names are asked for.
        self.asked: set[str] = set()
        # A function that looks into a checkpoint, named before what stands for it.
        self.helper = ""

    # -- what is chosen

    def chosen(self) -> dict[ast.expr, _Test]:
        """The expressions that choose variables to train, and how."""
        found: dict[ast.expr, _Test] = {}
        for node in walk_ast(self.function, ast.Call):
            given = [k.value for k in node.keywords if k.arg in _UPDATES]
            place = _BY_PLACE.get(getattr(node.func, "attr", ""))
            if place is not None:
                given += node.args[place : place + 1]
            for one in given:
                source = self._source(one)
                test = self._test(source)
                if test is not None and not self._is_all(source):
                    found[source] = test
        return found

    def read_elsewhere(self, chosen: Collection[ast.expr]) -> dict[ast.expr, _Test]:
        """Variables of a scope that no update is told of: those of a penalty."""
        found: dict[ast.expr, _Test] = {}
        for node in walk_ast(self.function, ast.Call):
            asks = self._symbol(node.func) in (*_TRAINABLE, "tf.get_collection")
            if asks and node not in chosen and self._scope(node) is not None:
                test = self._test(node)
                if test is not None:
                    found[node] = test
        return found

    def _source(self, node: ast.expr) -> ast.expr:
        """What a name stands for, where it is given once."""
        if not isinstance(node, ast.Name):
            return node
        stores = [
            one
            for one in walk_ast(self.function, ast.Assign)
            if any(n.id == node.id for t in one.targets for n in names_in(t))
        ]
        if len(stores) == 1 and dotted(stores[0].targets[0]) == node.id:
            return self._source(stores[0].value)
        held = None if stores else self.module.value(node.id)
        return node if held is None else expression_of(held)

    def _symbol(self, node: ast.expr) -> str:
        return self.module.symbol(dotted(node)) or ""

    def _is_all(self, node: ast.expr) -> bool:
        """All variables that are trained."""
        return isinstance(node, ast.Call) and self._scope(node) is None

    def _scope(self, node: ast.Call) -> ast.expr | None:
        """The scope that variables are asked for."""
        place = 1 if self._symbol(node.func) == "tf.get_collection" else 0
        named = [k.value for k in node.keywords if k.arg == "scope"]
        return next(iter((*node.args[place : place + 1], *named)), None)

    def _test(self, node: ast.expr) -> _Test | None:
        """Whether an expression has the variable of a name; None if it has others."""
        if isinstance(node, ast.Call):
            symbol = self._symbol(node.func)
            if symbol == "tf.get_collection" and node.args:
                key = literal(ast.unparse(node.args[0]))
                key = key if key is not UNKNOWN else dotted(node.args[0])
                trained = str(key).rpartition(".")[2].upper() == "TRAINABLE_VARIABLES"
            else:
                trained = symbol in _TRAINABLE
            scope = self._scope(node)
            if not trained or scope is None:
                return (lambda name: True) if trained else None
            text = self._constant(scope)
            return lambda name: re.match(text, name) is not None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            first, second = self._test(node.left), self._test(node.right)
            if first is None or second is None:
                return None
            return lambda name: first(name) or second(name)
        if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
            return None
        (loop,) = node.generators
        inner = self._test(self._source(loop.iter))
        name = dotted(loop.target)
        if inner is None or dotted(node.elt) != name or not name:
            return None
        tests = [self._condition(one, name) for one in loop.ifs]
        return lambda told: inner(told) and all(one(told) for one in tests)

    def _constant(self, node: ast.expr) -> str:
        value = literal(ast.unparse(self._source(node)))
        if not isinstance(value, str):
            raise Refused(f"variables of the scope `{ast.unparse(node)}`")
        self.asked.add(value)
        return value

    def _condition(self, node: ast.expr, variable: str) -> _Test:
        """A test of a comprehension, which can be made of a name alone."""
        if isinstance(node, ast.Compare) and dotted(node.left) == variable:
            among = self._test(self._source(node.comparators[0]))
            if among is not None and isinstance(node.ops[0], ast.In | ast.NotIn):
                wanted = isinstance(node.ops[0], ast.In)
                return lambda name: among(name) == wanted
        known = dict(_FUNCTIONS)
        inside = {n.id for n in stores_in(node)}
        for one in names_in(node):
            if one.id not in {*inside, *_FUNCTIONS, variable}:
                known[one.id] = literal(ast.unparse(self._source(one)))
        texts = [n.value for n in walk_ast(node, ast.Constant)]
        self.asked |= {str(one) for one in (*texts, *known.values())}
        plain = all(isinstance(one, _SAFE) for one in walk_ast(node))
        code = compile(ast.Expression(node), "<test>", "eval")

        def test(name: str) -> bool:
            told = SimpleNamespace(name=f"{name}:0", op=SimpleNamespace(name=name))
            return bool(eval(code, {**known, "__builtins__": {}, variable: told}))

        hidden = any(
            isinstance(n, ast.Attribute) and n.attr[0] == "_" for n in walk_ast(node)
        )
        if not plain or hidden or UNKNOWN in known.values():
            raise Refused(f"variables are chosen by `{ast.unparse(node)}`")
        return test

    # -- layers

    def models(self) -> Iterator[tuple[str, Places]]:
        """The models that the function makes and calls, and their variables' places."""
        above = parents_of(self.function)
        for node in above:
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            made = self._source(node.func)
            lifted = self.classes.get(dotted(getattr(made, "func", made)))
            if lifted is None or not isinstance(made, ast.Call):
                continue
            scopes = self.module.scopes_of(node, above, None)
            if scopes is None:
                raise Refused("variables are found by their names in unknown scopes")
            places = Places(lifted, self.classes, {}, scopes)
            places.attributes()
            yield node.func.id, places

    def names(
        self, places: Places, attribute: str, *, whole: bool = True
    ) -> Iterator[str]:
        """Names that a layer or a weight may have, or its variables (`whole`).

        What is not known of them may be what is asked for.
        """
        is_weight = attribute in places.variables or not whole
        ends = [""] if is_weight else [f"/{one}" for one in _WEIGHTS]
        fillers = ("0", "1", "x", *sorted(self.asked))
        for name, found in places.found:
            for place in found if name == attribute else ():
                parts = [part.spelled(fillers) for part in place]
                for one in itertools.product(*parts, ends):
                    yield "/".join(one[:-1]) + one[-1]

    # -- checkpoints

    def read(self) -> dict[ast.AST, str]:
        """What stands for a statement that lets variables begin as in a checkpoint."""
        above = parents_of(self.function)
        calls = self._loading()
        if not calls:
            return {}
        call, block = calls[0], above[calls[0]]
        given = [*call.args, *(one.value for one in call.keywords)]
        if len(calls) > 1 or len(given) != 2 or not isinstance(block, ast.Expr):
            raise Refused("what variables begin with is said in several ways")
        path, mapping = given
        for _, places in self.models():
            self._check_seen(places)
        names, partly = self._mapped(mapping)
        layers = [
            f"{self.module.quote}{name}{self.module.quote}: {layer}"
            for holder, places in self.models()
            for name, layer in self._layers(places, holder, names)
        ]
        if not layers:
            raise Refused("no layer is found of those that a checkpoint has")
        shown = f"{self.module.text.of(path)}, {{{', '.join(layers)}}}"
        shown += ", missing_ok=True" if partly else ""
        code = f"read_layers({shown})"
        holder = above[block]
        if not isinstance(holder, ast.If) or block not in holder.body:
            margin = " " * block.col_offset
            return {block: f"{self.helper}{margin}{code}" if self.helper else code}
        if holder.orelse:
            raise Refused("what variables begin with is said in several ways")
        margin = " " * holder.col_offset if self.helper else ""
        inner = " " * holder.body[0].col_offset
        test = self._without_mode(holder.test)
        return {holder: f"{self.helper}{margin}if {test}:\n{inner}{code}"}

    def _without_mode(self, test: ast.expr) -> str:
        """A test without what only says that it trains: only then this counts."""
        kept = [
            one
            for one in (test.values if isinstance(test, ast.BoolOp) else ())
            if not any(n.id == "mode" for n in names_in(self._source(one)))
        ]
        alone = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and kept
        shown = map(self.module.text.of, kept if alone else [test])
        return " and ".join(shown)

    def _loading(self) -> list[ast.Call]:
        return [
            one
            for one in walk_ast(self.function, ast.Call)
            if self._symbol(one.func).endswith(f".{_BEGIN}")
        ]

    def _mapped(self, node: ast.expr) -> tuple[Callable[[str], str | None], bool]:
        """What a checkpoint calls variables; whether only what it has is meant."""
        source = self._source(node)
        for one in walk_ast(self.function, ast.Assign):
            if isinstance(one.targets[0], ast.Tuple):
                names = [dotted(name) for name in one.targets[0].elts]
                source = one.value if dotted(node) == names[0] else source
        if isinstance(source, ast.Dict):
            pairs = [
                (self._constant(key), self._constant(value))
                for key, value in zip(source.keys, source.values, strict=True)
                if key is not None
            ]

            def named(name: str) -> str | None:
                for old, new in pairs:
                    if new == "/" or f"{name}/".startswith(new):
                        rest = f"{name}/".removeprefix("" if new == "/" else new)
                        return (("" if old == "/" else old) + rest)[:-1]
                return None

            if any(not (old.endswith("/") and new.endswith("/")) for old, new in pairs):
                raise Refused("variables that begin one by one as in a checkpoint")
            return named, False
        if isinstance(source, ast.DictComp):
            return self._own(self._by_own_names(source)), False
        called = self.module.function(dotted(getattr(source, "func", source)))
        asked = source.args[0] if isinstance(source, ast.Call) and source.args else node
        every = self.module.text.of(self._source(asked)).endswith(_EVERY)
        test = None if every else self._test(self._source(asked))
        if (
            called is None
            or not _maps_names(self.module.text.of(called))
            # Averages of batch normalization are variables that are not trained.
            or not (
                every
                or (test and not any(_normalizes(one) for _, one in self.models()))
            )
        ):
            shown = self.module.text.of(source)
            raise Refused(f"`{shown}` says which variables begin as in a checkpoint")
        self.helper = f"{called.name}\n"

        return self._own(test), True

    def _by_own_names(self, node: ast.DictComp) -> _Test | None:
        """``{v.op.name: v for v in variables}``: those that begin as a checkpoint's."""
        name = dotted(node.value)
        chosen = ast.ListComp(node.value, node.generators)
        test = self._test(ast.fix_missing_locations(chosen))
        normalizes = any(_normalizes(one) for _, one in self.models())
        keys = (f"{name}.name.split(':')[0]", f"{name}.op.name", f"{name}.name[:-2]")
        if test is None or normalizes or ast.unparse(node.key) not in keys:
            raise Refused(
                f"`{ast.unparse(node)}` says which variables begin as in a checkpoint"
            )
        return test

    def _own(self, test: _Test | None) -> Callable[[str], str | None]:
        """The names of layers all of whose variables are chosen, as they are."""

        def own(name: str) -> str | None:
            told = {test is None or test(f"{name}/{one}") for one in _WEIGHTS}
            if len(told) > 1:
                raise Refused(f"a part of `{name}` begins as in a checkpoint")
            return name if told == {True} else None

        return own

    def _layers(
        self, places: Places, path: str, named: Callable[[str], str | None]
    ) -> Iterator[tuple[str, str]]:
        """Names of a checkpoint, and the layers that they mean."""
        for attribute in dict.fromkeys(name for name, _ in places.found):
            if attribute in places.inner:
                inner = places.inner[attribute]
                found = [*self._layers(inner, f"{path}.{attribute}", named)]
                alone = len({name for name, _ in inner.found}) == 1
                kind = rf"\b{inner.lifted.name}\("
                if found and (alone or len(re.findall(kind, places.lifted.code)) > 1):
                    # One layer may be made by a function; several have one path.
                    raise Refused(
                        f"`{attribute}` begins as in a checkpoint, under no one name"
                    )
                yield from found
                continue
            names = {*self.names(places, attribute, whole=False)}
            told = {named(name) for name in names}
            if told == {None}:
                continue
            value = places.lifted.attributes().get(attribute)
            kind = places.lifted.of(value.func) if isinstance(value, ast.Call) else ""
            (name,) = told if len(names) == 1 and _LOADED.search(kind) else (None,)
            if name is None:
                raise Refused(
                    f"`{attribute}` begins as in a checkpoint, under no one name"
                )
            if name.rpartition("/")[2] != attribute:
                # A checkpoint of TensorFlow 2 calls it by its attribute.
                raise Refused(f"`{attribute}` begins as `{name}` of a checkpoint")
            yield name, f"{path}.{attribute}"

    def started(self, places: Places, pattern: str) -> Started:
        """The layers of a model all of whose variables have names as a pattern says."""
        self._check_seen(places)
        self.asked |= {*re.findall(r"[\w/]+", pattern)}
        try:
            layers = self._held(
                places, lambda name: re.match(pattern, f"{name}:0") is None
            )[1]
        except Refused:
            raise Refused(f"`{pattern}` names some variables of a layer") from None
        found = {
            (place, path)
            for place, path in _leaves(places)
            if any(path[: len(one)] == one for one in layers)
        }
        return Started(layers, found)

    # -- training

    def part(self, test: _Test) -> str:
        """The variables that one of several optimizers trains, as those of layers."""
        found = []
        for model, places in self.models():
            self._check_seen(places)
            for path in self._held(places, lambda name: not test(name))[1]:
                path = (model, *path)
                inner = places
                for one in path[1:-1]:
                    inner = inner.inner[one]
                shown = ".".join(path)
                weight = path[-1] in inner.variables
                found.append(shown if weight else f"*{shown}.trainable_variables")
        if not found:
            raise Refused("no variable is found among those that are to be trained")
        if len(found) == 1 and found[0].startswith("*"):
            return found[0][1:]
        return f"[{', '.join(found)}]"

    def hold(self, node: ast.expr, test: _Test) -> None:
        """Makes layers whose variables are not chosen as those that do not train."""
        self._check_others(node)
        trained: set[bool] = set()
        for _, places in self.models():
            self._check_seen(places)
            told, held = self._held(places, test)
            trained |= told
            for path in held:
                self._hold(places, path)
            for one in self.module.classes:
                one.take()
        if trained == {False}:
            raise Refused("no variable is found among those that are to be trained")

    def _check_seen(self, places: Places) -> None:
        """Refuses a model with variables that are no layer's and no weight's."""
        hidden = _HIDDEN.search(places.lifted.code)
        if hidden is not None:
            raise Refused(
                f"variables are found by name, and `{hidden[0]}` makes others"
            )
        made = places.lifted.attributes()
        for name in {one for one, _ in places.found} & {*made} - {*places.inner}:
            node = places.made(name, made[name])
            kind = "" if node is None else places.lifted.of(node.func)
            if places.lifted.module.imports(kind):
                raise Refused(f"variables are found by name, and `{kind}` makes others")
        for one in places.inner.values():
            self._check_seen(one)

    def _check_others(self, node: ast.expr) -> None:
        """Refuses where others read all variables, of which some do not train now."""
        known = {*walk_ast(node)}
        for one in walk_ast(self.module.tree, ast.FunctionDef):
            if one is not self.function:
                calls = walk_ast(one, ast.Call)
                if any(dotted(n.func) in self.classes for n in calls):
                    known |= {*walk_ast(one)} - {*walk_ast(self.function)}
        given = [one for call in self._loading() for one in call.args[1:]]
        names = {n.id for one in given for n in names_in(one)}
        loads = loads_in(self.function)
        for statement in reversed(walk_ast(self.function, ast.Assign)):
            bound = {n.id for part in statement.targets for n in names_in(part)}
            read = [n for n in loads if n.id in bound]
            if bound & names or (read and all(n in known for n in read)):
                known |= {*walk_ast(statement)}
        for part in given:
            known.update(walk_ast(part))
        for found in walk_ast(self.module.tree):
            shown = getattr(found, "attr", getattr(found, "value", ""))
            if shown in _WORDS and found not in known:
                raise Refused("some variables are trained, and all of them are read")

    def _held(
        self, places: Places, test: _Test
    ) -> tuple[set[bool], list[tuple[str, ...]]]:
        """Whether variables are trained, and the attributes whose are not."""
        trained: set[bool] = set()
        held: list[tuple[str, ...]] = []
        for attribute in dict.fromkeys(name for name, _ in places.found):
            if attribute in places.inner:
                told, more = self._held(places.inner[attribute], test)
            else:
                try:
                    told = {test(name) for name in self.names(places, attribute)}
                except Exception as problem:
                    raise Refused(f"a choice of variables: {problem}") from None
                if len(told) > 1:
                    raise Refused(f"some variables of `{attribute}` are trained")
                more = []
            trained |= told
            whole = told == {False}
            held += [(attribute,)] if whole else [(attribute, *one) for one in more]
        return trained, held

    def _hold(self, places: Places, path: tuple[str, ...]) -> None:
        """Lets a layer, a weight or all in an object be as they begin."""
        first = path[0]
        inner = places.inner.get(first)
        own = inner is not None and inner.lifted.module is self.module
        if inner and own and len(path) > 1 and self._made(inner.lifted) == 1:
            self._hold(inner, path[1:])
            return
        lifted = places.lifted
        value = lifted.attributes().get(first)
        node = places.variables.get(first)
        if node is None and value is not None:
            node = places.made(first, value)
        if node is None or lifted.of(node.func).endswith(".named"):
            raise Refused(f"it is not seen how `{first}` is made")
        if inner is None:
            told = [one.value for one in node.keywords if one.arg == "trainable"]
            kept = [lifted.of(one) for one in (*node.args, *node.keywords)]
            code = f"{lifted.of(node.func)}({', '.join([*kept, 'trainable=False'])})"
            lifted.source.put(*((told[0], "False") if told else (node, code)))
            return
        if value is not node or _normalizes(inner):
            raise Refused(
                f"`{first}` is not trained: give its layers `trainable=False`"
            )
        line = f"self.{'.'.join(path)}.trainable = False"
        lifted.source.add(lifted.statement(value), line, below=True)

    def _made(self, lifted: Lifted) -> int:
        """How many calls make objects of a class."""
        return len(re.findall(rf"(?<!class ){lifted.name}\(", self.module.code))


def _leaves(places: Places, path: _Path = ()) -> Iterator[tuple[_Place, _Path]]:
    """Where the variables of a model are, and by which attributes one gets there."""
    for attribute, found in places.found:
        inner = places.inner.get(attribute)
        if inner is None:
            yield from ((place, (*path, attribute)) for place in found)
        else:
            yield from _leaves(inner, (*path, attribute))


def _maps_names(code: str) -> bool:
    """A function looks up which variables a checkpoint has, and keeps their names."""
    same = re.search(r"\[(\w+)\] = (\w+\[)?\1\b", code)
    return "list_variables(" in code and same is not None


def _normalizes(places: Places) -> bool:
    """Some layer of an object is a batch normalization."""
    found = re.search("BatchNorm|batch_norm", places.lifted.code)
    return found is not None or any(map(_normalizes, places.inner.values()))
