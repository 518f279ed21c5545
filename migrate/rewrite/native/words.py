"""The words around the models of a program, under their native names.

A table from canonical TF 1 symbols to what becomes of them. The resolver knows every
door to a symbol, so that words are found wherever they stand, also handed about. What
stays behind and lives in a graph only is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from ...code.arguments import is_none
from ...names.dotted import import_path
from ...names.nodes import walk
from ...names.scopes import BindingKind, Use
from ...names.table import lookup, means_something_else, needs_nothing
from ...project.facts import ParsedModule
from . import (
    canned_words,
    config,
    contrib_columns,
    experiments,
    helper_summaries,
    hooks,
    inputs,
    keras_words,
    learn_words,
    optimizer_words,
    receivers,
    small,
    strategies,
    tpu,
)
from .code import Refused
from .imports import Wanted, with_imports
from .layout import tidied, wrapped
from .page import Page
from .word import Handler, Odd, Word, arguments, keyword


@dataclass(frozen=True)
class Reworded:
    """A file in native words."""

    text: str
    # What asks for parts of training.py: names, methods, keywords.
    words: frozenset[str]
    # (line, what differs in numbers or was left out)
    notes: tuple[tuple[int, str], ...]
    # Values that hooks look at, by the names of their tensors: Task.watch gives them.
    watched: frozenset[str] = frozenset()
    # Names that other files take from this one.
    handed_on: frozenset[str] = frozenset()


def reworded(
    parsed: ParsedModule,
    *,
    module: str,
    package: str,
    for_tf2: bool,
    beside: Sequence[ParsedModule],
    written: ParsedModule | None = None,
    started: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
) -> Reworded:
    """A file of a program whose models are tasks, with the words around them renamed.

    ``module`` is the name of training.py, empty where it is a cell of a notebook, and
    ``package`` what stands before it in an import; ``beside`` are the other files of
    the program, and ``written`` is the file as its author wrote it. ``started`` are
    attributes of models, by the pattern by which a warm start names what is in them.
    Raises Refused.
    """
    dot = "." if package and not package.endswith(".") else ""
    path = f"{package}{dot}{module}"
    page = Page(parsed, training=path, for_tf2=for_tf2, beside=beside)
    page.written = written or parsed
    page.started = started or {}
    _Rewording(page).run()
    if page.refusals:
        raise Refused(min(page.refusals)[1])
    text = page.result()
    for name, bound in () if page.whole else [*page.taken.items()]:
        if not re.search(rf"(?<![\w.]){bound}\b", text):
            # What asked for it has come to be another word's.
            del page.taken[name]
            page.words.discard(name)
    others = dict(page.imports)
    if page.context.needs_tf is not None:
        others["tensorflow", ""] = page.context.needs_tf
    if text != page.text or page.replaced:
        carriage = page.newline == "\r\n"
        text = text.replace("\r\n", "\n") if carriage else text
        text = with_imports(
            text,
            Wanted(
                path,
                sorted(page.taken),
                page.whole,
                others,
                {name.value for name in page.replaced},
                set(_handed_on(page)),
                {one.name.split(".")[0] for one in (parsed, *beside)},
                page.width,
            ),
        )
        text = wrapped(tidied(text, page.taken, page.width), page.text, page.width)
        text = text.replace("\n", "\r\n") if carriage else text
    return Reworded(
        text,
        frozenset(page.words),
        tuple(sorted(page.notes)),
        frozenset(page.watched),
        frozenset(_handed_on(page)),
    )


def watched(parsed: ParsedModule, beside: Sequence[ParsedModule]) -> frozenset[str]:
    """The tensors that the hooks of a file look at, by name, the loss left aside."""
    page = Page(parsed, training="training", for_tf2=False, beside=beside)
    _Rewording(page).begin()
    return frozenset(page.watched)


def _saved(page: Page, word: Word) -> None:
    """``tf.train.load_variable(path, name)`` of what a Trainer has written."""
    names = ("ckpt_dir_or_file", "name")
    args = None if word.call is None else arguments(page, word.call, names)
    name = args["name"].value if args and "name" in args else None
    text = name.raw_value if isinstance(name, cst.SimpleString) else ""
    if text == "global_step" and name is not None and not page.for_tf2:
        page.put(name, page.string("optimizer/_iterations/.ATTRIBUTES/VARIABLE_VALUE"))
    elif text == "global_step" or _weight(page, text) is not None:
        why = f"`{word.symbol}` ({{}}) asks for a name that no checkpoint has then: "
        page.refuse(word.node, why + "ask the Estimator by get_variable_value")


_TABLE: dict[str, Handler] = {
    "tf.train.load_variable": _saved,
    **canned_words.WORDS,
    **config.WORDS,
    **contrib_columns.WORDS,
    **experiments.WORDS,
    **helper_summaries.WORDS,
    **hooks.WORDS,
    **inputs.WORDS,
    **keras_words.WORDS,
    **learn_words.WORDS,
    **optimizer_words.WORDS,
    **receivers.WORDS,
    **tpu.WORDS,
    **strategies.WORDS,
    **small.WORDS,
}
_TABLE_2 = {**_TABLE, **keras_words.WORDS_2}


def has_word(symbol: str) -> bool:
    """Whether a symbol has a native form."""
    return symbol in _TABLE


# Packages and classes whose names are looked at one by one; none of them stays.
_PACKAGES = frozenset(
    {
        *("tf.app", "tf.contrib", "tf.estimator", "tf.keras.estimator", "tf.layers"),
        *("tf.logging", "tf.losses", "tf.metrics", "tf.train"),
        *("tf.estimator.ModeKeys", "tf.contrib.learn.ModeKeys"),
        *(
            f"tf.contrib.{name}"
            for name in (
                *("data", "distribute", "estimator", "framework", "layers", "learn"),
                "learn.monitors",
                *("lookup", "metrics", "opt", "predictor", "slim", "tpu", "training"),
            )
        ),
        *(
            f"tf.estimator.{name}"
            for name in ("experimental", "export", "inputs", "tpu")
        ),
    }
)
# Methods of a Trainer that training.py has only where somebody calls them.
_UNKNOWN = (
    *("get_variable_value", "get_variable_names"),
    *("experimental_export_all_saved_models", "export_all_saved_models"),
)
_METHODS = ("train", "evaluate", "predict")


class _Rewording:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.table = _TABLE_2 if page.for_tf2 else _TABLE

    def begin(self) -> None:
        """Makes the changes to the words of the table and to classes of hooks."""
        words = list(self._words())
        for word, handler in words:
            try:
                handler(self.page, word)
            except Odd as odd:
                self.page.refuse(odd.node, odd.why)
            except Refused as refused:
                self.page.refuse(word.node, f"{refused} ({{}})")
        learn_words.calls(self.page)
        config.replaced(self.page)
        config.clusters(self.page)
        config.trainings(self.page)
        inputs.datasets(self.page)
        inputs.unread(self.page)
        hooks.callbacks(self.page)

    def run(self) -> None:
        """Makes the changes to all words of the file."""
        self.begin()
        receivers.receivers(self.page)
        receivers.exports(self.page)
        keras_words.imported(self.page)
        keras_words.layers(self.page)
        keras_words.compiled(self.page)
        self._drop_aliases()
        self._drop_functions()
        for node, reason in self.page.refused_if_it_stays.items():
            if not self.page.is_gone(node):
                self.page.refuse(node, reason)
        left = [] if self.page.refusals else [*self._left()]
        # Packages at last: what is left of one is the better reason.
        for word in sorted(left, key=lambda one: one.symbol in _PACKAGES):
            if word.symbol in _PACKAGES and self.page.refusals:
                break
            if self.page.for_tf2 and means_something_else(word.symbol):
                continue  # what TF 2 has under the name
            why = advice(word.symbol)
            if why is not None and not self.page.is_gone(word.node):
                if small.named_scope(self.page, word):
                    continue
                self.page.refuse(word.node, f"`{word.symbol}` ({{}}) {why}")
        self._drop_functions()
        self._methods()

    def _words(self) -> Iterator[tuple[Word, Handler]]:
        for use in self.page.scopes.uses:
            found = _longest(self.page, use, self.table)
            if found is not None:
                yield found, self.table[found.symbol]

    def _left(self) -> Iterator[Word]:
        """Symbols that no word of the table stands for."""
        for use in self.page.scopes.uses:
            root = use.root
            if root is None or root in self.page.replaced:
                continue
            if _longest(self.page, use, self.table) is not None:
                continue
            symbol = self.page.symbol(use.node)
            if symbol is None:  # it may be one that tensorflow_hub had
                symbol = self.page.resolver.qualified(use.node) or ""
                symbol = symbol if _OLD_HUB.match(symbol) else None
            call = self.page.call_of(use.node)
            if symbol is not None and call not in self.page.rewritten:
                yield Word(use.node, symbol, use, call, False)

    def _drop_aliases(self) -> None:
        """Takes out ``learn = tf.contrib.learn``, when nothing reads it any more."""
        page = self.page
        handed_on = set(_handed_on(page))
        for binding in page.bindings():
            symbol = page.symbol(binding.value)
            if symbol is None or binding.value is None or binding.name in handed_on:
                continue
            if binding.kind is not BindingKind.ASSIGN:
                continue
            if symbol not in _PACKAGES and advice(symbol) is None:
                continue
            if all(read in page.replaced for read in page.uses(binding)):
                page.drop_statement(page.statement(binding.value))
                names = walk(binding.value)
                page.replaced.update(n for n in names if isinstance(n, cst.Name))

    def _drop_functions(self) -> None:
        """Takes out functions that only what is gone has called."""
        page = self.page
        handed_on = set(_handed_on(page))
        for name, bindings in page.scopes.module_scope.bindings.items():
            defined = bindings[0].node
            if len(bindings) != 1 or not isinstance(defined, cst.FunctionDef):
                continue
            uses = page.uses(bindings[0])
            unread = uses and all(map(page.is_gone, uses))
            if unread and name not in handed_on and not defined.decorators:
                page.drop_statement(defined)
                page.replaced.update(walk(defined, cst.Name))

    def _methods(self) -> None:
        """Notes which methods of a Trainer the file may call, and with what."""
        page = self.page
        missing = "`{}` ({{}}) is asked of an Estimator, and no Trainer has it".format
        for one in page.parsed.each(cst.Attribute):
            if one.attr.value in _UNKNOWN and one not in page.scopes.calls:
                page.refuse(one, missing(one.attr.value))
        for node, call in page.scopes.calls.items():
            if not isinstance(node, cst.Attribute):
                continue
            path = page.resolver.qualified(node)
            if path is not None and not self._is_of_program(path):
                continue
            if node.attr.value in _METHODS:
                self._called(node.attr.value, call)
            elif node.attr.value == "eval_dir":
                page.words.add("eval_dir")
            elif node.attr.value in _UNKNOWN:
                first = call.args[0].value if call.args else None
                text = first.raw_value if isinstance(first, cst.SimpleString) else ""
                weight = _weight(page, text) if "value" in node.attr.value else None
                if text == "global_step":
                    page.put_span(
                        page.span(node.attr)[0], page.span(call)[1], "global_step"
                    )
                elif weight is not None and first is not None:
                    page.put(first, page.string(weight))
                    page.words.add("get_variable_value")
                else:
                    page.refuse(call, missing(node.attr.value))
        page.words.update(inputs.asked(page))
        symbols = (page.symbol(use.node) or "" for use in page.scopes.uses)
        if any(symbol.startswith("tf.summary.") for symbol in symbols):
            page.words.add("summary")

    def _is_of_program(self, path: str) -> bool:
        """``train.estimator.predict``, of a file of the program."""
        module, *names = path.split(".")
        return len(names) > 1 and any(
            one.path.stem == module for one in self.page.files
        )

    def _called(self, method: str, call: cst.Call) -> None:
        words = self.page.words
        words.add(method)
        hooks = [one.value for one in call.args[2:3] if not keyword(one)]
        if method == "predict" and any(map(is_none, hooks)):
            self.page.refuse(call, "name the arguments of `predict` ({})")
        for arg in call.args:
            name = keyword(arg)
            if name == "hooks" and method == "predict":
                self.page.drop_argument(call, arg)
            elif name == "saving_listeners":
                config.without_listeners(self.page, call, arg)
            elif name:
                words.update((name, f"{method}({name})"))


def _weight(page: Page, name: str) -> str | None:
    """What Keras calls a variable, where the program has named it, or its layer."""
    *_, layer, last = ("", *name.split("/"))
    of_layer = last in ("kernel", "bias", "gamma", "beta", "moving_mean")
    head = r"\bname=." if of_layer else r"\.add_weight\(\s*."
    named = rf"{head}{re.escape(layer if of_layer else last)}['\"]"
    text = "".join(one.source.text for one in page.files)
    tables = re.findall(r"(?:self\.(\w+) = )?[\w.]+\.Embedding\(", text)
    if len(tables) == 1 and last in (tables[0], "embeddings"):
        return "embeddings"
    if len(re.findall(named, text)) != 1 or not last:
        return None
    return f"{layer}/{last}" if of_layer else last


def _longest(page: Page, use: Use, table: dict[str, Handler]) -> Word | None:
    """The longest part of a chain that the table has."""
    node: cst.BaseExpression = use.node
    while isinstance(node, (cst.Name, cst.Attribute)):
        symbol = page.symbol(node)
        if symbol is None:
            return None
        if symbol in table:
            return Word(node, symbol, use, page.call_of(node), _stays(page, node))
        if not isinstance(node, cst.Attribute):
            return None
        node = node.value
    return None


def _stays(page: Page, node: cst.BaseExpression) -> bool:
    """The name of something whose own statement, here or elsewhere, is renamed."""
    if page.resolver.made_elsewhere(node) is node:
        return True
    return isinstance(node, cst.Name) and any(
        one.kind is BindingKind.ASSIGN for one in page.resolver.bindings(node)
    )


def _handed_on(page: Page) -> Iterator[str]:
    """Names that other files take from this one."""
    for other in page.beside:
        for use in other.resolver.scopes.imports:
            node = use.node
            if isinstance(node, cst.Import):
                paths = {import_path(alias.name) for alias in node.names}
            else:
                base = import_path(node.module)
                path = other.resolver.absolute(base, len(node.relative))
                if isinstance(node.names, cst.ImportStar):
                    if path == page.parsed.name:
                        yield from _said_elsewhere(page)
                    continue
                names = [import_path(alias.name) for alias in node.names]
                if path == page.parsed.name:
                    yield from names
                paths = {f"{path}.{name}".lstrip(".") for name in names}
            if page.parsed.name in paths:
                text = other.source.text.replace(other.module.code_for_node(node), "")
                assert not isinstance(node.names, cst.ImportStar)
                bound = [import_path((one.asname or one).name) for one in node.names]
                yield from _read_of(bound, text)


def _read_of(modules: Sequence[str], text: str) -> list[str]:
    """What a text reads of modules that it imports by these names."""
    bound = "|".join(rf"(?<![\w.]){re.escape(name)}\b" for name in modules)
    if re.search(rf"(?:{bound})(?!\.\w)", text):
        bound = ""  # one is handed about
    return re.findall(rf"(?:{bound})\.([A-Za-z_]\w*)", text)


def _said_elsewhere(page: Page) -> Iterator[str]:
    """Names of the file that others of the program say."""
    texts = [one.source.text for one in page.beside if one.path != page.parsed.path]
    said = {name for text in texts for name in re.findall(r"\w+", text)}
    yield from said.intersection(page.scopes.module_scope.bindings)


# -- what cannot stay ------------------------------------------------------------------

_GRAPH = re.compile(
    r"tf\.((compat\.v1\.)?(estimator|layers|Session|InteractiveSession|get_variable"
    r"|variable_scope|placeholder|global_variables|local_variables|trainable_variables"
    r"|get_collection|add_to_collection|get_default_graph|get_default_session|GraphKeys"
    r"|wrap_function|tables_initializer|assign\b"
    r"|train\.(\w*Optimizer$|Saver|Scaffold|MonitoredSession|MonitoredTrainingSession|SessionRun"
    r"|SingularMonitoredSession|Supervisor|get_global_step|get_or_create_global_step"
    r"|create_global_step|\w*Hook|\w*Listener|init_from_checkpoint|string_input_producer|batch"
    r"|shuffle_batch))"
    r"|compat\.v1\.(losses|metrics|summary|keras|Graph|data\.make_"
    r"|train\.(ExponentialMovingAverage|experimental\.|\w+_decay)))"
)
_OLD_HUB = re.compile(r"tensorflow_hub\.(?!KerasLayer|load$|resolve)\w+$")
_NONE = "has no counterpart in TensorFlow 2"
_HINTS = (
    (r".*(Session\b|Supervisor)", "runs a session: write what it computes eagerly"),
    (r".*placeholder", "makes a placeholder: pass the value as an argument"),
    (
        r"tf\.train\.(\w*input_producer|\w*batch\w*|\w*queue\w*)",
        "reads its data through queues: read it through tf.data",
    ),
    (r".*(get_variable|variable_scope)", "makes variables by name: use Keras layers"),
    (r".*add_to_collection", "adds to a collection of the graph: return what it adds"),
    (
        r".*(collection|GraphKeys|_variables\b)",
        "reads a collection of the graph: pass what is in it as an argument",
    ),
    (r".*Listener", "is told of checkpoints: write what it does as a hook"),
    (r".*SaverHook", "saves in a way of its own: say in the RunConfig how often"),
    (r".*Hook", "has no callback yet: write what it does as a hook of your own"),
    (r"tf\.contrib\.learn\.monitors", "is a monitor: write what it does as a hook"),
    (r"tf\.contrib\.learn", "is of tf.contrib.learn: use tf.estimator"),
    (r".*(mixed_precision|LossScale)", "scales losses: no native form yet"),
    (r"tf\.train\.\w*Optimizer", "has no optimizer like it in Keras"),
    (r".*global_step", "reads the global step outside of a model"),
    (r".*(Estimator|Classifier|Regressor)$", "is an Estimator without a native form"),
    (r".*estimator", "has no native form yet"),
)


def advice(symbol: str) -> str | None:
    """Why a symbol that stays behind keeps its program; None where it may stay."""
    if symbol in _PACKAGES:
        return "is handed about as a whole: name what is used of it"
    if _OLD_HUB.match(symbol):
        return "is gone from tensorflow_hub: load what it is for by hub.KerasLayer"
    if needs_nothing(symbol):
        return None
    move = lookup(symbol)
    target = move.to if move is not None else symbol
    gone = target.startswith(("tf.contrib", "tf.python", "tf.keras.estimator"))
    if not gone and _GRAPH.match(target) is None:
        return None
    for pattern, why in _HINTS:
        if re.match(pattern, symbol):
            return why
    return _NONE
