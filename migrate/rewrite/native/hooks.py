"""Hooks that look on while a model trains, as callbacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ...code.arguments import is_none
from ...code.statements import is_docstring
from ...code.tree import only_small
from ...names.nodes import walk
from ...project.facts import ParsedModule
from .config import of_trainer
from .page import Page
from .word import Handler, Odd, Word, arguments, keyword, nothing, taken

_HOMES = ("tf.train", "tf.estimator")
BASES = tuple(f"{home}.SessionRunHook" for home in _HOMES)
FETCHES = tuple(f"{home}.SessionRunArgs" for home in _HOMES)
_STEPS = tuple(
    f"tf.{home}.{name}_global_step"
    for home in ("train", "contrib.framework")
    for name in ("get", "get_or_create", "create")
)
_WEIGHTS = "tf.trainable_variables"
# The loss of a model under the names that TensorFlow and people gave it.
_LOSS = re.compile(r"(\w+/)*(loss|\w*_loss/value)$")
# Method of a hook -> its name in a callback, what it is called with, and how many
# parameters it has had.
_METHODS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "begin": ("begin", (), 1),
    "before_run": ("before_step", ("step",), 2),
    "after_run": ("after_step", ("step", "values"), 3),
    "end": ("end", (), 2),
    "after_create_session": ("begin", (), 3),
}

# What a callback may do with a Trainer, which then has to go on as it was.
_LOOKS = ("evaluate", "predict", "export_saved_model", "export_savedmodel")

# What is fetched: the step, a value by its name, or several of them.
Fetched = str | dict[str, "Fetched"] | list["Fetched"]
_STEP = ""


def callbacks(page: Page) -> None:
    """Rewrites the hooks that the file defines."""
    for node in page.scopes.opened:
        if isinstance(node, cst.ClassDef) and _is_hook(page.parsed, node, page):
            try:
                _Hook(page, node).rewrite()
            except Odd as odd:
                page.refuse(odd.node, f"the hook `{node.name.value}` ({{}}) {odd.why}")


def _is_hook(
    parsed: ParsedModule, made: cst.ClassDef, page: Page, depth: int = 0
) -> bool:
    """A class that is a SessionRunHook, by its base or by that of its base."""
    for base in made.bases:
        if parsed.resolver.resolve(base.value) in BASES:
            return True
        home, inner = page.origins.defined(base.value, parsed)
        if isinstance(inner, cst.ClassDef) and depth < 5:
            return _is_hook(home, inner, page, depth + 1)
    return False


@dataclass
class _Hook:
    page: Page
    made: cst.ClassDef
    # self.NAME -> what the tensor in it is
    tensors: dict[str, Fetched] = field(default_factory=dict)
    # Nodes that have been seen to.
    known: set[cst.CSTNode] = field(default_factory=set)
    # What stands for the step and the values in the method at hand.
    step: str = "step"
    values: str = "values"

    def rewrite(self) -> None:
        """Renames the methods, and takes values from where they come now."""
        methods = {
            one.name.value: one
            for one in self.made.body.body
            if isinstance(one, cst.FunctionDef)
        }
        created = methods.get("after_create_session")
        if created is not None and _starts_iterator(created):
            del methods["after_create_session"]
            self.page.drop_statement(created)
            self.page.note(
                self.made, "has nothing to do: data sets start by themselves"
            )
        if "after_create_session" in methods and "begin" in methods:
            raise Odd(methods["after_create_session"], "works on the new session")
        for name in ("__init__", "begin", "before_run"):
            if name in methods:
                self._find_tensors(methods[name])
        fetched = None
        if "before_run" in methods:
            fetched = self._fetched(methods["before_run"])
        for name in _METHODS:
            if name in methods:
                self._method(methods[name], fetched)
        for node in walk(self.made.body):
            attribute = of_self(node)
            other = self.page.call_of(node) and attribute not in (None, *methods)
            if other or (isinstance(node, cst.Attribute) and node.attr.value in _LOOKS):
                self.page.words.add("Callback.evaluate")
            if attribute in self.tensors and node not in self.known:
                raise Odd(node, f"uses the tensor `self.{attribute}`")

    # -- tensors ----------------------------------------------------------------------

    def _find_tensors(self, method: cst.FunctionDef) -> None:
        """``self._step = tf.train.get_global_step()`` and what looks at it."""
        for assign in walk(method.body, cst.Assign):
            if len(assign.targets) == 1:
                attribute = of_self(assign.targets[0].target)
                fetched = self._meaning(assign.value)
                if attribute is not None and fetched is not None:
                    self.tensors[attribute] = fetched
                    self._drop(assign)
        for node in walk(method.body, cst.If, cst.Assert):
            looks = isinstance(node.test, cst.Comparison) and of_self(node.test.left)
            ends = isinstance(_only(node), (cst.Raise, cst.Assert))
            if looks in self.tensors and ends:
                self._drop(node)

    def _drop(self, node: cst.CSTNode) -> None:
        statement = self.page.statement(node)
        if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) > 1:
            raise Odd(statement, "has several statements on one line")
        self.page.drop_statement(statement)
        self.known.update(walk(statement))
        self.page.replaced.update(one for one in walk(node, cst.Name))

    def _meaning(self, node: cst.BaseExpression) -> Fetched | None:
        """What a tensor is: the step, or a value of some name."""
        if isinstance(node, cst.SimpleString):
            name = str(node.evaluated_value).removesuffix(":0")
            if name == "global_step":
                return _STEP
            texts = (one.source.text for one in self.page.files)
            if _LOSS.match(name) and not any("regulariz" in one for one in texts):
                return "loss"
            return name
        if isinstance(node, cst.Call):
            if self.page.symbol(node.func) in _STEPS:
                return _STEP
            func = node.func
            if (
                isinstance(func, cst.Attribute)
                and func.attr.value == "get_tensor_by_name"
            ):
                first = node.args[0].value if len(node.args) == 1 else None
                if isinstance(first, cst.SimpleString):
                    return self._meaning(first)
                return self._told(first) if first is not None else None
        return self.tensors.get(of_self(node) or "")

    def _told(self, node: cst.BaseExpression) -> Fetched | None:
        """``self.loss_name``, the name that all who make the hook tell it as a text."""
        page, attribute = self.page, of_self(node)
        values = [
            assign.value
            for assign in walk(self.made.body, cst.Assign)
            if attribute
            and attribute in [of_self(one.target) for one in assign.targets]
        ]
        told = values[0] if len(values) == 1 else node
        for home, text in dict.fromkeys(page.origins.of(told, page.parsed)):
            if home is not page.parsed or not isinstance(text, cst.SimpleString):
                return None
            meaning = self._meaning(text)
            if not isinstance(meaning, str) or meaning == _STEP:
                return None
            page.put(text, page.string(meaning))
            page.watched.update({meaning} - {"loss"})
        return f"self.{attribute}" if attribute else None

    def _fetched(self, method: cst.FunctionDef) -> Fetched | None:
        """What ``before_run`` asks for, whose request is taken out."""
        returns = list(walk(method.body, cst.Return))
        asked = [one for one in returns if not is_none(one.value)]
        if not asked:
            return None
        last = method.body.body[-1]
        if len(returns) > 1 or self.page.statement(asked[0]) is not last:
            raise Odd(asked[0], "asks for values in several ways")
        value = self.page.value(asked[0].value)
        if (
            not isinstance(value, cst.Call)
            or self.page.symbol(value.func) not in FETCHES
        ):
            raise Odd(asked[0], "asks for values in a way that is not understood")
        args = arguments(self.page, value, ("fetches", "feed_dict", "options")) or {}
        if set(args) != {"fetches"}:
            raise Odd(value, "feeds the session, or sets its options")
        found = self._structure(args["fetches"].value)
        self._drop(asked[0])
        for one in reversed([*walk(method.body, cst.Assign)]):
            # ``graph = run_context.session.graph``, which nothing else read
            if one not in self.known:
                name = self.page.source(one.targets[0].target)
                bound = self.page.scopes.opened[method].bindings.get(name, ())
                reads = {read for each in bound for read in self.page.uses(each)}
                if reads and reads <= self.known:
                    self._drop(one)
        return found

    def _structure(self, node: cst.BaseExpression) -> Fetched:
        if isinstance(node, cst.Dict):
            pairs = [one for one in node.elements if isinstance(one, cst.DictElement)]
            keys = [_text(one.key) for one in pairs]
            if len(pairs) < len(node.elements) or None in keys:
                raise Odd(node, "asks for values by names that are computed")
            found = [self._structure(one.value) for one in pairs]
            return {str(key): one for key, one in zip(keys, found, strict=True)}
        if isinstance(node, (cst.List, cst.Tuple)):
            return [self._structure(one.value) for one in node.elements]
        meaning = self._meaning(self.page.value(node) or node)
        if meaning is None and of_self(node):
            meaning = self._told(node)
        if meaning is None:
            raise Odd(node, f"asks for the tensor `{self.page.source(node)}`")
        return meaning

    # -- methods ---------------------------------------------------------------------

    def _method(self, method: cst.FunctionDef, fetched: Fetched | None) -> None:
        page, name = self.page, method.name.value
        params = method.params
        new, wanted, count = _METHODS[name]
        plain = not (params.kwonly_params or params.star_kwarg or params.posonly_params)
        if (
            not plain
            or isinstance(params.star_arg, cst.Param)
            or len(params.params) != count
            or method.decorators
        ):
            raise Odd(method, f"has a `{name}` of an unusual form")
        given = [one.name.value for one in params.params]
        self.step = self._free(method, "step", "global_step", fetched)
        self.values = self._free(method, "values", "results", fetched)
        self._stops(method, given)
        if name == "after_run":
            self._results(method, given[2], fetched)
        if given[1:]:
            self._sessions(method, given[1])
        if new in ("begin", "end"):
            self._weights(method)
        spelled = [{"step": self.step, "values": self.values}[one] for one in wanted]
        for gone in walk(method.body, cst.Del):
            named = {one.value for one in walk(gone, cst.Name)}
            if named <= {one.name.value for one in params.params[1:]}:
                self._drop(gone)
        for node in walk(method.body):
            told = isinstance(node, cst.Name) and node.value in given[1:]
            if told and node in page.scopes.loads and node not in self.known:
                raise Odd(node, "works with its session")
        body = [one for one in method.body.body if not is_docstring(one)]
        if isinstance(method.body, cst.IndentedBlock) and all(map(page.is_gone, body)):
            page.drop_statement(method)
            return
        if method.name.value != new:
            page.put(method.name, new)
        start = page.span(params.params[0].name)[1]
        end = page.span(params.params[-1].name)[1]
        page.put_span(start, end, "".join(f", {one}" for one in spelled))

    def _free(
        self, method: cst.FunctionDef, name: str, other: str, fetched: Fetched | None
    ) -> str:
        """A name for a parameter that the method does not use for something else."""
        results = fetched if method.name.value == "after_run" else None
        bound = self.page.scopes.opened[method].bindings.get(name, ())
        same = name == "step" and all(
            self._is_step(one.value, results)
            or _unpacked(one.node, results).get(name) == _STEP
            for one in bound
        )
        return name if same or not bound else other

    def _is_step(
        self, node: cst.BaseExpression | None, fetched: Fetched | None
    ) -> bool:
        """``step = run_values.results``, of which the parameter takes the place."""
        while isinstance(node, cst.Subscript):
            node = node.value
        if fetched is None or not isinstance(node, cst.Attribute):
            return False
        return node.attr.value == "results" and self._taken(node, fetched)[1] == _STEP

    def _stops(self, method: cst.FunctionDef, given: Sequence[str]) -> None:
        """``run_context.request_stop()``."""
        stops = [f"{one}.request_stop" for one in given[1:]]
        for node in walk(method.body, cst.Call):
            if self.page.source(node.func) in stops:
                if not isinstance(self.page.parent(node), cst.Expr):
                    raise Odd(node, "stops in a way that is not understood")
                self.page.put(node, f"{given[0]}.should_stop = True")
                self.known.update(walk(node))

    def _results(
        self, method: cst.FunctionDef, given: str, fetched: Fetched | None
    ) -> None:
        """Puts values in the place of ``run_values.results``."""
        for top in walk(method.body, cst.Attribute):
            if self.page.source(top) == f"{given}.results":
                if fetched is None:
                    raise Odd(top, "looks at results that nothing asked for")
                self._put(*self._taken(top, fetched))

    def _taken(
        self, node: cst.BaseExpression, value: Fetched
    ) -> tuple[cst.BaseExpression, Fetched]:
        """The whole of ``results["loss"][0]``, and what it is."""
        holder = self.page.parent(node)
        if isinstance(value, str) or not isinstance(holder, cst.Subscript):
            return node, value
        index = holder.slice[0].slice
        key = index.value if isinstance(index, cst.Index) else None
        if isinstance(value, dict) and key is not None:
            inner = value.get(str(_text(key)))
        elif isinstance(value, list) and isinstance(key, cst.Integer):
            inner = value[int(key.value)] if int(key.value) < len(value) else None
        else:
            inner = None
        if inner is None:
            raise Odd(node, "takes results that it did not ask for")
        return self._taken(holder, inner)

    def _put(self, node: cst.BaseExpression, value: Fetched) -> None:
        """Writes what a value is now in the place of what it was."""
        text = self._spelled(value)
        holder = self.page.parent(node)
        parts = {
            name: said
            for name, one in _unpacked(holder, value).items()
            if (said := self._spelled(one)) != name
        }
        if parts and holder is not None:
            self.page.put(holder, f"{', '.join(parts)} = {', '.join(parts.values())}")
            self.known.update(walk(node))
            return
        if isinstance(holder, cst.Assign) and [
            self.page.source(one.target) for one in holder.targets
        ] == [text]:
            self._drop(holder)
            return
        self.page.put(node, text)
        self.known.update(walk(node))

    def _spelled(self, value: Fetched) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(self._spelled, value))}]"
        if isinstance(value, dict):
            string, said = self.page.string, self._spelled
            pairs = [f"{string(key)}: {said(one)}" for key, one in value.items()]
            return f"{{{', '.join(pairs)}}}"
        if value == _STEP:
            return self.step
        if value.startswith("self."):
            return f"{self.values}[{value}]"
        if value != "loss":
            self.page.watched.add(value)
        return f"{self.values}[{self.page.string(value)}]"

    def _sessions(self, method: cst.FunctionDef, given: str) -> None:
        """``run_context.session.run(self._step)`` is the step."""
        runs = method.name.value in ("before_run", "after_run")
        for node in walk(method.body, cst.Call):
            asks = self.page.source(node.func) == given + ".session" * runs + ".run"
            if asks and [self._meaning(one.value) for one in node.args] == [_STEP]:
                if runs:
                    self._put(node, _STEP)
                    continue
                self._of_trainer(node, "global_step")

    def _weights(self, method: cst.FunctionDef) -> None:
        """All weights, where nothing looks at their names, which are others now."""
        told = walk(self.made.body, cst.Attribute)
        if any(one.attr.value in ("name", "op") for one in told):
            return
        for node in walk(method.body, cst.Call):
            if self.page.symbol(node.func) == _WEIGHTS and not node.args:
                self._of_trainer(node, "task.model.trainable_variables")

    def _of_trainer(self, node: cst.Call, attribute: str) -> None:
        """What the trainer has stands for a call."""
        if any(of_self(one) == "trainer" for one in walk(self.made.body)):
            raise Odd(node, f"has a trainer of its own, and asks for `{attribute}`")
        self.page.words.add("Callback.trainer")
        self.page.put(node, f"self.trainer.{attribute}")
        self.known.update(walk(node))
        self.page.replaced.update(walk(node, cst.Name))


def _starts_iterator(method: cst.FunctionDef) -> bool:
    """``self.initialize(session)``, which input functions set."""
    body = [one for one in method.body.body if not is_docstring(one)]
    small = only_small(body[0]) if len(body) == 1 else None
    call = small.value if isinstance(small, cst.Expr) else None
    return (
        isinstance(call, cst.Call)
        and of_self(call.func) is not None
        and [a.value.value for a in call.args if isinstance(a.value, cst.Name)]
        == [one.name.value for one in method.params.params[1:2]]
    )


def of_self(node: cst.CSTNode) -> str | None:
    """The name of an attribute of self."""
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        return node.attr.value if node.value.value == "self" else None
    return None


def _unpacked(node: cst.CSTNode | None, results: Fetched | None) -> dict[str, Fetched]:
    """``loss, step = run_values.results``: what each name is."""
    targets = (
        [one.target for one in node.targets] if isinstance(node, cst.Assign) else []
    )
    if len(targets) != 1 or not isinstance(targets[0], cst.Tuple | cst.List):
        return {}
    names = [
        one.value.value
        for one in targets[0].elements
        if isinstance(one.value, cst.Name)
    ]
    if not isinstance(results, list) or len({*names}) != len(results):
        return {}
    return dict(zip(names, results, strict=True))


def _text(node: cst.BaseExpression) -> str | None:
    return str(node.evaluated_value) if isinstance(node, cst.SimpleString) else None


def _only(node: cst.If | cst.Assert) -> cst.CSTNode | None:
    """The one statement of a branch without another, or what is no branch."""
    match node:
        case cst.If(body=cst.BaseSuite(body=[only]), orelse=None):
            return only_small(only) or only
    return None if isinstance(node, cst.If) else node


# -- hooks of TensorFlow ---------------------------------------------------------------

LOGGING = ("tensors", "every_n_iter", "every_n_secs", "at_end", "formatter")


def _stock(page: Page, word: Word) -> None:
    """A hook of TensorFlow is made, or a step counter that logs in its own way."""
    holder = page.parent(word.node)
    made = page.parent(holder) if isinstance(holder, cst.Arg) else None
    if not isinstance(made, cst.ClassDef):
        return
    told = [one.attr.value for one in walk(made.body, cst.Attribute)]
    names = {one.name.value for one in walk(made.body, cst.FunctionDef)}
    own = {of_self(target.target) for target in walk(made.body, cst.AssignTarget)}
    given = [made, *(one for one in page.scopes.calls.values() if _makes(one, made))]
    if (
        "StepCounter" not in word.symbol
        or names - {"__init__", "_log_and_record"}
        or any(one[0] == "_" and one not in own | names | {"__init__"} for one in told)
        or any(re.search("output_dir|summary_writer", page.source(n)) for n in given)
    ):
        page.refuse(
            word.node, f"a class ({{}}) is made of `{word.symbol}`: write it out"
        )
    page.words.add("_log_and_record")


def _makes(call: cst.Call, made: cst.ClassDef) -> bool:
    """The call makes an object of a class, by its name."""
    return isinstance(call.func, cst.Name) and call.func.value == made.name.value


def _logged(page: Page, word: Word) -> None:
    """The tensors that are logged are values of these names."""
    _stock(page, word)
    if word.call is None:
        return
    args = arguments(page, word.call, LOGGING) or {}
    tensors = args["tensors"].value if "tensors" in args else None
    for home, found in page.origins.of(tensors, page.parsed):
        strings = _strings(found)
        told = [str(one.evaluated_value) for one in strings or ()]
        ended = [one for one in strings or () if one.evaluated_value[-2:] == ":0"]
        if strings is None or (ended and home is not page.parsed):
            why = "what a LoggingTensorHook ({}) logs is no list of names"
            page.refuse(word.node, why)
            return
        for one in ended:
            page.put(one, page.source(one).replace(":0", ""))
        names = {name.removesuffix(":0") for name in told}
        page.watched.update(names - {"loss", "global_step"})


def _strings(node: cst.CSTNode | None) -> list[cst.SimpleString] | None:
    """The names of tensors in a dict, a list, or a comprehension over a list."""
    values: list[cst.BaseExpression] = []
    if isinstance(node, cst.Dict):
        values = [
            one.value for one in node.elements if isinstance(one, cst.DictElement)
        ]
        if len(values) < len(node.elements):
            return None
    elif isinstance(node, (cst.List, cst.Tuple)):
        values = [one.value for one in node.elements]
    elif isinstance(node, cst.DictComp) and isinstance(node.value, cst.Name):
        same = isinstance(node.for_in.target, cst.Name)
        return _strings(node.for_in.iter) if same else None
    found = [one for one in values if isinstance(one, cst.SimpleString)]
    return found if values and len(found) == len(values) else None


def _nan(page: Page, word: Word) -> None:
    """It guards the loss, which need not be named."""
    _stock(page, word)
    if word.call is not None:
        args = arguments(page, word.call, ("loss_tensor", "fail_on_nan_loss")) or {}
        if "loss_tensor" in args:
            page.drop_argument(word.call, args["loss_tensor"])


def _without(*names: str) -> Handler:
    """A hook that needs some arguments no more."""

    def handle(page: Page, word: Word) -> None:
        _stock(page, word)
        if word.call is None:
            return
        for arg in word.call.args:
            if keyword(arg) in names:
                page.drop_argument(word.call, arg)

    return handle


_STOCK: dict[str, tuple[str, Handler]] = {
    "LoggingTensorHook": ("LogValues", _logged),
    "NanTensorHook": ("NanGuard", _nan),
    "StopAtStepHook": ("StopAtStep", _stock),
    "StepCounterHook": ("StepCounter", _without("output_dir", "summary_writer")),
    "ProfilerHook": ("Profiler", _without("show_dataflow", "show_memory")),
}
_EARLY = (
    "make_early_stopping_hook", "stop_if_higher_hook", "stop_if_lower_hook",
    "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
)  # fmt: skip


def _failure(page: Page, word: Word) -> None:
    """The error for a loss that is not a number, whose text is another one."""
    for one in page.ancestors(word.node):
        if isinstance(one, cst.ExceptHandler) and one.name is not None:
            page.refuse(word.node, "what a hook's error says ({}) is looked at")
    page.rename(word.node, "FloatingPointError")


WORDS: dict[str, Handler] = {
    **{base: taken("Callback") for base in BASES},
    **{f"{home}.NanLossDuringTrainingError": _failure for home in _HOMES},
    **dict.fromkeys(FETCHES, nothing),
    **{f"{home}.SecondOrStepTimer": taken("StepTimer") for home in _HOMES},
    **{
        f"{home}.{old}": taken(new, adjust)
        for home in _HOMES
        for old, (new, adjust) in _STOCK.items()
    },
    **{
        f"{home}.{name}": taken(name, of_trainer)
        for home in ("tf.estimator.experimental", "tf.contrib.estimator")
        for name in _EARLY
    },
}
