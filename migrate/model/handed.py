"""What a call may reach of which only the program knows what it calls.

Whatever a table, a parameter or an attribute holds has been a value somewhere: a
function that is decorated, or named where it is not called.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from ..code.tree import Tree
from ..project.facts import ParsedModule
from .arguments import Argument, Mismatch, bound, parameters_of
from .definitions import method_of
from .held import fill
from .values import (
    CALLED,
    Config,
    Env,
    Function,
    Instance,
    Symbol,
    Tensor,
    Value,
    join,
    loose,
    time_of,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

# Packages that make no variables of TensorFlow.
_PLAIN_PACKAGES = """
PIL absl addict attr attrs click cv2 easydict fire gensim h5py immutabledict joblib
librosa matplotlib ml_collections munch networkx nltk numba numpy omegaconf pandas
regex requests scipy sentencepiece simplejson six skimage sklearn soundfile spacy
tabulate termcolor toml tqdm yaml
"""
HARMLESS = sys.stdlib_module_names | {*_PLAIN_PACKAGES.split()}

# With these any function may be meant, or one of a file that nobody sees.
_BY_NAME = re.compile(r"\b(getattr|globals|locals|vars|eval|exec)\(|__dict__")
_BY_FILE = re.compile(r"\b(import_module|__import__|spec_from_file_location)\(")
# What calls of these give is called in its turn.
_CALLED_AGAIN = re.compile(
    r"tf\.(keras\.(layers|models|applications)\.|keras\.[A-Z]|layers\.[A-Z]"
    r"|make_template|(contrib|nn)\.rnn(_cell)?\.[A-Z])"
)
# Names of TensorFlow that nothing calls: keys, levels and types.
_CONSTANT = re.compile(r"\.([A-Z_]+|bool|string|(u?int|b?float|complex)\d+)$")
# What is given to these is no value for others.
_ASKING = ("builtins.isinstance", "builtins.issubclass", "builtins.super")


class Handed:
    """The functions of some files that are values somewhere, and what they do."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._found: list[Value] | None = None
        # Those that take arguments of some names and stars.
        self._fitting: dict[object, list[Value]] = {}
        # What else may be called, which is not among these.
        self._others = ""
        # Some of their arguments may be given before the call.
        self._partial = False
        # What they give, and which layers they make.
        self._judged: dict[object, tuple[Value, str]] = {}

    def fitting(self, arguments: Sequence[Argument]) -> list[Value]:
        """Functions, classes and names of TensorFlow that a call may mean."""
        if self._found is None:
            self._found = self._values()
        shape = tuple((one.keyword, one.star) for one in arguments)
        if shape not in self._fitting:
            found = [one for one in self._found if self._fits(one, arguments)]
            self._fitting[shape] = found
        return self._fitting[shape]

    def result(self, arguments: Sequence[Argument]) -> tuple[Value | None, str]:
        """What such a call gives if none of them makes variables, or which one does."""
        found: Value | None = None
        for one in self.fitting(arguments):
            value, why = self._judge(one)
            if why:
                return None, why
            found = join(found, value)
        return (found, "") if not self._others else (None, self._others)

    def _judge(self, one: Value) -> tuple[Value, str]:
        key = one if isinstance(one, Symbol) else one.node  # type: ignore[attr-defined]
        if key in self._judged:
            return self._judged[key]
        before = {*self._judged}
        self._judged[key] = Config(), ""  # What calls itself does no more by that.
        value, why = self._tried(one)
        if why:
            for other in {*self._judged} - before:
                del self._judged[other]  # It was judged by what this one does.
        self._judged[key] = value, why
        return value, why

    def _tried(self, one: Value) -> tuple[Value, str]:
        """What one of them gives, and that it makes layers, or may do so."""
        apart = self.evaluator.apart()
        apart.handed = self
        if isinstance(one, Instance):
            return one, f"an object of `{one.node.name.value}`"
        if isinstance(one, Function):
            names = _names(one.node)
            given: dict[str, Value] = {name: Config() for name in names}
            if isinstance(one.owner, Instance) and names:
                given[names[0]] = one.owner
                fill(apart, one.owner)
            value, makes = apart.enter(one, given)
            named = isinstance(one.node, cst.FunctionDef)
            shown = f"`{one.node.name.value}`" if named else "a lambda"  # type: ignore[union-attr]
            shown = f"{shown} of {one.module.path.name}"
        else:
            assert isinstance(one, Symbol)
            call = cst.parse_expression("call(x)")
            assert isinstance(call, cst.Call)
            env = Env(next(iter(self.evaluator.files.values())), {})
            told = [Argument(Tensor(), call.args[0].value)]
            value, makes = apart.call(one, call, told, env), False
            shown = f"`{one.name}`"
        notes = apart.notes
        # Names of TensorFlow that nothing is known of are told of anyway.
        unknown = notes.unknown if isinstance(one, Function) else {}
        if makes or notes.made or notes.keras or notes.applied or unknown:
            return value, f"{shown}, which makes layers"
        return value if isinstance(value, CALLED) else loose(time_of(value)), ""

    def _values(self) -> list[Value]:
        files = [*self.evaluator.files.values()]
        trees = [Tree(one.module, one.resolver) for one in files]
        self._others = next(filter(None, map(self._called_else, files)), "")
        self._partial = any("partial(" in one.source.text for one in files)
        by_name = any(_BY_NAME.search(one.source.text) for one in files)
        names: set[str] = set()
        symbols: set[str] = set()
        for tree in trees:
            every: list[cst.Name | cst.Attribute] = [*tree.resolver.scopes.loads]
            for node in (*every, *tree.each(cst.Attribute)):
                if _is_value(tree, node):
                    symbols |= {tree.symbol(node) or ""}
                    last = node.attr if isinstance(node, cst.Attribute) else node
                    names.add(last.value)
        found: list[Value] = []
        for module, tree in zip(files, trees, strict=True):
            for one in module.each(cst.FunctionDef):
                name = one.name.value
                if {"features", "mode"} <= {*_names(one)}:
                    continue  # an Estimator calls it
                called = name in names or name in ("__call__", "call")
                if by_name or one.decorators or called:
                    block = tree.parent(one)
                    holder = tree.parent(block) if block is not None else None
                    owner = None
                    if isinstance(holder, cst.ClassDef):
                        owner = Instance(holder, module, made=True)
                    found.append(Function(one, module, owner=owner))
            for kind in module.each(cst.ClassDef):
                if by_name or kind.decorators or kind.name.value in names:
                    found.append(Instance(kind, module))
            for made in module.each(cst.Lambda):
                if not _is_given_away(tree, made):
                    found.append(Function(made, module))
        told = [one for one in sorted(symbols) if one.startswith("tf.")]
        found += [Symbol(one) for one in told if not _CONSTANT.search(one)]
        return found

    def _fits(self, one: Value, arguments: Sequence[Argument]) -> bool:
        """It takes as many arguments, and those that are given by name."""
        function: cst.FunctionDef | cst.Lambda | None = None
        firsts: list[list[Value]] = [[]]
        if isinstance(one, Instance):
            function, firsts = method_of(one.node, "__init__"), [[one]]
        elif isinstance(one, Function):
            function = one.node
            # A method may be asked for by its class as well.
            firsts += [[one.owner]] if one.owner is not None else []
        if function is None:
            return True
        given = [a.value for a in arguments if a.keyword is None and not a.star]
        keywords = [(a.keyword, a.value) for a in arguments if a.keyword]
        spread = self._partial or any(one.star for one in arguments)
        defaults: dict[str, Value] = {
            p.name.value: Config()
            for p in parameters_of(function.params)
            if spread or p.default is not None
        }
        for first in firsts:
            try:
                bound(function.params, [*first, *given], keywords, defaults=defaults)
            except Mismatch:
                continue
            return True
        return False

    def _called_else(self, module: ParsedModule) -> str:
        """Something that a file makes or brings, and that may be called as well."""
        tree = Tree(module.module, module.resolver)
        by_file = _BY_FILE.search(tree.text)
        if by_file is not None:
            return f"of a file that `{by_file[1]}` finds"
        for call in tree.each(cst.Call):
            if _CALLED_AGAIN.match(tree.symbol(call.func) or ""):
                return f"what `{tree.code(call.func)}` gives"
        for one in module.resolver.scopes.module_scope.bindings.values():
            package = (one[0].target or "").partition(".")[0]
            if one[0].relative:
                continue
            if package not in (*HARMLESS, "tensorflow", "__future__", "") and (
                self.evaluator.facts.locate(package, module.path) is None
            ):
                return f"of the package `{package}`"
        return ""


def _names(node: cst.FunctionDef | cst.Lambda) -> list[str]:
    return [one.name.value for one in parameters_of(node.params, stars=True)]


def _is_value(tree: Tree, node: cst.CSTNode) -> bool:
    """A whole name that is neither called nor given to TensorFlow, which calls it."""
    above = tree.parent(node)
    if isinstance(above, (cst.Attribute, cst.Decorator)):
        return False
    called = isinstance(above, cst.Call) and above.func is node
    return not called and not _is_given_away(tree, node)


def _is_given_away(tree: Tree, node: cst.CSTNode) -> bool:
    """It is among the arguments of a call of TensorFlow's, or of one that asks."""
    calls = [one.func for one in tree.ancestors(node) if isinstance(one, cst.Call)]
    names = [tree.symbol(one) or tree.resolver.qualified(one) or "" for one in calls]
    return any(one.startswith("tf.") or one in _ASKING for one in names)
