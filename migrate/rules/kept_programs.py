"""Why the layers of a model function keep its program, and what to change.

The reasons are read from the source of what gives them, so that the page cannot promise
or forget one; a test asks that each has its advice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from ..names.ast_nodes import walk as walk_ast

_TOOL = Path(__file__).resolve().parent.parent
_FOLDERS = ("model", "rewrite/layers")
# What says where a value comes from returns its reasons.
_ORIGINS = "unseen"
_CALLS = ("unknown", "stop", "stop_in", "_stop_at")
_NAMES = ("why", "reason")
# What only adds the place to another reason.
_PLACED = "... (...:...)"

_OUT = "write the arguments of the call out"
_SPLIT = "write it as a statement of its own, outside of that one"
ADVICE = {
    "`...=...` of a layer of Keras": "leave the argument out",
    "`...` within another layer": _SPLIT,
    "`...` cannot be lifted yet": "use a function or class of tf.layers or tf.keras",
    "`...` changes between layers": "give the second value a name of its own",
    "`...` does not name its functions": (
        "give the scope a list of functions and arguments"
    ),
    "`...` is kept from round to round": "give it a value before the loop",
    "`...` is made in one branch only": "give it a value in every branch",
    "`...` makes variables to correct its start": (
        "give `zero_debias=False`, if the average may be biased at its start"
    ),
    "`...` makes variables where it is called": (
        "call tf.layers or tf.keras.layers by their names in a function of the program"
    ),
    "`...` may make variables": "call tf.layers, tf.keras or slim in its place",
    "`...` of a layer in a branch on a tensor": "read it before the branch",
    "`...` with `**` arguments": _OUT,
    "a call that does not fit: ...": "the call would fail: mend it",
    "a file without TensorFlow": "import tensorflow in the file that makes layers",
    "a function with layers that calls itself": "write the recursion as a loop",
    "a layer and a call that makes others: say them in two lines": _SPLIT,
    "a layer depends on `...`": (
        "give the layer a size of `params` or a number, not one of a tensor"
    ),
    "a layer depends on `...`, which changes": "set the attribute in `__init__`",
    "a layer depends on a variable": "give the layer plain values",
    "a layer draws from a state that others draw from": (
        "compute the argument before the layer, and give the layer its name"
    ),
    "a layer without a name that is reused": "give the layer a name",
    "a layer without input": "give the layer its input",
    "a linear model with arguments that are not written out": _OUT,
    "a partial whose arguments are not written out": _OUT,
    "a template of what is not a function of the project": (
        "give tf.make_template a function of the project"
    ),
    "a value behind the layers": "compute it before the first layer",
    "a variable with arguments that are not written out": _OUT,
    "a variable scope with `...`": "leave the argument out",
    "a variable_scope with `...=`": "leave the argument out",
    "an initialiser draws from a state": (
        "give each initialiser a seed or a generator of its own"
    ),
    "an object of `...`": "make its layers by functions of tf.layers",
    "an object with variables in a loop over tensors": "make it before the loop",
    "arguments that are not written out": _OUT,
    "batch normalization with `...`": "leave the argument out",
    "batch normalization with an adjustment": "leave the argument out",
    "it calls too many functions with layers": "make fewer, larger functions",
    "it calls too much code": (
        "call the functions of the model by their names, not by a table of all of them"
    ),
    "layer with ...": _OUT,
    "layers in ..., which stays as it is": "give that file to the same run",
    "layers in a comprehension that is not plain": "write a loop, or two of them",
    "layers in a function inside of this one": "write a loop, or define a function",
    "layers in a function that `...` calls": "make them before the call",
    "layers in a lambda": "define a function",
    "layers in a loop with `else`": "write what follows behind the loop",
    "layers in a statement that cannot be lifted": "use `if`, `for` and `with` only",
    "layers in a statement that returns": "give it a name first, and return that",
    "layers in another model function": (
        "move them into a function that both model functions call"
    ),
    "layers made by `map`": "write a loop",
    "layers of one mode in nested loops": "ask for the mode outside of the loops",
    "it comes of `...`": (
        "call the function by its name, or one of several in the branches of an `if`"
    ),
    "it is an entry of `...`, and not seen what that holds": (
        "write the dict out where it is defined, each value a function by its name"
    ),
    "it is not seen what `...` is": "import or define it by its name, once",
    "no `__call__` of the class `...` is among the files": (
        "give the file of the class that has it to the same run"
    ),
    "no call that is seen says what `...` is given as `...`": (
        "give the files that call it to the same run, and let them give a function or "
        "an object by its name"
    ),
    "the decorators of `...` are not understood": "call it without the decorator",
    "the package `...` is not among the files": (
        "nothing, if it may stay as it is; to lift its layers too, give the package's "
        "files to the same run, or call tf.layers or tf.keras in its place"
    ),
    "a module of tensorflow_hub that may train": (
        "TensorFlow 2 does not train modules of this format: leave `trainable` out"
    ),
    "a module of tensorflow_hub by `...`": (
        "write hub.KerasLayer by hand, which takes the signature where it is made"
    ),
    "`...` is not defined once, by name, in ...": (
        "define it in that file by one `def` or `class`"
    ),
    "nothing of the layers is used behind them": "give what they make a name",
    "one of several functions makes layers": "call each in a branch of its own",
    "regularisation losses are read between layers": "read them behind the last layer",
    "several statements on one line": "write one statement in each line",
}


# What follows in these is a reason of its own.
_WITH_ANOTHER = (
    "`...` may make variables: ...",
    "no layers are seen, for `...` is not followed: ...",
)


# The same where a Task or the words around it stop, by what the reason says.
OF_TASKS = {
    "gets numbers, which Keras takes for a tensor": (
        "make the variable where it is used, or return it at once"
    ),
    "whose averages nothing updates": (
        "run the `updates` of the model with the train op, or call it without `training`"
    ),
    "has no twin in Keras": "name an initializer of tf.keras.initializers in the call",
    "about names that Keras does not give": (
        "choose variables by their layers, or ask for `kernel`, `bias`, `gamma`, `beta`"
    ),
    "is read for more than": "read the setting once, for the wrapper of the cell",
    "makes a cluster without a strategy": (
        "give the RunConfig a ParameterServerStrategy; train_and_evaluate starts servers"
    ),
    "makes variables outside of the model": (
        "make it in the function that makes the layers, and return what it gives"
    ),
    "is not made in its call": "make it in the call",
    "returns no specification": "return an EstimatorSpec in the model_fn itself",
    "no variable is found among": (
        "choose them by a variable_scope that the model_fn makes them in"
    ),
    "whose examples may have several labels": (
        "give it one label for each example, as in `tf.expand_dims(labels, 1)`"
    ),
    "works with its session": (
        "ask for what it needs in `before_run`, and read that in `after_run`"
    ),
    "not a known one that is made in its call": (
        "make one head in the call, or write the losses of several in a model_fn"
    ),
    "how the head trains": "return what one optimizer's `minimize` gives",
    "cannot be proved to be the same": (
        "write these layers in the model_fn itself, or in a plain function of "
        "the file that it calls by its name"
    ),
    "trains its averages and not its weights": (
        "give it `training=False` as well, or let all of it train"
    ),
    "has no counterpart in TensorFlow 2": (
        "write out what it computes, or take it from a package of today"
    ),
    "is an Estimator without a native form": (
        "train it in a script of its own, or write it as a model_fn"
    ),
    "has no native form": "leave it out, or write by hand what it does",
    "runs a graph of TensorFlow 1": (
        "nothing, if it may run on tfmigrate.compat; else put its graph into a model_fn"
    ),
    "which Python 3 does not have": (
        "write it as Python 3 does; tfmigrate.compat has no names of Python 2 either"
    ),
    "its trainer, `": (
        "nothing, if it may stay as it is; or give the package's files to the same run"
    ),
    "for nothing (": "leave the call out",
    "makes its layers whenever it is called": (
        "call it once in the model_fn, by its name and with its arguments written out"
    ),
    "is made of another one in": "read `features` of the other receiver once",
    "what a hook's error says": (
        "look at the loss in a hook, and stop by `request_stop`"
    ),
    "no layers are seen in the model_fn": (
        "call tf.layers, tf.keras or tf.get_variable in the model_fn"
    ),
    "have no inputs": "call them on features",
    "times, not once, in a mode": "call the layers on the features as they come",
    "metrics are added to a task": "leave add_metrics out, or the cluster's strategy",
    "import each other from several directories": (
        "give one directory to a run, or make a package of them"
    ),
    "which belongs to it, cannot be read": "mend the line, or leave it to --exclude",
    "which only the call knows": "make it in the function that calls it",
    "may share variables": (
        "give each its own variable_scope by a name that is written out"
    ),
    "share the variables of": "make the layer before the loop, and call it there",
    "is made with": "leave the argument out",
    "EstimatorSpec(": (
        "log values by a LoggingTensorHook; make other hooks a class of the program"
    ),
    "updates its variables twice": (
        "let one optimizer minimize the sum of the losses: a Task has but one"
    ),
    "which variables begin as in a checkpoint": (
        "write the map out in the model_fn, or define its function in the same file"
    ),
    "mode gives the model something else": (
        "choose the value in one line, as in `keep = 0.5 if mode == TRAIN else 1.0`"
    ),
    "mode makes another model": "give what depends on the mode to its call",
    "an arg_scope is around": "enter the scope in the function that makes the layers",
    "has no place in a Task": "take it out of the model_fn, or do it in a hook",
    "on embeddings: Keras moves rows": "train by tf.train.AdamOptimizer, or without rows",
    "that it decides late": "ask for the mode first, and return once in its branch",
    "looks at the labels": "give the model features alone, and labels to the loss",
    "minimizes something else than the loss": (
        "give `minimize` and EstimatorSpec(loss=) the same tensor"
    ),
    "is not a plain dict": "write the dict out in the model_fn",
    "a hook looks at what is made of gradients": "show it by tf.summary.scalar",
    "a hook looks at": "give the hook the tensor, or name it by tf.identity",
    "its head is made elsewhere": "make the head in the model_fn",
    "begins as": "give each layer a name of its own, and make it in one place",
    "under no one name": "give each layer a name of its own, and make it in one place",
    "is said in several ways": "call init_from_checkpoint once in the model_fn",
    "not seen how the train_op trains": "call `minimize` in the model_fn itself",
    "gives its weights": "say it at each layer and variable within",
    "is a model, and what it gives": "give its output a name of its own",
    "makes several models": "make one class or function that calls all of them",
    "gradients of some variables only": (
        "ask for those of tf.trainable_variables(), or give them to `minimize`"
    ),
    "is asked of an Estimator": (
        "read a variable by tf.train.load_variable(model_dir, name) in a script of its own"
    ),
    "which copies lack": "give functions by name, or custom_objects to the Estimator",
    "asks for more than training": "compare the mode with ModeKeys.TRAIN alone",
    # Of any kind, where nothing above says more.
    "in plain sight": "call it by its name, with its arguments written out",
    "are hidden": _OUT,
    "with `*` arguments": _OUT,
    "in Keras": "name one of tf.keras that does what you need",
    "with the argument `": "leave the argument out",
    "` with `": "leave the argument out",
    "` without `": "give the argument",
}
_SAID = re.compile(
    r": ((?:use|pass|give|call|name|write|make|move|return|load|take|compute) .+?)"
    r"(?: \([^()]*\))?$"
)


def advice_for(reason: str) -> str | None:
    """What to change, for a reason that the evaluation, lifting or a Task gave."""
    for known, advice in ADVICE.items():
        pattern = re.escape(known).replace(re.escape("..."), ".+")
        if re.search(rf"(^|: ){pattern}( \(|$)", reason):
            return advice
    said = _SAID.search(reason)
    if said is not None:
        return said[1]
    return next((one for key, one in OF_TASKS.items() if key in reason), None)


def kept_reasons() -> list[str]:
    """Every reason; what varies in it is ``...``."""
    found: set[str] = set()
    for folder in _FOLDERS:
        for path in sorted((_TOOL / folder).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            found |= set(_told(tree))
            if path.stem == _ORIGINS:
                returned = (n for n in walk_ast(tree, ast.Return))
                found |= {text for one in returned for text in _texts(one.value)}
    return sorted(found - {_PLACED, *_WITH_ANOTHER}, key=str.lower)


def _told(tree: ast.Module) -> Iterator[str]:
    for node in walk_ast(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _CALLS:
                for one in node.args:
                    yield from _texts(one)
        elif isinstance(node, ast.Assign):
            names = [one.id for one in node.targets if isinstance(one, ast.Name)]
            if any(name in _NAMES for name in names):
                yield from _texts(node.value)


def _texts(node: ast.expr | None) -> Iterator[str]:
    """The text of an argument, or of each of its alternatives."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (p.value if isinstance(p, ast.Constant) else "..." for p in node.values)
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)


def kept_section() -> list[str]:
    """The lines of the page."""
    lines = [
        "## What keeps the layers of a model function",
        "",
        "What the report may say, `...` standing for what is the program's own, and the "
        "change after which its layers become a Keras model:",
        "",
    ]
    advice = {reason: ADVICE.get(reason, "") for reason in kept_reasons()}
    asked = dict.fromkeys(_WITH_ANOTHER, "what the reason behind the colon asks for")
    for reason, change in {**asked, **advice}.items():
        lines += [f"- {reason}", f"  change: {change}"]
    return [*lines, ""]
