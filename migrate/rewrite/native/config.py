"""Estimators, their configuration, modes and specs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from ...code.arguments import is_none
from ...code.texts import source_text
from ...code.tree import walk
from ...project.facts import ParsedModule
from . import strategies
from .canned import TASKS
from .page import Page
from .strategies import for_servers
from .word import Handler, Word, arguments, keyword, keywords, named, taken

FIELDS = (
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps",
    "save_checkpoints_secs", "session_config", "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute",
    "device_fn", "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs",
)  # fmt: skip
_NATIVE = {
    *("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps"),
    *("save_checkpoints_secs", "keep_checkpoint_max", "log_step_count_steps"),
    "strategy",
}
# Fields without a meaning in TensorFlow 2, and what their loss may change.
_DROPPED = {
    **dict.fromkeys(
        (
            *("session_config", "protocol", "master", "num_cores"),
            *("log_device_placement", "gpu_memory_fraction", "evaluation_master"),
            *("experimental_max_worker_delay_secs", "session_creation_timeout_secs"),
        ),
        "",
    ),
    "device_fn": "variables are where TensorFlow puts them, not where `device_fn` does",
    "eval_distribute": "evaluates under the strategy that it trains with",
    "keep_checkpoint_every_n_hours": "keeps the last checkpoints, and none for good",
}
# What Estimators call what a Trainer has, and what it has not.
_HIDDEN = {
    **{f"_{name}": name for name in ("params", "config", "model_dir")},
    **dict.fromkeys(("_model_fn", "_session_config", "_device_fn"), ""),
}
_OWN = ("self", "owner", "self.owner")
_SETTINGS_OF_START = "tf.estimator.WarmStartSettings"
_SETTINGS = (
    *("ckpt_to_initialize_from", "vars_to_warm_start", "var_name_to_vocab_info"),
    "var_name_to_prev_var_name",
)
_CHOSEN = (
    "chooses variables by their names: warm start from the whole checkpoint, or load "
    "them into the layers of the Task afterwards"
)


def make_trainer(page: Page, word: Word) -> None:
    """A word's calls that make an Estimator make a Trainer."""
    for call in _calls(page, word):
        partial = page.resolver.qualified(call.func) == "functools.partial"
        _make_task(page, call, partial=partial)


def _calls(page: Page, word: Word) -> list[cst.Call]:
    """The calls that make an Estimator of a word: its own, a partial, or a super()."""
    if word.call is not None:
        return [word.call]
    holder = page.parent(word.node)
    call = page.parent(holder) if isinstance(holder, cst.Arg) else None
    if isinstance(call, cst.ClassDef):
        _open_attributes(page, call)
        return _super_calls(page, call)
    if isinstance(call, cst.Call):
        partial = page.resolver.qualified(call.func) == "functools.partial"
        return [call] if partial else []
    return []


def _super_calls(page: Page, made: cst.ClassDef) -> list[cst.Call]:
    return [
        call
        for node, call in page.scopes.calls.items()
        if re.fullmatch(r"super\(.*\)\.__init__", page.source(node))
        and next(a for a in page.ancestors(node) if isinstance(a, cst.ClassDef)) is made
    ]


def _open_attributes(page: Page, made: cst.ClassDef) -> None:
    """``self._params`` in a class of Estimators, by the name that a Trainer has."""
    for node in walk(made, cst.Attribute):
        name = node.attr.value
        if name not in _HIDDEN or page.source(node.value) not in _OWN:
            continue
        if isinstance(page.parent(node), cst.AssignTarget) or not _HIDDEN[name]:
            page.refuse(node, f"`{page.source(node)}` ({{}}) is hidden in Estimators")
        page.put(node.attr, _HIDDEN[name])


def _make_task(page: Page, call: cst.Call, *, partial: bool) -> None:
    """``model_fn=`` is the first argument, or one of another name."""
    first = call.args[1 if partial else 0] if len(call.args) > partial else None
    for arg in call.args:
        if keyword(arg) == "warm_start_from":
            page.words.add("warm_start_from")
        if keyword(arg) == "model_fn":
            if arg is first:
                page.take_off_keyword(arg)
            else:
                page.rename_keyword(arg, "make_task")
    _give_params(page, call, first)
    if any(arg.star == "**" for arg in call.args):
        unnamed = [arg for arg in call.args if arg.keyword is None and not arg.star]
        if "model_fn" not in keywords(call) and len(unnamed) <= partial:
            page.refuse(call, "an Estimator's model_fn ({}) is hidden by `**`: name it")


def _give_params(page: Page, call: cst.Call, task: cst.Arg | None) -> None:
    """An Estimator has params if none are given: an empty dict."""
    given = keywords(call)
    if task is None or "params" in given or any(arg.star for arg in call.args):
        return
    made = page.resolver.definition(task.value)
    if len(call.args) - len(given) > 3:
        return
    tasks = [made] if isinstance(made, cst.ClassDef) else [*_tasks(page)]
    if tasks and all(map(_takes_params, tasks)):
        page.add_argument(call, "params={}")


def _tasks(page: Page) -> Iterator[cst.ClassDef]:
    """The tasks of the program, of which an Estimator has one."""
    for parsed in page.files:
        for node in parsed.each(cst.ClassDef):
            names = {getattr(one.value, "value", None) for one in node.bases}
            if names & {"Task", *TASKS}:
                yield node


def _takes_params(task: cst.ClassDef) -> bool:
    return any(
        isinstance(one, cst.FunctionDef)
        and one.name.value == "__init__"
        and any(param.name.value == "params" for param in one.params.params)
        for one in task.body.body
    )


def _config(parameters: tuple[str, ...]) -> Handler:
    """A RunConfig, with its fields by position."""

    def handle(page: Page, word: Word) -> None:
        if word.call is not None:
            fields(page, word.call, parameters)

    return handle


def fields(page: Page, call: cst.Call, parameters: tuple[str, ...]) -> None:
    """Renames the fields of a RunConfig, and takes out those that mean nothing."""
    gone = page.dropped(call)
    args = arguments(page, call, parameters, gone)
    if args is None:
        if any(arg.star == "**" for arg in call.args):
            why = "the fields of a RunConfig ({}) are hidden by `**`: write them out"
        else:
            why = "the arguments of a RunConfig ({}) are hidden by `*`"
        page.refuse(call, why)
        return
    renamed = {"strategy" if n == "train_distribute" else n: a for n, a in args.items()}
    named(page, call, renamed, 1)
    for name, arg in args.items():
        field(page, call, name, arg)


def field(page: Page, call: cst.Call, name: str, arg: cst.Arg) -> None:
    """One field of a RunConfig, or of what replaces some in one."""
    if name == "train_distribute" and for_servers(page, arg.value):
        page.drop_argument(call, arg)
        page.drop_made(arg.value)
    elif name == "train_distribute":
        if arg.keyword is not None:
            page.rename_keyword(arg, "strategy")
        page.words.add("strategy")
    elif name == "eval_distribute" and _counts_steps(page) and not is_none(arg.value):
        page.words.update(("eval_distribute", "strategy"))
    elif name in _DROPPED:
        page.drop_argument(call, arg)
        page.drop_made(arg.value)
        if not is_none(arg.value):
            if _DROPPED[name]:
                page.note(arg.value, _DROPPED[name])
            if name == "session_config":
                _session_config(page, arg)
    elif (name == "experimental_distribute" and is_none(arg.value)) or (
        name == "save_summary_steps"
        and page.source(arg.value) in ("None", "0")
        and not page.says(".summary.")
    ):
        page.drop_argument(call, arg)
    elif name in _NATIVE:
        page.words.add(name)
    else:
        page.refuse(arg.value, f"`{name}` of a RunConfig ({{}}) has no native form yet")


def _counts_steps(page: Page) -> bool:
    """An evaluation ends after steps, each of which takes a batch of every replica."""
    return any(
        _steps_of(node) for parsed in page.files for node in parsed.each(cst.Call)
    )


def _steps_of(call: cst.Call) -> bool:
    """An evaluation that is told its steps, or takes the default of a specification."""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if isinstance(call.func, cst.Name):
        name = call.func.value
    if name not in ("evaluate", "EvalSpec"):
        return False
    given = {one.keyword.value: one for one in call.args if one.keyword is not None}
    plain = [one for one in call.args if one.keyword is None]
    steps = given.get("steps") or (plain[1] if len(plain) > 1 else None)
    return name == "EvalSpec" if steps is None else not is_none(steps.value)


def _session_config(page: Page, arg: cst.Arg) -> None:
    made = page.value(arg.value)
    if isinstance(made, cst.Call) and "device_count" in keywords(made):
        page.note(made, "uses all devices; `device_count` limited them")


def replaced(page: Page) -> None:
    """The fields in ``config.replace(...)``, which datasets and strings have not."""
    for node, call in page.scopes.calls.items():
        if not isinstance(node, cst.Attribute) or node.attr.value != "replace":
            continue
        names = keywords(call)
        if names and len(names) == len(call.args) and set(names) <= {*FIELDS}:
            for name, arg in zip(names, call.args, strict=True):
                field(page, call, name, arg)
            if len(page.dropped(call)) < len(call.args):
                page.words.add("replace")
            elif page.source(page.statement(call)) == (
                f"{page.source(node.value)} = {page.source(call)}"
            ):
                page.drop_statement(page.statement(call))
            else:
                page.put(call, node.value)


_OLD = (
    *("master", "num_cores", "log_device_placement", "gpu_memory_fraction"),
    *("tf_random_seed", "save_summary_steps", "save_checkpoints_secs"),
    *("save_checkpoints_steps", "keep_checkpoint_max"),
    *("keep_checkpoint_every_n_hours", "log_step_count_steps", "protocol"),
    *("evaluation_master", "model_dir", "session_config"),
)


def _spec(page: Page, word: Word) -> None:
    """A spec's hooks and exporters ask for parts."""
    evaluates = word.symbol.endswith("EvalSpec")
    names = (
        *("input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs"),
        "throttle_secs",
    )
    trains = ("input_fn", "max_steps", "hooks", "saving_listeners")
    parameters = names if evaluates else trains
    args = None if word.call is None else arguments(page, word.call, parameters)
    if word.call is not None and args is not None and "saving_listeners" in args:
        without_listeners(page, word.call, args["saving_listeners"])
    for name in ("hooks", "exporters"):
        if args is not None and name in args and not is_none(args[name].value):
            page.words.add("EvalSpec(hooks)" if evaluates and name == "hooks" else name)


def without_listeners(page: Page, call: cst.Call, arg: cst.Arg) -> None:
    """Refuses ``saving_listeners``, unless there are none."""
    page.drop_argument(call, arg)
    if not is_none(arg.value):
        page.refuse(arg, "`saving_listeners` ({}) are no hooks: make them `hooks`")


CLUSTER = (
    *("is_chief", "cluster_spec", "task_type", "task_id"),
    *("num_worker_replicas", "num_ps_replicas"),
)
_GONE = (
    *("evaluation_master", "global_id_in_cluster", "master", "session_config"),
    "tpu_config",
)
_SETS_CLUSTER = re.compile(r"""environ\[\s*['"]TF_CONFIG['"]\s*\]\s*=(?!=)""")
_DATA = "each worker reads what the chief's input function gives"


_ENDS = (
    "a training that ended with its data decayed Adam's slots of rows once more in TF "
    "1: the next one begins a little otherwise"
)


def trainings(page: Page) -> None:
    """Trainings that go on after their data ended, with Adam on rows of tables."""
    if not page.says("Adam") or not page.says("embedding", ".gather("):
        return
    calls = page.scopes.calls.items()
    whole = [call for func, call in calls if _ends_with_data(page, func, call)]
    loops = (cst.For, cst.While)
    again = [n for n in whole if any(isinstance(o, loops) for o in page.ancestors(n))]
    for call in again[:1] or whole[1:2]:
        page.note(call, _ENDS)


def _ends_with_data(page: Page, func: cst.CSTNode, call: cst.Call) -> bool:
    """``estimator.train(input_fn)``: no steps, and no ``num_epochs=None``, end it."""
    if not isinstance(func, cst.Attribute) or func.attr.value != "train":
        return False
    if page.symbol(func) is not None or len(call.args) not in (1, 2):
        return False
    made, data = page.value(func.value), page.value(call.args[0].value)
    symbol = page.symbol(made.func) if isinstance(made, cst.Call) else None
    trains = (symbol or "").endswith("Estimator")
    text = page.source(call.args[0].value if data is None else data)
    return (
        not {*keywords(call)} & {"steps", "max_steps"}
        and (trains or "estimator" in page.source(func.value))
        and "num_epochs=None" not in text
        and ".repeat()" not in page.text
    )


def clusters(page: Page) -> None:
    """What a program says of a cluster, or asks a RunConfig about it."""
    strategies.left(page)
    found = _SETS_CLUSTER.search(page.text)
    if found is not None:
        page.words.add("parameter_servers")
        page.notes.append((page.text.count("\n", 0, found.start()) + 1, _DATA))
    for use in page.scopes.uses:
        node: cst.BaseExpression = use.node
        while isinstance(node, cst.Attribute):
            name, owner = node.attr, node.value
            known = name.value in (*CLUSTER, *_GONE, "train_distribute")
            if known and _is_config(page, owner):
                if name.value == "train_distribute":
                    page.put(name, "strategy")
                elif name.value in CLUSTER:
                    page.words.add(name.value)
                    if _DATA not in dict(page.notes).values():
                        page.note(name, _DATA)
                else:
                    why = "asks a RunConfig about its session"
                    page.refuse(node, f"`{page.source(node)}` ({{}}) {why}")
            node = owner


def _is_config(page: Page, node: cst.BaseExpression) -> bool:
    """A RunConfig, or what is called as one."""
    if isinstance(node, cst.Attribute):
        return node.attr.value in ("config", "run_config")
    made = page.value(node)
    if isinstance(made, cst.Call):
        return (page.symbol(made.func) or "").endswith(".RunConfig")
    named = isinstance(made, cst.Name) and made.value in ("config", "run_config")
    return named and page.says("RunConfig")


def of_trainer(page: Page, word: Word) -> None:
    """A function whose first argument was an Estimator."""
    for arg in word.call.args if word.call is not None else ():
        if keyword(arg) == "estimator":
            page.rename_keyword(arg, "trainer")


def _both_by_turns(page: Page, word: Word) -> None:
    """``train_and_evaluate``, which gives the paths of exports as text."""
    of_trainer(page, word)
    holder = None if word.call is None else page.parent(word.call)
    target = holder.targets[0].target if isinstance(holder, cst.Assign) else None
    if holder is None or not isinstance(target, cst.Tuple):
        return
    for read in page.reads(holder, page.source(target.elements[-1].value)):
        path = page.parent(read)
        attribute = page.parent(path) if isinstance(path, cst.Subscript) else None
        called = page.call_of(attribute) if attribute is not None else None
        is_decode = isinstance(attribute, cst.Attribute) and (
            attribute.attr.value == "decode"
        )
        if path is not None and called is not None and is_decode:
            page.put_span(page.outer(path)[1], page.span(called)[1])


def _exporter(page: Page, word: Word) -> None:
    """The base of exporters, of which a Trainer asks nothing but ``export``."""
    word.spell(page, "object")


def string(value: str) -> Handler:
    """A word for which a string stands."""

    def handle(page: Page, word: Word) -> None:
        word.spell(page, page.string(value))

    return handle


def patterns(files: Sequence[ParsedModule]) -> Iterator[str]:
    """The patterns of names by which warm starts choose variables, as literals."""
    for parsed in files:
        for call in parsed.each(cst.Call):
            if parsed.resolver.resolve(call.func) == _SETTINGS_OF_START:
                for name, arg in zip(_SETTINGS, call.args, strict=False):
                    value = getattr(arg.value, "evaluated_value", None)
                    chooses = (keyword(arg) or name) == "vars_to_warm_start"
                    if chooses and isinstance(value, str) and value != ".*":
                        yield value


def _layers(page: Page, arg: cst.Arg) -> list[str]:
    """The attributes that a pattern means, if they are the same in all models.

    What only called one other object may have become that.
    """
    kinds = [kind for one in page.files for kind in one.each(cst.ClassDef)]
    texts = {kind: source_text(kind) for kind in kinds}
    models = [texts[kind] for kind in kinds if "tf_keras.Model)" in texts[kind]]
    layers = []
    for path in page.started.get(getattr(arg.value, "evaluated_value", None) or "", ()):
        ends = {
            next((path[at:] for at, one in enumerate(path) if _has(model, one)), ())
            for model in models
        } - {()}
        end = ends.pop() if len(ends) == 1 else ()
        if not end or not all(any(_has(k, one) for k in texts.values()) for one in end):
            return []
        layers.append(page.string(".".join(end)))
    return layers


def _has(kind: str, attribute: str) -> bool:
    """The text of a class says what an attribute is."""
    return re.search(rf"\bself\.{re.escape(attribute)} = ", kind) is not None


def _settings(page: Page, word: Word) -> None:
    """The checkpoint, with the layers that begin as in it if it is not the model."""
    args = arguments(page, word.call, _SETTINGS) if word.call is not None else None
    given = {
        name: arg
        for name, arg in (args or {}).items()
        if page.source(arg.value).strip("\"'") not in ("None", ".*")
    }
    first = given.pop("ckpt_to_initialize_from", None)
    pattern = given.pop("vars_to_warm_start", None)
    layers = [] if pattern is None else _layers(page, pattern)
    if word.call is None or first is None or given or (pattern and not layers):
        page.refuse(word.node, f"`{word.symbol}` ({{}}) {_CHOSEN}")
        return
    page.forget(word.node)
    start = (f"{page.take('WarmStart')}(", f", [{', '.join(layers)}])")
    page.put(
        word.call, *([start[0], first.value, start[1]] if layers else [first.value])
    )


_MODES = {"TRAIN": "train", "EVAL": "eval", "PREDICT": "infer", "INFER": "infer"}

WORDS: dict[str, Handler] = {
    "tf.estimator.Estimator": taken("Trainer", make_trainer),
    "tf.estimator.RunConfig": taken("RunConfig", _config(FIELDS)),
    "tf.contrib.learn.RunConfig": taken("RunConfig", _config(_OLD)),
    "tf.contrib.training.HParams": taken("HParams"),
    "tf.estimator.TrainSpec": taken("TrainSpec", _spec),
    "tf.estimator.EvalSpec": taken("EvalSpec", _spec),
    "tf.estimator.train_and_evaluate": taken("train_and_evaluate", _both_by_turns),
    "tf.estimator.Exporter": _exporter,
    _SETTINGS_OF_START: _settings,
    **{
        f"tf.{package}.ModeKeys.{mode}": string(value)
        for package in ("estimator", "contrib.learn")
        for mode, value in _MODES.items()
    },
}
