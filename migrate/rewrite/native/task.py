"""A model function becomes a Task: each of its methods is a slice of the function."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from types import MappingProxyType

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.names import fresh
from ...code.statements import FILLING, assigned, binds, is_docstring, lets_go
from ...code.texts import source_text
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...model.arguments import Argument
from ...model.in_mode import MODES, Called, in_mode
from ...model.values import Dict, Layer, Value
from ...names.ast_nodes import tree_of
from ...names.ast_nodes import walk as walk_ast
from ...names.dotted import dotted_name
from ...names.scopes import BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.spelling import RESERVED
from . import tidy
from .code import Code, Refused
from .headed import read_head
from .inlined import knows_of_tasks
from .losses import SUMMED
from .method import Method
from .metrics import SIGNATURES as METRICS
from .metrics import Metric, decisions, kind_of, metric
from .named_models import makes_layer
from .optimizers import SIGNATURES as OPTIMIZERS
from .rounds import Rounds, clash
from .said import Said
from .schedules import SIGNATURES as SCHEDULES
from .sequential import as_sequential
from .slices import (
    GLOBAL_STEPS,
    HEAD,
    Computed,
    Mode,
    Slice,
    awaited,
    is_step,
    refused,
)
from .spec_hooks import read_hooks
from .tables import made_once
from .text import on_one_line
from .updates import Trained, asks, is_updates, read_training
from .weight_averages import AVERAGE, averages_restored

# What makes texts of texts.
_OF_TEXTS = ("format", "replace", "split", "strip", "join")
_SUMMARIES = "tf.summary."
_INPUTS = (
    "exported classifiers and regressors name what they take as their receiver does; "
    "TF 1 named it `inputs`"
)
_FUNCTIONAL = ("tf.keras.Model", "tf.keras.models.Model")
_WHOLE = ("tf.keras.Model", "tf.keras.Sequential", "tf.keras.models.")
# Parts of a specification that a Task has no place for.
_NO_PLACE = ("scaffold", "scaffold_fn", "host_call", "output_alternatives")
_IDLE = "a summary of a metric that was 0 for ever, as nothing updated it, is gone"
_NOT_SHOWN = (
    "summaries of metrics, some of which are computed of others, are not written any "
    "more while it trains"
)
_ENDS = (
    "checkpoints of TensorFlow 1 name variables, those of TensorFlow 2 have paths: "
    "a layer of such a one is found by the end of its path"
)
_REGULARIZED = (
    "with several replicas TensorFlow 1.15 applied 1/N of the gradients of "
    "regularization losses; here all of them count, as on one device"
)
_STILL = (
    "nothing ran the updates of its batch normalization (%s), whose averages "
    "stay as they began: take `momentum=1.0` out where they shall follow the data"
)
# What an average of batch normalization follows the data by, of each kind of layers.
_UPDATES = {"tf.layers": "UPDATE_OPS", "tf.keras": "`updates` of its model"}
SOME_UPDATED = "some of its batch normalization is updated, some is not"
_STILL_HERE = (
    "# Nothing ran the updates of batch normalization: its averages stay as they",
    "# began, by momentum=1.0.",
)
_MAKING = (
    *_WHOLE, "tf.keras.applications.", "tf.keras.layers.", "tf.layers.",
    "tf.contrib.layers.", "tf.contrib.slim.", "tf.get_variable", "tf.Variable",
)  # fmt: skip
# Functions among these that make no variables.
_MAKES_NONE = ("optimize_loss", "create_train_op", "_regularizer", "_initializer")
# A Keras model that takes whatever has as many numbers, as TF 1 did not look further.
_RESHAPED = re.compile(
    r"Sequential\(\s*\[\s*[\w.]*\b(Reshape|Flatten)\([^\[\]]*\binput_shape\b"
)
_RANDOM = re.compile(r"\brandom\b|dropout|shuffle|multinomial|truncated_normal")
# What writes to a variable begins with, as a function or as its method.
_WRITING = ("assign", "scatter_", "batch_scatter_")
_HARMS = (
    *(f"tf.{one}" for one in _WRITING), "tf.add_to_collection", "tf.py_func",
    "tf.contrib.framework.init_from_checkpoint", "tf.train.init_from_checkpoint",
    AVERAGE,
)  # fmt: skip
# Methods that put something into what they are of.
_FILLING = ("add", *FILLING)
# Methods of a Task that its model function has no say in.
_OUTPUTS = "outputs"


@dataclass(frozen=True)
class Task:
    """A Task in the place of a model function.

    ``text`` is the class, in four-space indentation; ``words`` ask for parts of
    training.py.
    """

    name: str
    text: str
    words: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    # What makes one: the call, in a method that had been the model function.
    maker: str = ""
    # The class reads the object that a function around it belongs to.
    closes_over_self: bool = False
    # The class of a model that the Task has in it.
    dropped: str = ""
    # Whether updates move the averages of its batch normalization, if it has some.
    updates: bool | None = None
    # Values that hooks of the program look at, and the Task does not have.
    unseen: frozenset[str] = frozenset()


@dataclass
class _Parts:
    """What was found for the methods."""

    words: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    # Statements that some method has.
    used: set[cst.CSTNode] = field(default_factory=set)
    # Metrics that are shown while it trains, and how they are made.
    training_metrics: dict[str, str] = field(default_factory=dict)
    # Metrics that others are computed of: their places and names; what makes them.
    named_metrics: dict[int, str] = field(default_factory=dict)
    named_lines: list[str] = field(default_factory=list)
    # Statements among these.
    named: set[cst.CSTNode] = field(default_factory=set)
    # What else the constructor says of metrics.
    more_metrics: list[str] = field(default_factory=list)
    # Metrics that are nothing but parts of others, by their attributes.
    inner_metrics: dict[str, Called] = field(default_factory=dict)


def task_of(
    parsed: ParsedModule,
    defined: cst.FunctionDef,
    facts: ProjectFacts,
    models: Collection[str],
    name: str,
    watched: Collection[str] = (),
    *,
    normalizes: Collection[str] = (),
    foreign: Collection[str] = (),
    several: Collection[str] = (),
    named: bool = False,
) -> Task:
    """The Task for a model function whose layers are in classes, or Refused.

    ``models`` are the names of these classes, ``name`` what the Task is to be called,
    ``watched`` names of tensors that hooks look at. ``normalizes`` are kinds of
    layers whose moving averages the function has to have updated, ``foreign``
    are classes of models in other files, ``several`` those that give more than one
    tensor. ``named`` says that their layers are asked for by name.
    """
    made = Maker(parsed, defined, facts, models, name)
    made.normalizes, made.foreign = normalizes, foreign
    made.several, made.named = {*several}, named
    return made.made(watched)


class Maker:
    def __init__(
        self,
        parsed: ParsedModule,
        defined: cst.FunctionDef,
        facts: ProjectFacts,
        models: Collection[str],
        name: str,
    ) -> None:
        self.parsed = parsed
        self.tree = Tree(parsed.module, parsed.resolver)
        self.defined = defined
        self.facts = facts
        self.models = models
        self.name = name
        self.parts = _Parts()
        self.alias = alias_of(parsed)
        text = parsed.source.text
        self.quote = "'" if text.count("'") > text.count('"') else '"'
        given = [one.name.value for one in defined.params.params]
        self.is_method = given[:1] == ["self"]
        self.given = given[1:] if self.is_method else given
        # Whether the Task reads the object whose method the function was, and whether
        # methods other than the constructor do.
        self.reads_owner = self.keeps_owner = False
        self.closes_over_self = False
        self.normalizes: Collection[str] = ()
        self.updates: bool | None = None
        # Names of values that hooks look at, and none of its methods gives.
        self.unseen: set[str] = set()
        # Evaluations are given metrics of their own.
        # Names of classes of models in other files; and of those of any file that give
        # several tensors.
        self.foreign: Collection[str] = ()
        self.several: set[str] = set()
        # Its layers are asked for by name.
        self.named = False
        # The loss is a sum, which replicas add up.
        self.sums = False
        self.features = "features" if "features" in given else self.given[0]
        self.labels = "labels"
        if "labels" not in given:
            own = [n for n in self.given if n not in ("mode", "params", "config")]
            self.labels = own[1] if len(own) > 1 else "labels"
        # What the constructor is given: `params`, and what a partial says.
        others = (self.features, self.labels, "mode", "config")
        self.kept = [one for one in self.given if one not in others]
        if {*self.kept} & {"model", "optimizer", "metrics", "loss", "predictions"}:
            raise self.stop(defined, "an argument that is called as a part of a Task")
        # What the constructor does not know.
        self.late = {self.features, self.labels, "mode", "config"} & {*self.given}
        modes = {}
        for mode in MODES:
            found = in_mode(facts, parsed, defined, mode)
            if found.gave_up:
                raise self.stop(defined, "the model_fn calls too much code")
            modes[mode] = Mode(self.tree, found, defined)
        self.modes = {name: one for name, one in modes.items() if one.exists}
        if "TRAIN" not in self.modes:
            raise self.stop(defined, "for TRAIN the model_fn returns no specification")
        self.train = self.modes["TRAIN"]
        # The variable that holds the model, and what calls it.
        self.model = ""
        # Whether EVAL has moving averages in the place of the weights.
        self.evaluates_averages = False
        self.outputs: list[str] = []
        # What calls it again while it trains.
        self.again: list[Statement] = []
        # Its calls differ by mode, in whether it trains.
        self.told = False
        self.stored: set[str] = set()
        # A class of layers whose place a chain of them has taken.
        self.chain = ""
        # Summaries that are written where the gradients are.
        self.gradient_summaries: list[Statement] = []
        # Statements of the forward pass behind the call of the model.
        self.beyond: list[Statement] = []
        # What a head is given, which the forward pass then returns.
        self.logits: cst.BaseExpression | None = None
        # What methods of the Task's own compute, and how these are called.
        self.computed: dict[cst.BaseExpression, str] = {}
        # Expressions for which the constructor has another text.
        self.replaced: dict[cst.BaseExpression, str] = {}
        # Learning rates among them that follow the step.
        self.scheduled: set[cst.BaseExpression] = set()

    def stop(self, node: cst.CSTNode, reason: str) -> Refused:
        return refused(self.tree, node, reason)

    def given_to(
        self, call: cst.Call, parameters: Sequence[str], node: cst.Call | None = None
    ) -> dict[str, cst.BaseExpression]:
        """Arguments but those that are None; ``node`` is the call as it was written."""
        try:
            found = match_arguments(call, parameters)
        except UnknownArguments as problem:
            shown = self.tree.code(call.func)
            raise self.stop(node or call, f"`{shown}` with {problem}") from None
        return {name: value for name, value in found.items() if not is_none(value)}

    # -- the whole

    def made(self, watched: Collection[str]) -> Task:
        self.unseen = {*watched} - {"loss"}
        self._check_specs()
        self.hooks = read_hooks(self)
        self.replaced.update(self.hooks.replaced)
        self._find_model()
        model, model_setup = self.constructed(self.maker)
        self._check_made_alike(model, model_setup)
        model = self._chain() or model
        self.parts.used.add(self.tree.statement(self.maker))
        if HEAD in (self.train.spec or ()):
            return self._made_of_head(model, model_setup)
        training = read_training(self)
        self._check_updates()
        docstring = self._docstring()
        methods: list[Method] = []
        methods += self._forward()
        loss = self._loss(self.train, "loss", summaries=True)
        methods.append(loss)
        if "EVAL" in self.modes:
            # Without a writer summaries do nothing, so those of training may stay.
            plain = loss
            if not self.parts.training_metrics:
                plain = self._loss(self.train, "loss")
            other = self._loss(self.modes["EVAL"], "eval_loss")
            if (other.lines, other.returned) != (plain.lines, plain.returned):
                methods.append(other)
                self.parts.words.add("eval_loss")
        metrics, update = self._metrics()
        methods += update
        if "PREDICT" in self.modes:
            methods += self._predictions()
        methods += self._initialize()
        methods += self._watch(watched)
        methods += training.methods
        steps = [one for one in methods if one.name == "train_step"]
        if steps and any(one.name == "watch" for one in methods):
            given = f"{self.features}, {self.labels}, {self.unpacked(set())[0]}"
            seen = f"seen = self.watch({given})\n"
            steps[0].lines.insert(1, seen)
            steps[0].returned = f"{steps[0].returned}"[:-1] + ", **seen}"
        self._check_rest()
        self._check_layers()
        init = self._init(model, model_setup, training, metrics)
        taken = {"model", "optimizer", *(one.name for one in methods)}
        init.lines = tidy.shared(init.lines, [one.lines for one in methods], taken)
        init.lines = made_once(init.lines, methods, taken)
        text = self._class(docstring, init, methods)
        self.parts.words.add("Task")
        if "self.model.losses" in text and "Strategy" in self.tree.text:
            self.parts.notes.append(_REGULARIZED)
        return self._made(text)

    def _made(self, text: str) -> Task:
        given = ["self"] if self.reads_owner else []
        given += ["params"] if "params" in self.given else []
        return Task(
            self.name,
            text,
            frozenset(self.parts.words),
            tuple(self.parts.notes),
            f"{self.name}({', '.join(given)})",
            self.closes_over_self,
            self.chain,
            self.updates,
            frozenset(self.unseen),
        )

    def _made_of_head(self, model: str, setup: list[str]) -> Task:
        """A task of training.py whose model is that of the function."""
        head = read_head(self)
        self._forward_to(head.logits)
        methods = [*self._forward(), *head.trained.methods]
        self._check_rest()
        self._check_layers()
        lines = [*head.setup]
        lines += [one for one in setup if one not in lines]
        lines += [one for one in head.trained.setup if one not in lines]
        given = [model, head.trained.optimizer, *head.options]
        lines.append(f"super().__init__{tidy.held('()', given, 24)}\n")
        lines = self._in_init([*self._stored(), *lines])
        body = self._body([Method("__init__", self._parameters(), lines), *methods])
        docstring = self._docstring()
        body = f"{docstring}\n{body}" if docstring else body
        return self._made(f"class {self.name}({head.name}):\n{tidy.indented(body)}")

    def _in_init(self, lines: Sequence[str]) -> list[str]:
        """What the constructor reads; it has no step to hand on."""
        lines = tidy.without_unread(lines, None)
        for one in filter(self.names_step, self.train.taken):
            if f"{assigned(one)[0]} = None\n" in lines:
                raise self.stop(one, "the step is handed on to what makes the Task")
        return lines

    def _stored(self) -> list[str]:
        lines = [f"self.{n} = {n}\n" for n in self.kept if n in self.stored]
        return [*lines, "self.owner = owner\n"] if self.keeps_owner else lines

    def _parameters(self) -> tuple[str, ...]:
        owner = ("owner",) if self.reads_owner else ()
        if self.reads_owner and {*self.kept} - {"params"}:
            raise self.stop(self.defined, "arguments that a partial gives to a method")
        defaults = {
            one.name.value: f"={self.tree.code(one.default)}"
            for one in self.defined.params.params
            if one.default is not None and one.name.value != "params"
        }
        return (*owner, *(f"{one}{defaults.get(one, '')}" for one in self.kept))

    def _forward_to(self, logits: cst.BaseExpression) -> None:
        """Lets the forward pass go on to what the head is given."""
        read = self.train.needed([logits])
        self.beyond += read.statements
        self.parts.used.update(read.statements)
        self.outputs = [
            one for one in self.returned if one in read.outputs
        ] or self.returned
        self.logits = logits

    def _class(self, docstring: str, init: Method, methods: Sequence[Method]) -> str:
        body = self._body([init, *methods])
        if self.sums:
            if "num_replicas_in_sync" in body:
                why = "with several replicas it minimizes something else than a sum"
                raise self.stop(self.defined, why)
            self.parts.words.add("sum_loss")
            body = f"summed = True  # replicas add their losses up\n\n{body}"
        if docstring:
            body = f"{docstring}\n{body}"
        return f"class {self.name}(Task):\n{tidy.indented(body)}"

    def _body(self, methods: Sequence[Method]) -> str:
        text = "\n".join(one.text() for one in methods)
        return tidy.commented_once(text, source_text(self.defined))

    def _docstring(self) -> str:
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = statements_of(body)
        if not statements or not is_docstring(statements[0]):
            return ""
        text = source_text(statements[0])
        if re.search(r"estimator|model_fn|model function", text, re.IGNORECASE):
            return ""
        return text

    def _init(
        self, model: str, setup: list[str], training: Trained, metrics: list[str]
    ) -> Method:
        lines = [*self._stored(), *setup]
        lines += [*self._above_model(), tidy.aligned("self.model = ", model) + "\n"]
        lines += [one for one in training.setup if one not in setup]
        made = {"optimizer": training.optimizer, **training.others}
        lines = tidy.with_attributes(lines, made)
        if metrics or self.parts.more_metrics:
            lines += [one for one in self.parts.named_lines if one not in lines]
            lines.append(tidy.listed("self.metrics", metrics))
            lines += self.parts.more_metrics
        for name, constructor in self.parts.training_metrics.items():
            lines.append(f"self.{name} = {constructor}\n")
        lines += self._callbacks(lines)
        lines = self._in_init(lines)
        return Method("__init__", self._parameters(), lines)

    def _callbacks(self, before: Sequence[str]) -> list[str]:
        """What the constructor says of the hooks of the specification."""
        if not self.hooks.hooks:
            return []
        self.parts.words.add("Task.callbacks")
        said, lines = self.setup(self.hooks.hooks)
        made = [self._hook(said, one) for one in self.hooks.hooks]
        lines = [one for one in lines if one not in before]
        return [*lines, tidy.listed("self.callbacks", made)]

    def _hook(self, said: Said, call: cst.Call) -> str:
        arguments = [said.argument(one) for one in call.args]
        return f"{self.tree.code(call.func)}({', '.join(arguments)})"

    def _check_made_alike(self, model: str, setup: Sequence[str]) -> None:
        """Refuses a model that is made of something else in another mode."""
        for mode in self.modes.values():
            said = Said(self, mode, init=True)
            read = mode.needed([self.maker], given=self.replaced)
            lines = [said.statement(one) for one in read.statements]
            if lines != [*setup] or said.expression(self.maker) != model:
                raise self.stop(self.maker, "each mode makes another model")

    def _above_model(self) -> list[str]:
        """Comments above what made the model that stand nowhere else."""
        statement = self.tree.statement(self.maker)
        lines = getattr(statement, "leading_lines", ())
        said = [one.comment.value for one in lines if one.comment is not None]
        still = [] if self.updates is not False else [*_STILL_HERE]
        said = [one for one in said if self.tree.text.count(one) == 1]
        return [f"{one}\n" for one in (*said, *still)]

    def constructed(self, node: cst.BaseExpression) -> tuple[str, list[str]]:
        """An expression of the constructor, and the statements that it needs."""
        said, lines = self.setup([node])
        return said.expression(node), lines

    def _chain(self) -> str | None:
        """The model as a chain of layers, where its class is nothing else."""
        func = self.maker.func
        if not isinstance(func, cst.Name) or func.value not in self.models:
            return None
        if self.named or any(
            "read_layers(" in self.tree.code(one) for one in self.train.taken
        ):
            return None  # their names are asked for
        if any(
            self.tree.code(one.value) == self.model and one.attr.value not in RESERVED
            for one in walk(self.defined, cst.Attribute)
        ):
            return None  # one of its layers is asked for
        classes = [
            one for one in self.tree.each(cst.ClassDef) if one.name.value == func.value
        ]
        used = [
            one
            for one in self.tree.each(cst.Name)
            if one.value == func.value
            if not _is_attribute(one, self.tree)  # as in `tf_keras.Model`
        ]
        if len(classes) != 1 or len(used) != 2:
            return None
        made = {dotted_name(one.func) or "" for one in walk(classes[0], cst.Call)}
        if self.several & {one.rpartition(".")[2] for one in made}:
            return None  # a Sequential hands one tensor on
        said = Said(self, self.train, init=True)
        given: dict[str, str] = {}
        for param, arg in zip(_parameters(classes[0]), self.maker.args, strict=False):
            name = param if arg.keyword is None else arg.keyword.value
            given[name] = said.expression(arg.value)
            if arg.star or not re.fullmatch(r"[\w.]+", given[name]):
                return None
        text = as_sequential(self.parsed, func.value, given)
        if text is not None:
            self.chain = func.value
        return text

    def learning_rate(
        self, node: cst.BaseExpression, rate: cst.BaseExpression | None = None
    ) -> list[Method]:
        """A method for the rate of an optimizer, where it is computed of the step.

        None where it is a value, or one of Keras' schedules. `rate`: given apart.
        """
        rates = self._rates(node) + ([] if rate is None else [rate])
        rates = [*filter(self._follows_step, rates)]
        if not rates:
            return []
        self.replaced.update(dict.fromkeys(rates, "Schedule(self.learning_rate)"))
        self.parts.words.add("Schedule")
        mode = self.train
        read = mode.needed(rates[:1])
        late = sorted(read.outputs | read.free & self.late)
        if late or len({self.tree.code(one) for one in rates}) > 1:
            raise self.stop(rates[0], "a learning rate that is not understood")
        said = Said(self, mode, rate=True)
        self.parts.used.update(read.statements)
        named = [one for one in read.statements if self.names_step(one)]
        if len(named) == 1:
            said.step = assigned(named[0])[0]
        lines = [said.statement(one) for one in read.statements if one not in named[:1]]
        text = said.expression(rates[0])
        # Numbers are chosen as they always were.
        where = re.compile(rf"\b{self.alias}\.compat\.v1\.where\(")
        lines = [where.sub(f"{self.alias}.where(", one) for one in (*lines, text)]
        place = [*read.statements].index(named[0]) if len(named) == 1 else 0
        for one in reversed(named[0].leading_lines if len(named) == 1 else ()):
            if one.comment is not None and place < len(lines) - 1:
                lines[place] = f"{one.comment.value}\n{lines[place]}"
        for found in map(mode.source_of, rates):
            if not isinstance(found, cst.Name):
                self.computed[found] = "self.learning_rate(self.optimizer.iterations)"
        return [Method("learning_rate", (said.step,), lines[:-1], lines[-1])]

    def names_step(self, statement: Statement) -> bool:
        """``global_step = tf.train.get_global_step()``"""
        small = only_small(statement)
        return (
            isinstance(small, cst.Assign)
            and len(assigned(statement)) == 1
            and isinstance(small.value, cst.Call)
            and self.is_step_call(small.value)
        )

    def is_step_call(self, call: cst.Call) -> bool:
        """``tf.train.get_global_step()``"""
        return self.tree.symbol(call.func) in GLOBAL_STEPS

    def _rates(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """The learning rates of the optimizers that an expression may make."""
        read = self.train.needed([node])
        found: list[cst.BaseExpression] = []
        for part in (*read.statements, node):
            for one in walk(part, cst.Call):
                symbol = self.tree.symbol(one.func)
                if self._is_of_table(one.func):
                    found += [arg.value for arg in one.args]
                elif symbol in OPTIMIZERS:
                    try:
                        given = match_arguments(one, OPTIMIZERS[symbol])
                    except UnknownArguments:
                        continue
                    if "learning_rate" in given:
                        found.append(given["learning_rate"])
        return found

    def _is_of_table(self, func: cst.BaseExpression) -> bool:
        """``OPTIMIZERS[name]``, whose functions make optimizers of rates."""
        held = self.tree.value(func.value) if isinstance(func, cst.Subscript) else None
        return isinstance(held, cst.Dict) and any(
            self.tree.symbol(one.func) in OPTIMIZERS for one in walk(held, cst.Call)
        )

    def _follows_step(self, node: cst.BaseExpression) -> bool:
        """The rate is computed of the step, and is not what one schedule gives."""
        source = self.train.source_of(node)
        if isinstance(source, cst.Call) and self.tree.symbol(source.func) in SCHEDULES:
            others = [one.value for one in source.args if not self._is_step(one.value)]
            return any(self._reads_step(one) for one in others)
        return self._reads_step(node)

    def _is_step(self, node: cst.BaseExpression) -> bool:
        value = self.train.found.notes.values.get(node)
        return value is not None and is_step(value)

    def _reads_step(self, node: cst.BaseExpression) -> bool:
        read = self.train.needed([node])
        return any(
            isinstance(one, cst.Call) and self.tree.symbol(one.func) in GLOBAL_STEPS
            for part in (*read.statements, node)
            for one in walk(part)
        )

    def setup(
        self,
        nodes: Sequence[cst.BaseExpression],
        names: Sequence[tuple[cst.CSTNode, set[str]]] = (),
    ) -> tuple[Said, list[str]]:
        mode = self.train
        read = mode.needed(nodes, given=self.replaced, there=names)
        late = sorted(read.outputs | read.free & self.late)
        if late:
            reason = f"what the Task is made of depends on `{late[0]}`"
            raise self.stop([*nodes, *(node for node, _ in names)][0], reason)
        self.parts.used.update(read.statements)
        said = Said(self, mode, init=True)
        return said, [said.statement(one) for one in read.statements]

    def optimizer_of_loss(
        self,
        optimizer: cst.BaseExpression,
        rate: cst.BaseExpression | None,
        decay: cst.BaseExpression | None,
        call: cst.Call,
    ) -> tuple[str, list[str]]:
        """The optimizer that ``optimize_loss`` makes of a name or a class."""
        nodes = [one for one in (optimizer, rate) if one is not None]
        names, made = ([], None) if decay is None else self.decay_function(decay)
        if isinstance(made, cst.Call):
            nodes.append(made)
        elif decay is not None:
            why = "a decay of the learning rate that is no plain function"
            raise self.stop(decay, why)
        said, lines = self.setup(nodes)
        symbol = self.tree.symbol(optimizer)
        texts: dict[str, str] = {}
        if rate is not None:
            texts["learning_rate"] = self.marked(said.expression(rate))
            if isinstance(made, cst.Call):
                texts["learning_rate"] = self.marked(said.decay(names, made, rate))
        if symbol not in OPTIMIZERS:
            made_of = self.train.source_of(optimizer)
            value = self.train.found.notes.values.get(made_of)
            names, body = self.decay_function(optimizer)
            inner = self.tree.symbol(getattr(body, "func", None)) or ""
            if len(names) == 1 and body is not None and inner in OPTIMIZERS:
                # A function of the rate.
                follows = said.is_scheduled(texts, call)
                for one in walk(body) if "learning_rate" in texts else ():
                    if isinstance(one, cst.Name) and one.value == names[0]:
                        self.replaced[one] = self.protected(texts["learning_rate"])
                        self.scheduled |= {one} if follows else set()
                shown, more = self.constructed(body)
                return shown, [*lines, *(one for one in more if one not in lines)]
            text = said.expression(optimizer)
            if isinstance(value, Called) and value.symbol in OPTIMIZERS:
                return text, lines
            if isinstance(made_of, cst.Lambda):
                raise self.stop(optimizer, "it is not seen which optimizer is meant")
            texts["optimizer"] = self.marked(text)
            symbol = "tf.contrib.layers.optimize_loss"
        return self.take(said.optimizer(symbol, texts, call)), lines

    def decay_function(
        self, node: cst.BaseExpression, *, summaries: bool = False
    ) -> tuple[list[str], cst.BaseExpression | None]:
        """The parameters of a function of one expression, and this expression.

        With ``summaries`` it may write some before.
        """
        node = self.train.source_of(node)
        if isinstance(node, cst.Lambda):
            return [one.name.value for one in node.params.params], node.body
        defined = self.tree.resolver.definition(node)
        if isinstance(defined, cst.FunctionDef) and isinstance(
            defined.body, cst.IndentedBlock
        ):
            inside = [
                one
                for one in walk(defined.body)
                if isinstance(one, Statement)
                and not is_docstring(one)
                and not self._is_of_updates(only_small(one) or one)
                and not (summaries and self.is_summary(one))
            ]
            small = only_small(inside[0]) if len(inside) == 1 else None
            if isinstance(small, cst.Return):
                return [one.name.value for one in defined.params.params], small.value
        return [], None

    def _is_of_updates(self, node: cst.CSTNode) -> bool:
        """``tf.get_collection(UPDATE_OPS)``, a name for it, or what waits for that."""
        if isinstance(node, cst.With):
            waits = awaited(self.tree, node)
            return bool(waits) and all(map(self._is_of_updates, waits))
        said = node.value if isinstance(node, cst.Assign) else node
        made = self.tree.value(said) if isinstance(said, cst.BaseExpression) else None
        return (
            isinstance(made, cst.Call)
            and self.tree.symbol(made.func) == "tf.get_collection"
            and self.tree.code(made.args[0].value).endswith("UPDATE_OPS")
        )

    def _check_updates(self) -> None:
        """Finds out whether the averages of batch normalization are ever updated."""
        values = self.train.found.notes.values
        run = set()
        for one, value in values.items():
            if is_updates(value) or (
                isinstance(value, Called)
                and value.symbol.endswith(_MAKES_NONE[:2])
                and all(told.keyword != "update_ops" for told in value.arguments)
            ):
                run.add("tf.layers")
            elif (
                isinstance(one, cst.Attribute)
                and one.attr.value in ("updates", "get_updates_for")
                and (
                    isinstance(values.get(one.value), Layer)
                    # One that the model holds.
                    or self.tree.code(one.value).startswith(f"{self.model}.")
                )
            ):
                run.add("tf.keras")
        forgotten = {*self.normalizes} - run
        if not self.normalizes:
            return
        if forgotten and {*self.normalizes} & run:
            raise Refused(SOME_UPDATED)
        self.updates = not forgotten
        if forgotten:
            by = " and ".join(_UPDATES[one] for one in sorted(forgotten))
            self.parts.notes.append(_STILL % by)

    def _check_specs(self) -> None:
        """Refuses parts of a specification that a Task has no place for."""
        for mode in self.modes.values():
            assert mode.spec is not None
            for name in _NO_PLACE:
                given = mode.spec.get(name)
                if given is None or _is_empty(given.node):
                    continue
                if mode is self.modes.get("EVAL") and name == "scaffold":
                    restored = averages_restored(mode, given.node)
                    self.parts.used |= {*restored}
                    self.evaluates_averages = bool(restored)
                    if restored:
                        continue
                raise self.stop(given.node, f"`{name}=` has no place in a Task")

    # -- the model

    def _find_model(self) -> None:
        """The one model that is made, and the statement that calls it."""
        makers: list[tuple[str, cst.Call]] = []
        for one in self.train.taken:
            small = only_small(one)
            if (
                isinstance(small, cst.Assign)
                and isinstance(small.value, cst.Call)
                and len(assigned(one)) == 1
                and self._is_model(small.value)
            ):
                makers.append((assigned(one)[0], small.value))
        if not makers:
            raise self.stop(self.defined, "no layers are seen in the model_fn")
        if len(makers) > 1:
            shown = " and ".join(f"`{self.tree.code(one.func)}`" for _, one in makers)
            reason = f"the model_fn makes several models, {shown}"
            raise self.stop(makers[1][1], reason)
        self.model, self.maker = makers[0]
        for mode in self.modes.values():
            calls = [one for one in mode.taken if self._calls_model(mode, one)]
            if not calls or (len(calls) > 1 and calls[0] not in self.train.taken):
                reason = (
                    f"the layers are called {len(calls)} times, not once, in a mode"
                )
                raise self.stop(self.maker, reason)
            # A tower that is called again is part of what is made of its output.
            mode.calls = calls[:1]
            mode.made = self.tree.statement(self.maker)
            self.parts.used.add(calls[0])
            if mode is self.train:
                self.again = calls[1:]
        self.call = self.train.calls[0]
        self.told = self._told()
        self.returned = assigned(self.call)
        self.outputs = list(self.returned)
        self._narrow()

    def _told(self) -> bool:
        """Whether modes have calls of their own, which say whether the model trains."""
        if all(mode.calls[0] is self.call for mode in self.modes.values()):
            return False
        texts: set[tuple[str, ...]] = set()
        told: dict[str, object] = {}
        for name, mode in self.modes.items():
            given = {
                one.keyword.value if one.keyword is not None else f"{place}": one.value
                for place, one in enumerate(_call_in(mode.calls[0]).args)
            }
            flag = given.pop("training", None)
            value = mode.found.notes.values.get(flag) if flag is not None else None
            told[name] = flag is not None and getattr(value, "value", None)
            shown = [f"{key}={self.tree.code(one)}" for key, one in given.items()]
            texts.add((*assigned(mode.calls[0]), *shown))
        train = told.pop("TRAIN")
        plain = {id(one) for one in (train, *told.values())} <= {id(True), id(False)}
        if len(texts) > 1 or not plain or any(told.values()):
            raise self.stop(self.call, "each mode calls the model in its own way")
        return bool(train)

    def _narrow(self) -> None:
        """Lets the forward pass go on to where it has fewer outputs, if it has several.

        Outputs that no method reads go as well.
        """
        self.outputs = self._read_outputs()
        for one in self.train.taken[self.train.place(self.call) + 1 :]:
            if not self._may_be_forward(one):
                continue
            alone = self.train.needed([], [one]).statements == [one]
            before = [mode.calls for mode in self.modes.values()]
            for mode in self.modes.values():
                mode.calls = [*mode.calls, one]
            outputs = self._read_outputs()
            instead = len(self.outputs) == 1 and outputs == assigned(one)
            if (
                0 < len(outputs) < len(self.outputs)
                or (instead and not alone)
                or ((len(self.outputs) > 1 or instead) and self._users(one, before) > 2)
            ):
                self.outputs = outputs
                self.beyond.append(one)
                self.parts.used.add(one)
                continue
            for mode, calls in zip(self.modes.values(), before, strict=True):
                mode.calls = calls

    def _may_be_forward(self, statement: Statement) -> bool:
        """A plain value of the model's outputs, the same in every mode."""
        small = only_small(statement)
        if not isinstance(small, cst.Assign):
            return False
        needed = self.train.needed([], [statement])
        return (
            len(small.targets) == 1
            and isinstance(small.targets[0].target, cst.Name)
            and all(statement in mode.taken for mode in self.modes.values())
            and self.train.read(small.value)
            & (set(self.outputs) | {n for s in self.beyond for n in assigned(s)})
            != set()
            and self.labels not in needed.free
            and all(
                mode.needed([], [statement]).statements == needed.statements
                for mode in self.modes.values()
            )
        )

    def _users(self, statement: Statement, calls: Sequence[list[Statement]]) -> int:
        """How many methods a statement would stand in behind some calls."""
        found = 0
        for mode, known in zip(self.modes.values(), calls, strict=True):
            now, mode.calls = mode.calls, known
            shown = [one for one in mode.taken if self.is_summary(one)]
            for name in ("loss", "eval_metric_ops", "predictions"):
                given = (mode.spec or {}).get(name)
                if given is not None and (name == "loss") == (mode is self.train):
                    more = shown if mode is self.train else []
                    found += statement in mode.needed([given.node], more).statements
            mode.calls = now
        return found

    def _read_outputs(self) -> list[str]:
        """Outputs that methods read, in the order in which they are made."""
        found: set[str] = set()
        for mode in self.modes.values():
            assert mode.spec is not None
            wanted = ["loss", "eval_metric_ops", "predictions", "export_outputs"]
            if mode.found.mode == "TRAIN":
                wanted = ["loss"]
            elif mode.found.mode == "EVAL":
                wanted = wanted[:2]
            else:
                wanted = wanted[2:]
            wanted = ["logits"] if HEAD in mode.spec else wanted
            nodes = [mode.spec[name].node for name in wanted if name in mode.spec]
            more = [s for s in mode.taken if self.is_summary(s)]
            more = more if mode is self.train else []
            nodes += self.hooks.tensors.values() if mode is self.train else ()
            found |= mode.needed(nodes, more).outputs
        every = [
            *self.returned,
            *(n for s in self.train.calls[1:] for n in assigned(s)),
        ]
        return [name for name in dict.fromkeys(every) if name in found] or [every[-1]]

    def _is_model(self, call: cst.Call) -> bool:
        if isinstance(call.func, cst.Name) and call.func.value in self.models:
            return True
        told = self.facts.definition(call.func, self.parsed)
        if told is not None and told.name in self.foreign:
            return isinstance(told.node, cst.ClassDef)
        named = self.tree.resolver.qualified(call.func) or self.tree.code(call.func)
        if told is None and named.rpartition(".")[2] in self.foreign:
            return True  # The file had a function in the place of the class.
        value = self.train.found.notes.values.get(call)
        symbol = self.tree.symbol(call.func) or ""
        if isinstance(value, Layer) and value.keras:
            return symbol.startswith(_WHOLE) or not symbol.startswith("tf.")
        return False

    def _calls_model(self, mode: Mode, statement: Statement) -> bool:
        small = only_small(statement)
        value = small.value if isinstance(small, cst.Assign) else None
        if any(
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Name)
            and node.func.value == self.model
            for node in walk(statement)
        ):
            if (
                isinstance(value, cst.Call)
                and isinstance(value.func, cst.Name)
                and value.func.value == self.model
            ):
                return True
            raise self.stop(statement, "the model is called within an expression")
        return False

    def _forward(self) -> list[Method]:
        call = _call_in(self.call)
        found = self.train.needed([one.value for one in call.args])
        else_ = self._else(call, found.statements)
        if self.labels in found.free:
            raise self.stop(call, "the model looks at the labels")
        before, behind = found.statements, self.beyond
        if self.logits is None:
            needed = self.train.needed([], behind).statements
            whole = [*{*before, *behind, *needed}]
            whole.sort(key=self.train.place)
            start = self.train.place(self.call)
            before = [one for one in whole if self.train.place(one) < start]
            behind = whole[len(before) :]
        self._use(before)
        said = Said(self, self.train, training=True)
        lines = [said.statement(one) for one in before]
        if else_ is not None:
            lines = self._by_mode(lines, before, found.statements, else_)
        arguments: list[str] = []
        flags, names = 0, self._called_with()
        for number, one in enumerate(call.args):
            told = self.train.decided(one.value)
            if (
                self.told
                and one.keyword is not None
                and one.keyword.value == "training"
            ):
                arguments.append("training=training")
                flags += 1
            elif told is not None:
                is_flag = isinstance(told.value, bool)
                flag = said.expression(one.value) if is_flag else "training"
                plain = any(
                    arg.keyword is None and self.train.decided(arg.value) is None
                    for arg in call.args[number + 1 :]
                )
                # Of several, one is the flag; the others have names of their own.
                name = self.tree.code(one.value) if flags else "training"
                if number < len(names) and not flags and names[number] != "mode":
                    name = names[number]
                arguments.append(flag if plain else f"{name}={flag}")
                flags += 1
            else:
                text = said.expression(one.value)
                if self._reshapes() and not arguments:
                    size = "[-1, *self.model.input_shape[1:]]"
                    text = f"{self.alias}.reshape({text}, {size})"
                name = f"{one.keyword.value}=" if one.keyword is not None else ""
                arguments.append(f"{one.star}{name}{text}")
        if not flags and self.chain:
            arguments.append("training=training")
        elif not flags and not self._is_lifted():
            # A model of Keras was in inference where nobody told it to train.
            arguments.append("training=False")
        returned = f"self.model({', '.join(arguments)})"
        if self.logits is not None:
            logits = said.expression(self.logits)
            if behind or [logits] != self.returned:
                lines.append(f"{', '.join(self.returned)} = {returned}\n")
                lines += [said.statement(one) for one in behind]
                returned = logits
        elif self.beyond or self.outputs != self.returned:
            read = {n for one in behind for n in self.train.read(one)}
            kept = {*self.outputs, *read}
            names = [one if one in kept else "_" for one in self.returned]
            lines.append(f"{', '.join(names)} = {returned}\n")
            lines += [said.statement(one) for one in behind]
            returned = ", ".join(self.outputs)
        if not lines and arguments == [self.features, "training=training"]:
            return []
        return [Method("forward", (self.features, "training"), lines, returned)]

    def _else(
        self, call: cst.Call, training: list[Statement]
    ) -> list[Statement] | None:
        """What gives the model its inputs where it does not train, if that differs."""
        found: list[list[Statement]] = []
        for mode in self.modes.values():
            nodes = [one.value for one in _call_in(mode.calls[0]).args]
            statements = mode.needed(nodes).statements
            if mode is not self.train and statements not in found:
                found.append(statements)
        if len(found) > 1:
            raise self.stop(call, "each mode gives the model something else")
        return found[0] if found and found[0] != training else None

    def _by_mode(
        self,
        lines: list[str],
        before: list[Statement],
        training: list[Statement],
        others: list[Statement],
    ) -> list[str]:
        """Lines of the forward pass, with a branch where it only trains, or does not.

        ``lines`` are those of ``before``, which holds all that training computes.
        """
        alone = [one for one in training if one not in others]
        plain = [one for one in others if one not in training]
        pairs = zip(training, others, strict=False)
        same = len(list(takewhile(lambda pair: pair[0] is pair[1], pairs)))
        start = before.index(training[same - 1]) + 1 if same else 0
        end = start + len(alone)
        merged = [*training[:same], *plain, *training[same + len(alone) :]]
        if before[start:end] != alone or merged != others:
            raise self.stop(self.call, "each mode gives the model something else")
        texts: list[str] = []
        if plain:
            self._use(plain)
            mode = next(one for one in self.modes.values() if plain[0] in one.taken)
            texts = [Said(self, mode).statement(one) for one in plain]
        branches = [
            f"{word}:\n{tidy.indented(''.join(texts))}"
            for word, texts in (
                ("if training", lines[start:end]),
                ("else" if alone else "if not training", texts),
            )
            if texts
        ]
        return [*lines[:start], "".join(branches), *lines[end:]]

    def _called_with(self) -> list[str]:
        """The parameters of the model's call, where its class stands in the file."""
        made = self.tree.resolver.definition(self.maker.func)
        for one in (
            walk(made, cst.FunctionDef) if isinstance(made, cst.ClassDef) else ()
        ):
            if one.name.value == "call":
                return [param.name.value for param in one.params.params[1:]]
        return []

    def _reshapes(self) -> bool:
        """The model begins with a change of shape, and clients may send another one."""
        found = _RESHAPED.search(self.tree.text)
        return (
            found is not None and "receiver" in self.tree.text and not self._is_lifted()
        )

    def _is_lifted(self) -> bool:
        func = self.maker.func
        return isinstance(func, cst.Name) and func.value in self.models

    # -- methods

    def unpacked(self, used: set[str]) -> tuple[str, list[str]]:
        """The name of the parameter for the outputs, and what takes them apart."""
        if len(self.outputs) == 1:
            return self.outputs[0], []
        if not used:
            return _OUTPUTS, []
        names = [one if one in used else "_" for one in self.outputs]
        first = next(place for place, one in enumerate(names) if one != "_")
        names[:first] = ["*_"] if first > 2 else names[:first]
        return _OUTPUTS, [f"{', '.join(names)} = {_OUTPUTS}\n"]

    def sliced(
        self,
        mode: Mode,
        name: str,
        nodes: Sequence[cst.BaseExpression],
        returned: cst.BaseExpression | None,
        more: Sequence[Statement] = (),
        labels: bool = True,
    ) -> Method:
        found = mode.needed(nodes, more, given=self.computed)
        self._use(found.statements)
        self._check_free(found, nodes[0] if nodes else self.defined, labels=labels)
        said = Said(self, mode)
        parameter, unpacked = self.unpacked(found.outputs)
        lines = unpacked + [said.statement(one) for one in found.statements]
        text = None if returned is None else said.expression(returned)
        parameters = (self.features, *((self.labels,) if labels else ()), parameter)
        return Method(name, parameters, lines, text)

    def _draws(self, statement: Statement) -> bool:
        """A statement calls what draws numbers, or hands it on."""
        names = [self.tree.symbol(one) for one in walk(statement)]
        for one in walk(statement):
            func = one.func if isinstance(one, cst.Call) else None
            method = func.attr.value if isinstance(func, cst.Attribute) else None
            names += [method, dotted_name(func) if func is not None else None]
        return any(_RANDOM.search(one) for one in names if one)

    def _use(self, statements: Sequence[Statement]) -> None:
        """Notes what a method computes; chance may not be drawn in two of them."""
        for one in statements:
            calls = walk(one, cst.Call)
            if any(self.tree.symbol(call.func) == AVERAGE for call in calls):
                raise self.stop(one, "averages of tensors are kept, which no Task does")
            if one in self.parts.used and self._draws(one):
                raise self.stop(one, "several methods would draw numbers of their own")
        self.parts.used.update(statements)

    def _check_free(self, found: Slice, node: cst.CSTNode, *, labels: bool) -> None:
        late = {"mode", "config"} | (set() if labels else {self.labels})
        met = sorted(found.free & late & {*self.given})
        if met:
            raise self.stop(node, f"it depends on `{met[0]}`")

    def method(self, name: str, node: cst.BaseExpression) -> Method:
        """What training computes of a batch, as a method that others call."""
        made = self.sliced(self.train, name, [node], node)
        parameter, _ = self.unpacked(set())
        given = ", ".join((self.features, self.labels, parameter))
        self.computed[self.train.source_of(node)] = f"self.{name}({given})"
        return made

    def _loss(self, mode: Mode, name: str, *, summaries: bool = False) -> Method:
        assert mode.spec is not None
        if "loss" not in mode.spec:
            raise self.stop(self.defined, f"no loss for {mode.found.mode}")
        node = mode.spec["loss"].node
        more = []
        if summaries:
            more = [
                one
                for one in mode.taken
                if self.is_summary(one) and one not in self.gradient_summaries
            ]
            idle = [one for one in more if self._is_idle(one)]
            self.parts.used.update(idle)
            self.parts.notes += [_IDLE] if idle else []
            unseen = [one for one in more if self._shows_computed(one)]
            self.parts.used.update(unseen)
            self.parts.notes += [_NOT_SHOWN] if unseen else []
            more = [one for one in more if one not in (*idle, *unseen)]
        return self.sliced(mode, name, [node], node, more)

    def _initialize(self) -> list[Method]:
        """Where layers have their first weights from, if that is another checkpoint."""
        mode = self.train
        told = [one for one in mode.taken if "read_layers(" in self.tree.code(one)]
        if not told:
            return []
        read = mode.needed([], told)
        self._use(read.statements)
        late = sorted(read.outputs | read.free & {self.features, self.labels})
        if late:
            raise self.stop(told[0], f"what layers begin with depends on `{late[0]}`")
        self.parts.words.add("read_layers")
        self.parts.notes.append(_ENDS)
        said = Said(self, mode)
        lines = [said.statement(one) for one in read.statements]
        return [Method("initialize", (), lines)]

    def _watch(self, names: Collection[str]) -> list[Method]:
        """The values that hooks look at, by the names of their operations."""
        mode = self.train
        found = dict(self.hooks.tensors)
        for statement in mode.taken:
            for node in walk(statement):
                if isinstance(node, cst.Call):
                    called = self._returned(node) or node
                    name = _operation_name(called)
                    if name in names:
                        found[str(name)] = node
        self.unseen -= {*found}
        if not found:
            return []
        nodes = list(found.values())
        read = mode.needed(nodes, given=self.computed)
        if {*self.again} & {*read.statements}:
            raise self.stop(self.again[0], "a hook looks at what a second call gives")
        parts = [*read.statements, *nodes]
        if any(asks(self.tree, one) for part in parts for one in walk(part, cst.Call)):
            raise self.stop(self.defined, "a hook looks at what is made of gradients")
        self._use(read.statements)
        self._check_free(read, self.defined, labels=True)
        said = Said(self, mode)
        parameter, unpacked = self.unpacked(read.outputs)
        lines = unpacked + [said.statement(one) for one in read.statements]
        entries = [
            f"{self.quote}{name}{self.quote}: {said.expression(node)}"
            for name, node in found.items()
        ]
        self.parts.words.add("watch")
        parameters = (self.features, self.labels, parameter)
        return [Method("watch", parameters, lines, tidy.held("{}", entries, 7))]

    def _returned(self, call: cst.Call) -> cst.BaseExpression | None:
        """What a function of the file returns that a call names."""
        made = self.tree.resolver.definition(call.func)
        if not isinstance(made, cst.FunctionDef):
            return None
        returns = [*walk(made.body, cst.Return)]
        return returns[0].value if len(returns) == 1 else None

    def is_summary(self, statement: Statement) -> bool:
        """A summary, or a loop or branch that writes nothing but summaries.

        Variables may go by their names, which are others now, in what it is called.
        """
        if isinstance(statement, cst.For | cst.If):
            if not isinstance(statement.body, cst.IndentedBlock) or statement.orelse:
                return False
            inside = statements_of(statement.body)
            rest = [one for one in inside if not self._is_for_summaries(one)]
            return (
                all(map(self.is_summary, rest))
                and bool(rest)
                and not self._goes_by_names(statement)
            )
        small = only_small(statement)
        value = small.value if isinstance(small, cst.Expr) else None
        if isinstance(value, cst.ListComp) and not self._goes_by_names(value):
            value = value.elt
        if not isinstance(value, cst.Call):
            return False
        symbol = self.tree.symbol(value.func) or ""
        return symbol.startswith(_SUMMARIES) and "merge" not in symbol

    def _is_for_summaries(self, statement: Statement) -> bool:
        """It names a tensor, or a part of a tag, for the loop that it is in alone."""
        small = only_small(statement)
        names = assigned(statement)
        if not isinstance(small, cst.Assign) or len(names) != 1:
            return False
        calls = [one.func for one in walk(small.value, cst.Call)]
        loops = [one for one in self.tree.ancestors(statement) if type(one) is cst.For]
        around = {*walk(loops[-1])} if loops else set()
        reads = [one for one in self.tree.loads(names[0]) if one not in around]
        return not reads and all(
            (self.tree.symbol(one) or "").startswith(("tf.math", "tf.nn", "tf.convert"))
            or (isinstance(one, cst.Attribute) and one.attr.value in _OF_TEXTS)
            for one in calls
        )

    def _goes_by_names(self, node: cst.CSTNode) -> bool:
        """Something but the tag of a summary is read of the name of a variable."""
        tags = {
            one
            for call in walk(node, cst.Call)
            if (self.tree.symbol(call.func) or "").startswith(_SUMMARIES)
            for arg in call.args[:1]
            for one in walk(arg)
        }
        for one in walk(node, cst.Assign):
            target = one.targets[0].target
            read = self.tree.loads(target.value) if isinstance(target, cst.Name) else ()
            if read and all(name in tags for name in read):
                tags.update(walk(one.value))
        return any(
            one.attr.value in ("op", "name") and one not in tags
            for one in walk(node, cst.Attribute)
        )

    def _is_idle(self, statement: Statement) -> bool:
        """A summary of ``accuracy[0]``, which nothing updates while it trains."""
        found = list(walk(statement, cst.Subscript))
        values = self.train.found.notes.values
        return any(
            isinstance(values.get(one.value), Called)
            and values[one.value].symbol in METRICS  # type: ignore[attr-defined]
            and self.tree.code(one.slice[0].slice) == "0"
            for one in found
        )

    def _shows_computed(self, statement: Statement) -> bool:
        """A summary of metrics, among which are some that are computed of others."""
        held = [one.value for one in walk(statement, cst.Subscript)]
        over = getattr(statement, "iter", None)
        if isinstance(over, cst.Call) and isinstance(over.func, cst.Attribute):
            items = self.train.items(Argument(Dict(()), over.func.value))
            held += [one.node for _, one in items or ()]
        pairs = map(self.train.source_of, held)
        return any(
            isinstance(one, cst.Tuple)
            and len(one.elements) == 2
            and bool(self._updated(self.train, one.elements[1].value))
            for one in pairs
        )

    def _metrics(self) -> tuple[list[str], list[Method]]:
        mode = self.modes.get("EVAL")
        if mode is None or mode.spec is None:
            return [], []
        given = mode.spec.get("eval_metric_ops") or mode.spec.get("eval_metrics")
        if given is None:
            return [], []
        items = mode.items(given)
        if items is None:
            raise self.stop(given.node, "eval_metric_ops is not a plain dict")
        found: list[Metric] = []
        said = Said(self, mode)
        held = self.tree.code(mode.source_of(given.node))
        blocks = [Rounds(self, mode, one, held) for one in mode.blocks]
        unsure = clash([key for key, _ in items], blocks)
        if unsure is not None:
            raise self.stop(unsure, "a metric may take the place of another one")
        every = [*items, *(one for block in blocks for one in block.items())]
        shared = self._shared(mode, [one.value for _, one in every])
        nodes: list[cst.BaseExpression] = []
        for key, one in items:
            key = self.shown_key(key)
            inner_names = self.parts.inner_metrics
            before = items[: len(found)]
            computed = self._computed(mode, key, one.node, before, inner_names)
            if computed is not None:
                found.append(computed)
                continue
            named: set[cst.BaseExpression] = set()
            found.append(self._metric(mode, key, one, shared, named))
            nodes += [*self._measured(mode, one.value, shared), *named]
        constructors = [one.constructor.text for one in found]
        rounds = [self._in_rounds(one, said, shared) for one in blocks]
        inner = []
        for name, value in self.parts.inner_metrics.items():
            shown = self.shown_key(name)
            inner.append((f"self.{name}", self.metric_of(mode, shown, value)))
            line = f"self.{name} = {inner[-1][1].constructor.text}\n"
            self.parts.named_lines.append(line)
            nodes += self._measured(mode, value, shared)
        for place, name in self.parts.named_metrics.items():
            line = f"{name} = {constructors[place]}\n"
            self.parts.named_lines.append(line)
            constructors[place] = name
        there = [(one.block, rounds[place][1]) for place, one in enumerate(blocks)]
        read = mode.needed(nodes, given=self.computed, there=there)
        self.parts.used.update(read.statements)
        parameter, unpacked = self.unpacked(read.outputs)
        default = (self.labels, parameter)
        plain = not inner and all(
            one.update == default and one.sample_weight is None for one in found
        )
        if plain and not unpacked and not read.statements and not blocks:
            return constructors, []
        self._check_free(read, given.node, labels=True)
        lines = unpacked + [said.statement(one) for one in read.statements]
        names = [f"self.metrics[{number}]" for number in range(len(found))]
        if blocks:
            keys = [self._key(said, key) for key, _ in items]
            names = [f"{held}[{key}]" for key in keys]
            lines.append(f"{held} = {{one.name: one for one in self.metrics}}\n")
        elif len(found) > 1:
            read_by = [text for one in found for text in one.update]
            read_by += [*lines, *(one.sample_weight or "" for one in found)]
            names = _identifiers([key for key, _ in items], read_by, default)
            pairs = zip(names, found, strict=True)
            names = [name if made.update else "_" for name, made in pairs]
            line = f"{', '.join(names)} = self.metrics\n"
            if len(line) > 80:
                line = f"{tidy.held('()', names, 99)} = self.metrics\n"
            lines.append(line)
        for name, made in (*zip(names, found, strict=True), *inner):
            if not made.update:
                continue  # others are updated
            lines.append(made.updated(name))
        lines += [text for text, _ in rounds]
        parameters = (self.features, self.labels, parameter)
        return constructors, [Method("update_metrics", parameters, lines)]

    def _metric(
        self,
        mode: Mode,
        key: str,
        one: Argument,
        shared: Mapping[cst.BaseExpression, str],
        named: set[cst.BaseExpression] | None = None,
    ) -> Metric:
        """The metric of Keras under a key, or Refused."""
        value = one.value
        own = isinstance(value, Called) and mode.is_own(value)
        if not own or not isinstance(value, Called) or value.symbol not in METRICS:
            shown = value.symbol if isinstance(value, Called) else key
            raise self.stop(one.node, f"the metric `{shown}` has no Keras twin")
        return self.metric_of(mode, key, value, shared, named)

    def _in_rounds(
        self, block: Rounds, said: Said, shared: Mapping[cst.BaseExpression, str]
    ) -> tuple[str, set[str]]:
        """What updates the metrics of a loop, and which names that reads.

        The constructor is told how they are made.
        """
        mode = said.mode
        init = Said(self, mode, init=True)
        made: dict[cst.CSTNode, str] = {}
        updated: dict[cst.CSTNode, str] = {}
        for line, entries in block.entries.items():
            made[line] = updated[line] = ""
            for key, one in entries:
                parts: dict[str, Called] = {}
                own, told = binds(block.block), self._key(init, key)
                metric = self._computed(mode, told, one.node, (), parts, own)
                metric = metric or self._metric(mode, told, one, shared)
                made[line] += f"self.metrics.append({metric.constructor.text})\n"
                name = f"{block.held}[{self._key(said, key)}]"
                if parts:
                    updated[line] += f"{', '.join(parts)} = {name}.parts\n"
                    for part, value in parts.items():
                        updated[line] += self.metric_of(mode, part, value).updated(part)
                else:
                    updated[line] += metric.updated(name)
        text, names = block.said(init, made)
        lines = self.setup([], [(block.block, names)])[1] if names else []
        self.parts.named_lines += lines
        self.parts.more_metrics.append(text)
        self.parts.used.add(block.block)
        return block.said(said, updated)

    def _key(self, said: Said, key: str) -> str:
        """The text of a metric's key, in the words of a method."""
        if isinstance(key, Computed):
            return said.expression(key.node)
        return f"{self.quote}{key}{self.quote}"

    def shown_key(self, key: str) -> str:
        """The text of a metric's key in ``__init__``."""
        if not isinstance(key, Computed):
            return f"{self.quote}{key}{self.quote}"
        said, lines = self.setup([key.node])
        self.parts.named_lines += lines
        return said.expression(key.node)

    def _measured(
        self, mode: Mode, value: Value, shared: Collection[cst.BaseExpression]
    ) -> list[cst.BaseExpression]:
        """What a metric is given, where no other one is given the same by its name."""
        assert isinstance(value, Called)
        return [
            one.node if one.node in shared else mode.source_of(one.node)
            for name, one in mode.arguments(value, METRICS[value.symbol]).items()
            if name != "name"
        ]

    def _computed(
        self,
        mode: Mode,
        key: str,
        node: cst.BaseExpression,
        before: Sequence[tuple[str, Argument]],
        inner: dict[str, Called],
        bound: Collection[str] | None = None,
    ) -> Metric | None:
        """What ``(2 * p[0] * r[0] / (p[0] + r[0]), ...)`` computes of other metrics.

        ``inner`` gets those that are nothing but parts. What is made in rounds, where
        names are ``bound``, makes its parts itself.
        """
        pair = mode.source_of(node)
        if not isinstance(pair, cst.Tuple) or len(pair.elements) != 2:
            return None
        values = mode.found.notes.values
        shown = mode.source_of(pair.elements[0].value)
        known = [one.value for _, one in before]
        names = _identifiers([key for key, _ in before], [], ())
        texts: dict[cst.BaseExpression, str] = {}
        # What the function that computes calls the results, and the metrics.
        parts: dict[str, str] = {}
        more = dict(inner)
        # Names of what is computed on the way: of what, and which part of that.
        steps: dict[cst.BaseExpression, tuple[cst.BaseExpression, str]] = {}
        loads = self.tree.resolver.scopes.loads
        waiting = [*walk(shown)]
        for one in waiting:
            if one not in loads and not isinstance(one, cst.Subscript):
                continue
            assert isinstance(one, cst.Name | cst.Subscript)
            source = mode.source_of(one)
            if isinstance(source, cst.Subscript):
                held = values.get(source.value)
                if held in known and self.tree.code(source).endswith("[0]"):
                    place = known.index(held)
                    self.parts.named_metrics[place] = names[place]
                    texts[one] = names[place]
                    parts[names[place]] = names[place]
                    continue
            own, at = mode.taken_of(one) if isinstance(one, cst.Name) else (None, 0)
            made = values.get(own) if own is not None and at == 0 else None
            if isinstance(source, cst.Subscript) and isinstance(source.value, cst.Name):
                made = held if self.tree.code(source).endswith("[0]") else None
                own = source.value
            if isinstance(made, Called) and made.symbol in METRICS:
                texts[one] = self.tree.code(own if isinstance(own, cst.Name) else one)
                if texts[one] not in parts:
                    taken = {*more, *names, "model", "optimizer", "metrics"}
                    name = fresh(texts[one], taken)
                    more[name], parts[texts[one]] = made, f"self.{name}"
                    if bound is not None:
                        shown_name = f"{self.quote}{name}{self.quote}"
                        part = self.metric_of(mode, shown_name, made)
                        parts[texts[one]] = part.constructor.text
            elif isinstance(source, cst.Name) and own is not None and source is one:
                steps[one] = own, f"[{at}]"
                waiting += walk(own)
            elif not isinstance(source, cst.Name | cst.Subscript) and not isinstance(
                values.get(source), Called
            ):
                steps[one] = source, ""
                waiting += walk(source)
        given = {**texts, **dict.fromkeys(steps, "")}
        nodes = [shown, *(source for source, _ in steps.values())]
        read = mode.needed(nodes, given=given)
        updated = self._updated(mode, pair.elements[1].value)
        late = self.late | {*(bound or ())}
        if not parts or read.outputs or read.free & late:
            return None
        if read.statements and bound is not None:
            return None
        if updated is None or not {id(more[n]) for n in {*more} - {*inner}} <= updated:
            return None
        self.replaced.update(texts)
        said = Said(self, mode, init=True)
        lines = [one for one in read.statements if one not in self.parts.named]
        self.parts.named_lines += map(said.statement, lines)
        self.parts.named.update(lines)
        self.parts.used.update(lines)
        for step, (source, index) in reversed(steps.items()):
            shown_step = f"{said.expression(source)}{index}"
            loose = isinstance(source, cst.BinaryOperation | cst.UnaryOperation)
            self.replaced[step] = f"({shown_step})" if loose else shown_step
        made_of = f"lambda {', '.join(parts)}: {said.expression(shown)}"
        inner.update(more)
        self.parts.words.add("Computed")
        options = [made_of, key, *parts.values()]
        return Metric(Code(f"Computed{tidy.held('()', options, 24)}"), ())

    def _updated(self, mode: Mode, update: cst.BaseExpression) -> set[int] | None:
        """The metrics that an operation updates; None if it may do more."""
        found: set[int] = set()
        waiting = [*walk(update)]
        for one in waiting:
            if isinstance(one, cst.Name):
                source = mode.source_of(one)
                made, _ = mode.taken_of(one)
                source = made if source is one and made is not None else source
                value = mode.found.notes.values.get(source)
                if isinstance(value, Called) and value.symbol in METRICS:
                    found.add(id(value))
                elif source is not one:
                    waiting += walk(source)
            elif isinstance(one, cst.Call):
                own = self.facts.definition(one.func, self.parsed)
                plain = self.tree.symbol(one.func) is not None
                if own is not None and isinstance(own.node, cst.FunctionDef):
                    tree = Tree(own.module.module, own.module.resolver)
                    plain = not knows_of_tasks(tree, own.node)
                if not plain or not self._is_harmless(mode, one):
                    return None
        return found

    def _predictions(self) -> list[Method]:
        mode = self.modes["PREDICT"]
        assert mode.spec is not None
        given = mode.spec.get("predictions")
        if given is None:
            return []
        method = self.sliced(
            mode, "predictions", [given.node], given.node, labels=False
        )
        found = [method]
        exports = mode.spec.get("export_outputs")
        if exports is not None:
            found += self._exports(mode, exports, given)
        return found

    def _exports(
        self, mode: Mode, exports: Argument, predictions: Argument
    ) -> list[Method]:
        items = mode.items(exports)
        if (
            items is None
            or mode.blocks
            or any(isinstance(key, Computed) for key, _ in items)
        ):
            raise self.stop(exports.node, "export_outputs is not a plain dict")
        said = Said(self, mode)
        nodes: list[cst.BaseExpression] = []
        texts: list[tuple[str, str]] = []
        same: set[str] = set()
        for key, one in items:
            value = one.value
            if not isinstance(value, Called) or not mode.is_own(value):
                raise self.stop(one.node, "it is not seen what is exported")
            kind = value.symbol.rpartition(".")[2]
            inside = self._exported(mode, kind, value)
            nodes += [node for _, node in inside]
            if len(inside) == 1 and inside[0][0] == "":
                node = inside[0][1]
                told = mode.source_of(node)
                if told is mode.source_of(predictions.node):
                    same.add(key)
                texts.append((key, on_one_line(said.expression(node))))
            else:
                entries = ", ".join(f'"{n}": {said.expression(o)}' for n, o in inside)
                texts.append((key, f"{{{entries}}}"))
        keys = [key for key, _ in texts]
        if "serving_default" not in keys and len(keys) == 1:
            texts.insert(0, ("serving_default", texts[0][1]))
            same |= {"serving_default"} if keys[0] in same else set()
        if [key for key, _ in texts] == ["serving_default"] and same:
            return []
        self.parts.words.add("exports")
        if len(same) == len(texts):
            parameter, _ = self.unpacked(set())
            call = f"self.predictions({self.features}, {parameter})"
            entries = ", ".join(f'"{key}": predictions' for key, _ in texts)
            lines = [f"predictions = {call}\n"]
            parameters = (self.features, parameter)
            return [Method("exports", parameters, lines, f"{{{entries}}}")]
        found = mode.needed(nodes)
        self.parts.used.update(found.statements)
        parameter, unpacked = self.unpacked(found.outputs)
        lines = unpacked + [said.statement(one) for one in found.statements]
        if len({code for _, code in texts}) == 1 < len(texts) and "{" in texts[0][1]:
            # One answer under several names.
            lines.append(f"answer = {texts[0][1]}\n")
            texts = [(key, "answer") for key, _ in texts]
        entries = ", ".join(f'"{key}": {code}' for key, code in texts)
        return [Method("exports", (self.features, parameter), lines, f"{{{entries}}}")]

    def _exported(
        self, mode: Mode, kind: str, value: Called
    ) -> list[tuple[str, cst.BaseExpression]]:
        """The outputs of one signature, by name; no name for a whole dict."""
        if kind != "PredictOutput" and _INPUTS not in self.parts.notes:
            self.parts.notes.append(_INPUTS)
        if kind == "PredictOutput":
            one = mode.arguments(value, ("outputs",))["outputs"]
            if isinstance(one.value, Dict):
                return [("", one.node)]
            return [("output", one.node)]
        if kind == "RegressionOutput":
            return [("outputs", mode.arguments(value, ("value",))["value"].node)]
        if kind == "ClassificationOutput":
            given = mode.arguments(value, ("scores", "classes"))
            return [(name, one.node) for name, one in given.items()]
        raise self.stop(
            value.node or self.defined, f"`{kind}` is not exported natively"
        )

    def _shared(
        self, mode: Mode, values: Sequence[Value]
    ) -> dict[cst.BaseExpression, str]:
        """Names of decisions, sums, or what the program's own functions give, that
        several metrics are given, and of which type."""
        found: dict[cst.BaseExpression, str] = {}
        for value in values:
            for one in value.arguments if isinstance(value, Called) else ():
                source = mode.source_of(one.node)
                text = self.marked(self.tree.code(source))
                kind = kind_of(text) if "arg" not in text else None
                own = isinstance(source, cst.Call) and not self.tree.symbol(source.func)
                own = own or isinstance(source, cst.BinaryOperation)
                told = own or kind in ("bool", "int32", "int64")
                if source is not one.node and told:
                    found[one.node] = "bool" if decisions(text) else kind or ""
        names = [self.tree.code(one) for one in found]
        return {n: k for n, k in found.items() if names.count(self.tree.code(n)) > 1}

    def _is_one(self, mode: Mode, labels: Argument) -> bool:
        """Labels of which each example has one: a sparse cross entropy takes them."""

        def plain(node: cst.BaseExpression) -> str:
            symbol = self.tree.symbol(node.func) if isinstance(node, cst.Call) else None
            casts = symbol in ("tf.cast", "tf.to_int64", "tf.to_int32")
            if casts and isinstance(node, cst.Call):
                return plain(node.args[0].value)
            return self.tree.code(node)

        taken = {
            plain(one.value)
            for call in walk(self.defined.body, cst.Call)
            if "sparse_softmax_cross_entropy" in (self.tree.symbol(call.func) or "")
            for one in call.args
        }
        return plain(mode.source_of(labels.node)) in taken

    def metric_of(
        self,
        mode: Mode,
        key: str,
        value: Called,
        shared: Mapping[cst.BaseExpression, str] = MappingProxyType({}),
        named: set[cst.BaseExpression] | None = None,
    ) -> Metric:
        """The metric of Keras for one of tf.metrics, by the text of its key.

        `named` gets the arguments that it has by their names.
        """
        said = Said(self, mode)
        arguments = mode.arguments(value, METRICS[value.symbol])
        arguments.pop("name", None)
        texts, types = {}, {}
        for name, one in arguments.items():
            source = mode.source_of(one.node)
            if one.node in shared:
                source, types[name] = one.node, shared[one.node]
            texts[name] = self.marked(said.expression(source))
        if value.symbol.endswith("_at_k") and self._is_one(mode, arguments["labels"]):
            texts["labels"] = f"tf.expand_dims({texts['labels']}, 1)"
        made = metric(value.symbol, key, texts, types=types)
        update = "\0".join(made.update)
        for name, one in arguments.items():
            # What is said several times has its name, where it has one.
            long = not isinstance(mode.source_of(one.node), (cst.Name, cst.Subscript))
            several = long and update.count(texts[name]) > 1
            if several and named is not None and isinstance(one.node, cst.Name):
                update = update.replace(
                    texts[name], self.marked(said.expression(one.node))
                )
                named.add(one.node)
        return replace(
            made,
            constructor=replace(made.constructor, text=self.take(made.constructor)),
            update=tuple(map(self.protected, update.split("\0"))) if update else (),
            sample_weight=made.sample_weight and self.protected(made.sample_weight),
        )

    # -- code of the tables

    def marked(self, text: str) -> str:
        """The program's own code in the words of the tables."""
        return re.sub(rf"(?<![\w.]){self.alias}\.", "tf.", text)

    def protected(self, text: str) -> str:
        """Code of the tables in the program's words."""
        return re.sub(r"(?<![\w.])tf\.", f"{self.alias}.", text)

    def take(self, code: Code) -> str:
        """The text of code from the tables, noting what it asks for."""
        self.parts.words |= code.training
        if SUMMED in code.notes:
            self.sums = True
            code = replace(code, notes=tuple(n for n in code.notes if n != SUMMED))
        self.parts.notes += [n for n in code.notes if n not in self.parts.notes]
        return self.protected(code.text)

    # -- what is left

    def _check_rest(self) -> None:
        """Refuses what no method has, and which would be lost."""
        for mode in self.modes.values():
            for one in mode.taken:
                if one in self.parts.used or self.is_free_to_go(mode, one):
                    continue
                small = only_small(one)
                shown = self.tree.code(small if small is not None else one)
                shown = shown.splitlines()[0]
                reason = f"`{shown}` has no place in a Task"
                raise self.stop(one, reason)

    def _check_layers(self) -> None:
        """Refuses a Task whose methods would make variables whenever they run."""
        seen: set[cst.CSTNode] = set()
        made = {self.tree.statement(self.maker), *self._functional()}
        waiting: list[cst.CSTNode] = [one for one in self.parts.used if one not in made]
        while waiting:
            part = waiting.pop()
            for node in walk(part, cst.Call):
                symbol = self.tree.symbol(node.func) or ""
                shown = self.tree.code(node.func)
                if symbol.endswith(_MAKES_NONE):
                    continue
                if not symbol and (
                    self._is_of_others(node.func)
                    or makes_layer(node, self.parsed, self.facts)
                ):
                    reason = f"the model_fn makes several models, `{shown}` for one"
                    raise self.stop(node if self.tree.holds(node) else part, reason)
                if symbol.startswith(_MAKING) or shown.startswith("tf_keras.layers."):
                    raise self.stop(
                        node if self.tree.holds(node) else part,
                        f"`{shown}` makes variables outside of the model",
                    )
                defined = self.tree.resolver.definition(node.func)
                if isinstance(defined, cst.FunctionDef) and defined not in seen:
                    seen.add(defined)
                    waiting.append(defined.body)

    def _functional(self) -> list[Statement]:
        """The layers that a model of Keras is made of, which nothing else reads."""
        if self.tree.symbol(self.maker.func) not in _FUNCTIONAL:
            return []
        found = self.train.needed([one.value for one in self.maker.args]).statements
        names = {name for one in found for name in assigned(one)}
        others = [
            one
            for mode in self.modes.values()
            for one in mode.taken
            if one not in found and one is not self.tree.statement(self.maker)
            if names & mode.read(one)
        ]
        return [] if others else found

    def _is_of_others(self, func: cst.BaseExpression) -> bool:
        """A network of another file is made, or one that a module holds is called."""
        if self.tree.code(func).rpartition(".")[2] in self.foreign:
            return True
        told = self.facts.definition(func, self.parsed)
        made = told.node if told is not None else None
        if isinstance(func, cst.Name):
            scope = self.tree.resolver.scopes.module_scope
            bound = self.tree.resolver.bindings(func)
            here = bound[0].value if [o.scope for o in bound] == [scope] else None
            made = made if here is None else here
        if not isinstance(made, cst.Call):
            return False
        name = source_text(made.func).rpartition(".")[2]
        return name in self.models or name in self.foreign

    def is_free_to_go(self, mode: Mode, statement: Statement) -> bool:
        """A statement that does nothing but bind names, say something or return."""
        small = only_small(statement)
        if isinstance(small, (cst.Return, cst.Pass, cst.Assert, cst.Raise)):
            return True
        if is_docstring(statement):
            return True
        if isinstance(statement, cst.FunctionDef) and not statement.decorators:
            return True  # what calls it is asked for itself
        for node in walk(statement):
            if isinstance(node, (cst.Global, cst.Nonlocal, cst.Yield)):
                return False
            if isinstance(node, cst.Del) and not lets_go(node):
                return False  # nobody reads a mere name any more
            if isinstance(node, cst.Call) and not self._is_harmless(mode, node):
                return False
        return True

    def _is_harmless(self, mode: Mode, call: cst.Call) -> bool:
        symbol = self.tree.symbol(call.func)
        if symbol is None:
            dotted = dotted_name(call.func) or ""
            plain = self.tree.resolver.qualified(call.func) or dotted
            if plain.startswith(("logging.", "absl.logging.")):
                return True
            if plain.rpartition(".")[2].startswith(_WRITING):
                return False
            defined = self.tree.resolver.definition(call.func)
            if isinstance(defined, cst.FunctionDef) and self._keeps(defined):
                return False
            return not isinstance(defined, cst.FunctionDef) or all(
                self._is_harmless(mode, one)
                for one in walk(defined.body, cst.Call)
                if one is not call
            )
        if symbol.startswith(_SUMMARIES):
            merges = symbol.endswith((".merge", ".merge_all"))
            return merges or mode is not self.train
        return not symbol.startswith(_HARMS)

    def _keeps(self, function: cst.FunctionDef) -> bool:
        """A function puts something into what the module holds."""
        calls = [one.func for one in walk(function.body, cst.Call)]
        filled = [one.target for one in walk(function.body, cst.AssignTarget)]
        filled += [
            one
            for one in calls
            if isinstance(one, cst.Attribute) and one.attr.value in _FILLING
        ]
        scopes = self.tree.resolver.scopes
        return any(isinstance(one, cst.Global) for one in walk(function.body)) or any(
            bound.scope is scopes.module_scope and bound.kind is not BindingKind.IMPORT
            for one in filled
            if isinstance(one, (cst.Attribute, cst.Subscript))
            and isinstance(one.value, cst.Name)
            for bound in self.tree.resolver.bindings(one.value)
        )


def _call_in(statement: Statement) -> cst.Call:
    """The call whose value a statement gives to names."""
    small = only_small(statement)
    assert isinstance(small, cst.Assign)
    assert isinstance(small.value, cst.Call)
    return small.value


def alias_of(parsed: ParsedModule) -> str:
    """The file's name for TensorFlow."""
    found = re.search(
        r"^\s*import tensorflow(?:\.compat\.v1)? as (\w+)",
        parsed.source.text,
        re.MULTILINE,
    )
    return found[1] if found else "tensorflow"


def _parameters(made: cst.ClassDef) -> list[str]:
    """What the constructor of a class takes."""
    for one in made.body.body:
        if isinstance(one, cst.FunctionDef) and one.name.value == "__init__":
            return [param.name.value for param in one.params.params][1:]
    return []


def _is_empty(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.List, cst.Tuple)) and not node.elements


def _operation_name(node: cst.CSTNode) -> str | None:
    """The name that a call gives to its operation."""
    if not isinstance(node, cst.Call):
        return None
    for place, one in enumerate(node.args):
        named = one.keyword is not None and one.keyword.value == "name"
        shown = source_text(node.func)
        said = named or (shown.endswith("identity") and place == 1)
        if said and isinstance(one.value, cst.SimpleString):
            value = one.value.evaluated_value
            return value if isinstance(value, str) else None
    return None


def _identifiers(
    keys: Sequence[str], lines: Sequence[str], taken: Sequence[str]
) -> list[str]:
    """Names for metrics, after their keys."""
    used = {*taken, "self"}
    for line in lines:
        used |= {n.id for n in walk_ast(tree_of(line), ast.Name)}
    found: list[str] = []
    for key in keys:
        if isinstance(key, Computed):
            key = re.sub(r".*?(['\"])(.*?)\1.*", r"\2", key, flags=re.DOTALL)
            key = re.sub(r"%\w|\{.*?\}", "", key)
        name = re.sub(r"\W+", "_", key).strip("_").lower() or "metric"
        name = name if name.isidentifier() else f"metric_{name}"
        while name in used:
            name = f"{name}_metric" if not name.endswith("_metric") else f"{name}_"
        used.add(name)
        found.append(name)
    return found


def _is_attribute(name: cst.Name, tree: Tree) -> bool:
    """The name stands behind a dot."""
    above = tree.parent(name)
    return isinstance(above, cst.Attribute) and above.attr is name
