"""A whole program becomes native, or is refused with a reason."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from ...code.blocked import Blocked
from ...code.edits import changed, importing
from ...code.spacing import in_tabs, without_new_gaps
from ...code.texts import source_text, written_out
from ...code.tree import Tree, only_small, statements_of, walk
from ...names.ast_nodes import members, tree_of
from ...names.ast_nodes import walk as walk_ast
from ...names.dotted import dotted_name
from ...options import RewriteOptions
from ...project.facts import ParsedModule, ProjectFacts
from ...project.reached import reached
from ...project.selection import is_test
from ...rules.engine import run_rules
from ...rules.written_for import written_for_tf2
from ...training import defined_for, members_of_task
from ..asked import called_in, taken_from, words_of
from ..estimator_words import estimator_places
from ..layers.model_functions import is_model_fn
from ..layers.normalizers import with_normalizers_called
from ..layers.one_line import one_in_each
from ..layers.spelling import RESERVED
from ..layers.together import lifted_together
from .as_written import lines_as_written
from .branched_updates import with_one_update
from .brought import with_helpers_brought
from .by_name import Started
from .callables import with_methods_as_model_fns
from .choices import with_choices_as_tests
from .chosen_functions import with_choices_called
from .chosen_strategy import with_strategy
from .chosen_values import with_values_chosen_inside
from .classes import plain_classes, training_words
from .code import Refused, dotted
from .config import CLUSTER, patterns
from .dropout_cells import with_constant_shares
from .early_weights import with_weights_before_modes
from .flags import with_one_flag, with_training_flag
from .forwarded import with_keywords_said
from .fused_cells import with_fused_cells_run
from .handed_functions import with_functions_as_flags
from .handed_weights import with_weights_handed
from .headed import with_parts_inside
from .held_choices import with_names_held
from .idle import without_idle_words
from .imports import Wanted, unread_imports, with_imports
from .inlined import with_helpers_inlined, without_unread
from .learn_functions import with_usual_model_fns
from .local_functions import with_local_functions_apart
from .made_networks import with_makers_as_classes, with_networks_made_inside
from .makers import with_variables_inlined
from .merged_bases import with_bases_merged
from .metric_pairs import with_metrics_in_one
from .named_models import with_models_named
from .names import task_name
from .network_methods import with_networks_called
from .networks import with_networks_as_models
from .objects import with_objects_dissolved
from .one_call import with_clipping_in_one_call, with_train_ops_in_one_call
from .one_return import with_one_return
from .optimizer_classes import with_optimizers_of_rates
from .own_objects import with_own_objects_dissolved
from .page import Page
from .paired_norms import with_norms_in_one_call
from .plain_names import with_plain_names, words_written
from .returned_scopes import with_scopes_made_there
from .rounds import with_metrics_in_loops
from .said import IMAGES
from .sequential import with_several
from .shared_tables import check_tables
from .static_methods import with_static_methods_apart
from .still_averages import WITH_AVERAGES, with_still_averages
from .tables import exports, with_tables_tracked
from .task import SOME_UPDATED, Task, alias_of, task_of
from .text import attribute_of_self, with_lines_fitted
from .totals import with_losses_added
from .tpu import without_tpu_branches
from .variable_names import with_names_of_keras
from .whole_models import with_whole_models
from .words import Reworded, advice, has_word, reworded, watched

_OF_LEARN = "tf.contrib.learn."
_OF_KERAS = ("tf_keras.Model", "tf_keras.layers.Layer")
_OF_MODEL_FN = ("tf.estimator.Estimator", f"{_OF_LEARN}Estimator")
_LAYERS = ("tf.layers", "tf.contrib.layers", "tf.contrib.slim")
_MAKES = re.compile(r"tf_keras\.(layers\.\w|Sequential\b|Model\b|Input\b)")
# What has no form where several processes train, and why.
_NOT_TOGETHER = {
    "eval_distribute": "its evaluations count steps of several replicas",
    "KerasTask": "makes its Keras model before it has joined it",
    "add_metrics": "metrics are added to a task that is made after it has joined",
    "forward_features": "its task is changed before it has joined it",
    "Callback.evaluate": "a hook evaluates while others train",
    "make_early_stopping_hook": "a hook evaluates while others train",
    "Experiment(exporters)": "its Experiment exports",
    "read_layers": "its layers begin as in another checkpoint",
    "arrays_input_fn": "NumPy shuffles its arrays",
}
# Functions that code of the tables takes from training.py.
_FUNCTIONS = ("gpus", "optimizer_named", "read_layers", "tracked", "weighted_mean")


@dataclass(frozen=True)
class NativeFile:
    """A file of a native program, what it asks of training.py, and what differs."""

    parsed: ParsedModule
    words: frozenset[str]
    notes: tuple[tuple[int, str], ...]


def native(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
    options: RewriteOptions,
    *,
    module: str,
    package: Callable[[ParsedModule], str],
) -> dict[str, NativeFile]:
    """The files of a program as plain TensorFlow 2, by path; raises Refused."""
    _check_generation(files)
    asked = files
    if options.strategy != "keep":
        asked = with_strategy(files, facts, options.strategy)
    program = _Program(asked, facts)
    program.make_tasks()
    _check_homes([one.parsed for one in program.files])
    found: dict[str, NativeFile] = {}
    called: set[str] = set()
    exported = any(exports(one.parsed.source.text) for one in program.files)
    for before, one in zip(files, program.files, strict=True):
        worded = reworded(
            one.parsed,
            module=module,
            package=package(before),
            for_tf2=one.for_tf2,
            beside=[other.parsed for other in program.files],
            written=before,
            started={name: one.layers for name, one in program.started.items()},
        )
        if exported:
            held = with_tables_tracked(worded.text)
            if held != worded.text:
                one.words |= {"tracked"}
                worded = replace(worded, text=held)
        path = f"{package(before)}{module}"
        if package(before).strip("."):
            path = f"{package(before)}.{module}"
        text, near = one.final(worded, path, facts)
        if before.path.suffix != ".ipynb":
            old = before.source.text
            text = without_new_gaps(in_tabs(text, old), old)
        tree, tasks = tree_of(text), set(one.tasks)
        words = one.words | worded.words | words_of(text, tree, module)
        called |= called_in(text, tree, tasks)
        _check_written(tree, tasks)
        if text == before.source.text:
            called |= worded.words
            continue
        found_text = changed(near, facts, text)
        notes = (*one.notes, *worded.notes)
        found[os.path.abspath(before.path)] = NativeFile(found_text, words, notes)
    found = _without_lost_names(found, files, facts)
    paths = [(os.path.abspath(one.path), one.source.text) for one in files]
    _check_making(
        [found[at].parsed.source.text if at in found else text for at, text in paths]
    )
    cluster = _cluster({word for one in found.values() for word in one.words}, files)
    for path, made in found.items():
        words = made.words | cluster
        found[path] = replace(made, words=words | called if words else words)
    _check_parts(found.values(), module)
    return found


def _without_lost_names(
    found: dict[str, NativeFile], files: Sequence[ParsedModule], facts: ProjectFacts
) -> dict[str, NativeFile]:
    """The files without imports of functions that are classes now, and not read."""
    lost: dict[str, set[str]] = {}
    for before in files:
        after = found.get(os.path.abspath(before.path))
        if after is not None:
            old, new = (
                {*one.resolver.scopes.module_scope.bindings}
                for one in (before, after.parsed)
            )
            lost[before.path.stem] = old - new
    for path, made in found.items():
        edits: dict[cst.CSTNode, object] = {}
        for node in made.parsed.each(cst.ImportFrom):
            names = node.names
            if isinstance(names, cst.ImportStar):
                continue
            module = (
                node.module.attr
                if isinstance(node.module, cst.Attribute)
                else node.module
            )
            gone = lost.get(getattr(module, "value", ""), set())
            kept = [one for one in names if one.evaluated_name not in gone]
            if 0 < len(kept) < len(names):
                edits[node] = importing(node, kept)
        if edits:
            found[path] = replace(made, parsed=changed(made.parsed, facts, edits))
    return found


def _placed(
    reason: str, parsed: ParsedModule, written: ParsedModule, named: bool
) -> str:
    """A reason with the line of the author's text that it means, where that is found.

    With ``named`` it says in which file. What is refused is a name, or a line of a text
    with layers in classes of their own.
    """
    lines = [text.strip() for text in written.source.text.splitlines()]
    found = [one for one, text in enumerate(lines, 1) if _names(reason, text)][:1]
    told = re.search(r" \(line (\d+)\)$", reason)
    if told is not None:
        reason = reason[: told.start()]
        found = lines_as_written(int(told[1]), parsed, written)
    if len(found) != 1:
        return reason
    cell, number = written.source.locate(found[0])
    where = f"cell {cell}, line {number}" if cell is not None else f"line {number}"
    where = f"{written.path.name}, {where}" if named else where
    return f"{reason} ({where})"


def _names(reason: str, text: str) -> bool:
    """A line defines what a reason names."""
    names = "|".join(re.findall(r"`(\w+)`", reason)) or "$^"
    return re.match(rf"(def|class) ({names})\b|({names}) = ", text) is not None


def _cluster(words: set[str], files: Sequence[ParsedModule]) -> set[str]:
    """What asks for the parts of training.py that train where TF_CONFIG says."""
    asked = sorted(words & {*CLUSTER})
    texts = [one.source.text for one in files]
    kinds = words & {"workers", "parameter_servers"}
    if asked and "workers" in kinds:
        why = "says nothing of a cluster where the RunConfig has a strategy"
        raise Refused(f"`{asked[0]}` of a RunConfig {why}")
    if asked:
        kinds.add("parameter_servers")
    if "eval_distribute" in words and words & {"evaluate(hooks)", "EvalSpec(hooks)"}:
        raise Refused(
            "hooks look on at evaluations that count steps of several replicas"
        )
    if words >= {"strategy", "train_step"}:
        raise Refused("with several replicas it minimizes something else than the loss")
    if not kinds:
        return {"TF_CONFIG"} if any("TF_CONFIG" in text for text in texts) else set()
    for word, why in _NOT_TOGETHER.items():
        if word in words:
            raise Refused(f"it is part of a cluster, and {why}")
    if "parameter_servers" in kinds:
        _check_data(files)
        if "mixed_precision" in words:
            raise Refused("losses are not scaled with parameter servers")
    return kinds


def _check_data(files: Sequence[ParsedModule]) -> None:
    """Refuses data that each task divides: the chief's code makes that of all."""
    for one in files:
        for call in re.findall(r"\.shard\(([^()]*)", one.source.text):
            if not re.search("context|input_pipeline", call):
                why = "divides its data by its task: take it from an `input_context`"
                raise Refused(f"{one.path.name} {why}")


def _in_one_line(parsed: ParsedModule) -> list[cst.FunctionDef]:
    """Functions whose line also says all that they do, and what a model is given."""
    return [
        one
        for one in parsed.each(cst.FunctionDef)
        if isinstance(one.body, cst.SimpleStatementSuite)
        and {"features", "mode"} <= {param.name.value for param in one.params.params}
    ]


def _check_generation(files: Sequence[ParsedModule]) -> None:
    """Refuses Estimators of tf.contrib.learn before what stands around them."""
    for one in files:
        made = [
            (call, symbol)
            for call in estimator_places(one.resolver).made
            if (symbol := one.resolver.resolve(call.func) or "").startswith(_OF_LEARN)
            and not has_word(symbol)
        ]
        if not made:
            continue
        page = Page(one, training="training", for_tf2=False, beside=files)
        for call, symbol in made:
            page.refuse(call, f"`{symbol}` ({{}}) {advice(symbol)}")
        if page.refusals:
            raise Refused(min(page.refusals)[1])


def _check_models(text: str) -> None:
    """Refuses models that keep tensors in the object whose method they were.

    And those without inputs, which Keras cannot call.
    """
    if "self.owner." not in text and "call(self):" not in text:
        return
    for made in walk_ast(tree_of(text), ast.ClassDef):
        code = ast.unparse(made)
        if re.search(r"\n    def call\(self\):", code) and any(
            ast.unparse(base) in _OF_KERAS for base in made.bases
        ):
            raise Refused(f"the layers of `{made.name}` have no inputs")
        stored = re.findall(r"self\.owner\.(\w+) = ", code)
        read = {*re.findall(r"self\.owner\.(\w+)", code)}
        own = read & {*re.findall(r"self\.(\w+) = self\.add_weight", code)}
        for name in (*stored, *own):
            raise Refused(
                f"`self.{name}` is kept in the object, and read by its methods"
            )


def _says(texts: Sequence[str], name: str) -> bool:
    """Files name something of a module that they import, or import it."""
    own = r"(?m)((?<!keras)(?<!contrib)(?<!\btf)\.|"
    own += r"^ *from (?!tensorflow)\S+ import (\([^)]*|.*)\b)"
    return any(
        re.search(rf"{own}{name}\b", one)
        or ("import *" in one and re.search(rf"\b{name}\b", one))
        for one in texts
    )


def _scope_maker(parsed: ParsedModule, line: cst.CSTNode) -> str:
    """The name that a statement gives to layers of tf.contrib, or a maker of scopes."""
    small = only_small(line)
    if isinstance(line, cst.FunctionDef):
        scopes = "arg_scope(" in parsed.module.code_for_node(line)
        return line.name.value if scopes else ""
    if not isinstance(small, cst.Assign) or len(small.targets) > 1:
        return ""
    symbol = parsed.resolver.resolve(small.value) or ""
    named = dotted_name(small.targets[0].target)
    return named or "" if symbol.startswith(_LAYERS) else ""


def _check_homes(files: Sequence[ParsedModule]) -> None:
    """Refuses model functions that are imported from outside of the program."""
    paths = [one.path for one in files]
    homes = {name for path in paths for name in (path.stem, path.parent.name)}
    for one in files:
        for func, call in one.resolver.scopes.calls.items():
            if one.resolver.resolve(func) not in _OF_MODEL_FN:
                continue
            named = [
                a for a in call.args if a.keyword and a.keyword.value == "model_fn"
            ]
            for arg in named or call.args[:1]:
                made = arg.value
                if not isinstance(made, (cst.Name, cst.Attribute)):
                    continue
                told = one.resolver.qualified(made)
                if told and homes.isdisjoint(told.split(".")[:-1]) and "." in told:
                    raise Refused(f"`{told}` is not among the files")


def _check_written(tree: ast.Module, tasks: set[str]) -> None:
    """Refuses Tasks that are made of what they are not given."""
    for node in walk_ast(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Trainer":
            made = node.args[0] if node.args else None
            if isinstance(made, ast.Lambda) and len(made.args.args) > 1:
                raise Refused("a lambda around the model function takes its arguments")
        if isinstance(node, ast.ClassDef):
            missing = _missing_attributes(node, tree, node.name in tasks)
            if missing:
                named = ", ".join(f"`{one}`" for one in missing)
                raise Refused(f"`{node.name}` reads {named} of an object around it")
            for call in _given_sizes(node, tree):
                reason = "gets numbers, which Keras takes for a tensor"
                raise Refused(f"`{ast.unparse(call)}` {reason}")


def _check_making(texts: Sequence[str]) -> None:
    """Refuses Tasks whose methods make layers, whenever they are called."""
    trees = [*map(tree_of, texts)]
    calls: dict[str, set[str]] = {}
    tasks: list[tuple[str, set[str]]] = []
    for node in (one for tree in trees for one in tree.body):
        if isinstance(node, ast.ClassDef):
            methods = [*_methods(node)]
            made = [one for one in methods if one.name == "__init__"]
            calls.setdefault(node.name, set()).update(*map(_called, made))
            if any(dotted(base).endswith("Task") for base in node.bases):
                late = [one for one in methods if one.name not in ("__init__", "build")]
                tasks += [(one.name, _called(one)) for one in late]
        elif isinstance(node, ast.FunctionDef):
            calls.setdefault(node.name, set()).update(_called(node))
    for name, called in tasks:
        for one in called:
            for far in reached([one], lambda name: calls.get(name, ())):
                if _MAKES.match(far):
                    raise Refused(f"`{one}` makes layers whenever `{name}` calls it")


def _methods(kind: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    yield from (one for one in kind.body if isinstance(one, ast.FunctionDef))


def _called(function: ast.FunctionDef) -> set[str]:
    """What a function calls: layers by their whole names, what is the program's by the
    last part of its name."""
    found = {dotted(one.func) for one in walk_ast(function, ast.Call)}
    return {
        one if _MAKES.match(one) else one.rpartition(".")[2]
        for one in found
        if not one.startswith("self.")
    }


def _given_sizes(kind: ast.ClassDef, tree: ast.Module) -> list[ast.Call]:
    """Calls of layers of the program whose first argument is a list of numbers."""
    own = {one.name for one in walk_ast(tree, ast.ClassDef)}
    layers = {
        attribute_of_self(one.targets[0])
        for one in walk_ast(kind, ast.Assign)
        if isinstance(one.value, ast.Call) and dotted(one.value.func) in own
    }
    return [
        call
        for call in walk_ast(kind, ast.Call)
        if call.args and attribute_of_self(call.func) in layers - {None}
        if isinstance(call.args[0], (ast.List, ast.Tuple))
        if any(
            isinstance(o, ast.Constant) or attribute_of_self(o)
            for o in call.args[0].elts
        )
    ]


def _missing_attributes(
    kind: ast.ClassDef, tree: ast.Module, is_task: bool
) -> list[str]:
    """What a Task or a model reads of itself that nothing gives it."""
    bases = [ast.unparse(one) for one in kind.bases]
    if not is_task and bases not in [[one] for one in _OF_KERAS]:
        return []
    known = members(kind) | (members_of_task() if is_task else RESERVED)
    read = dict.fromkeys(map(attribute_of_self, walk_ast(kind, ast.Attribute)))
    missing = [one for one in read if one and one not in known]
    missing = [one for one in missing if not one.startswith("__")]
    if is_task and bases != ["Task"]:
        own = "params" in read and "params" not in members(kind)
        missing = ["params"] if own else []
    if not missing:
        return []
    # Classes that extend it may give it something; to a model, others as well.
    for one in walk_ast(tree, ast.ClassDef):
        if kind.name in [ast.unparse(base) for base in one.bases]:
            known |= members(one)
    if not is_task:
        every = walk_ast(tree, ast.Attribute)
        known |= {one.attr for one in every if isinstance(one.ctx, ast.Store)}
    return [one for one in missing if one not in known]


def _follows(text: str) -> bool:
    """A file of models has batch normalization that is ever called to train."""
    if WITH_AVERAGES.search(text):
        return True
    made = re.findall(r"(?:self\.(\w+) = )?[\w.]*\b(?:Batch|Sample)Norm\w+\(", text)
    still = r"self\.%s\(.*\btraining=False\)"
    return any(not one or not re.search(still % one, text) for one in made)


def _kinds_of_normalization(parsed: ParsedModule) -> set[str]:
    """``tf.layers`` and ``tf.keras``, where a file names their batch normalization."""
    found = {"tf.keras"} if WITH_AVERAGES.search(parsed.source.text) else set()
    compiled = {
        node  # a compiled model runs its updates itself
        for one in parsed.each(cst.FunctionDef)
        if not is_model_fn(one)
        if any(each.attr.value == "compile" for each in walk(one, cst.Attribute))
        for node in walk(one)
    }
    for node in parsed.each(cst.Name, cst.Attribute):
        last = node.attr if isinstance(node, cst.Attribute) else node
        if node in compiled:
            continue
        if isinstance(last, cst.Name) and "atch" in last.value:
            symbol = parsed.resolver.resolve(node) or ""
            if symbol == "tf.keras.layers.BatchNormalization":
                found.add("tf.keras")
            elif re.search("batch_?norm", symbol, re.I):
                found.add("tf.layers")
    return found


def _in_place(text: str) -> bool:
    """All batch normalization updates its averages where it stands, or does not."""
    said = re.sub(r"normalizer_fn\s*=\s*None\b", "", text)
    made = re.findall(r"\bbatch_norm\(|normalizer_fn|_normalization\(|Norm\w+\(", said)
    in_place = re.findall(r"updates_collections\W+None\b", text)
    never = [
        one
        for one in walk_ast(tree_of(text), ast.Call)
        if ast.unparse(one.func).endswith("layers.batch_normalization")
        and {k.arg for k in one.keywords}.isdisjoint({"training", None})
        and len(one.args) < 2
    ]
    return 0 < len(made) <= len(in_place) + len(never)


def _check_parts(files: Iterable[NativeFile], module: str) -> None:
    """Refuses a program that asks training.py for what it does not have."""
    files = list(files)
    words = {word for one in files for word in one.words}
    there = defined_for(words)
    for one in files:
        tree = tree_of(one.parsed.source.text)
        missing = sorted(taken_from(tree, module) - there)
        if missing:
            raise Refused(f"`{missing[0]}` has no native form yet")


def _read_before(parsed: ParsedModule) -> set[str]:
    """Names that the file read as its author wrote it, or did not import then."""
    source = parsed.source
    if source.notebook is not None:
        return set()
    nodes = walk_ast(tree_of(source.raw.decode(source.encoding, "replace")))
    read = {one.id for one in nodes if isinstance(one, ast.Name)}
    named = [one.asname or one.name for one in nodes if isinstance(one, ast.alias)]
    known = {one.partition(".")[0] for one in named}
    return read | {*parsed.resolver.scopes.module_scope.bindings} - known


@dataclass
class _File:
    """One file on its way."""

    parsed: ParsedModule
    # As its author wrote it.
    written: ParsedModule
    for_tf2: bool
    words: frozenset[str] = frozenset()
    notes: tuple[tuple[int, str], ...] = ()
    # Names of the Tasks in it.
    tasks: tuple[str, ...] = ()
    # There are others in the program, so places say which one they mean.
    named: bool = False

    def placed(self, reason: str) -> str:
        """A reason with the place that it means."""
        return _placed(reason, self.parsed, self.written, self.named)

    def final(
        self, worded: Reworded, training: str, facts: ProjectFacts
    ) -> tuple[str, ParsedModule]:
        """The text with today's names and its imports, and the file with most of it."""
        text = worded.text
        parsed = changed(self.parsed, facts, text)
        lines = {
            line
            for one in walk_ast(tree_of(text), ast.ClassDef)
            if one.name in self.tasks
            for line in range(one.lineno, (one.end_lineno or 0) + 1)
        }
        result = run_rules(
            text,
            parsed.module,
            parsed.resolver,
            silenced=lambda line, rule: line in lines,
            notes=False,
            for_tf2=self.for_tf2,
        )
        told = [
            (parsed.source.lines.place(one.offset)[0], one.diagnosis.symbol)
            for one in result.findings
            if one.diagnosis.note is not None and one.diagnosis.symbol
        ]
        unread = unread_imports(text, worded.handed_on) if told else set()
        for line, symbol in told:
            if line not in unread:
                raise Refused(f"`{symbol}` (line {line}) has no home in TensorFlow 2")
        text = result.text.replace("__tf2__.", f"{alias_of(parsed)}.")
        read = {n.id for n in walk_ast(tree_of(text), ast.Name)}
        names = sorted(
            one for one in self.words & read if one[:1].isupper() or one in _FUNCTIONS
        )
        others = {("tf_keras", ""): "tf_keras"} if "tf_keras" in read else {}
        width = max([79, *map(len, self.parsed.source.text.splitlines())])
        before = _read_before(self.parsed)
        taken = worded.handed_on
        wanted = Wanted(
            training, names, "", others, before, taken, width=min(width, 88)
        )
        return with_imports(text, wanted), parsed


class _Program:
    """The files of a program, whose model functions become Tasks."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.facts = facts
        written = files
        alone = [without_tpu_branches(one, facts) for one in files]
        files = with_bases_merged([one for one, _ in alone], facts)
        files = with_methods_as_model_fns(files, facts)
        files = with_usual_model_fns(files, facts)
        files = [with_scopes_made_there(one, facts) for one in files]
        files = [with_norms_in_one_call(one, facts) for one in files]
        files = [with_networks_made_inside(one, facts) for one in files]
        files = with_makers_as_classes(files, facts)
        files = [with_fused_cells_run(one, facts) for one in files]
        files = [with_parts_inside(one, facts) for one in files]
        files = [with_one_return(one, facts) for one in files]
        files = with_networks_called(files, facts)
        files = [one_in_each(one, facts, _in_one_line(one)) for one in files]
        files = [with_clipping_in_one_call(one, facts) for one in files]
        files = [with_train_ops_in_one_call(one, facts) for one in files]
        files = [with_metrics_in_one(one, facts) for one in files]
        files = [with_keywords_said(one, facts) for one in files]
        files = [with_names_held(one, facts) for one in files]
        files = [with_functions_as_flags(one, facts) for one in files]
        files = [with_optimizers_of_rates(one, facts, files) for one in files]
        files = with_choices_as_tests(files, facts)
        files = with_values_chosen_inside(files, facts)
        files = [with_models_named(one, facts) for one in files]
        files = with_helpers_brought(files, facts)
        files = [with_choices_called(one, facts) for one in files]
        files = [with_own_objects_dissolved(one, facts) for one in files]
        files = [with_objects_dissolved(one, facts) for one in files]
        files = [with_static_methods_apart(one, facts, files) for one in files]
        files = [with_variables_inlined(one, facts) for one in files]
        files = [without_idle_words(one, facts) for one in files]
        try:
            files = [with_normalizers_called(one, facts) for one in files]
        except Blocked as stop:
            raise Refused(stop.reason) from None
        files = [with_functions_as_flags(one, facts) for one in files]
        files = [with_local_functions_apart(one, facts) for one in files]
        told = [with_constant_shares(one, facts) for one in files]
        files = [one for one, _ in told]
        files = [with_one_flag(one, facts) for one in files]
        files = [with_metrics_in_loops(one, facts) for one in files]
        files = [with_helpers_inlined(one, facts) for one in files]
        files = [with_one_update(one, facts) for one in files]
        files = with_weights_handed(files, facts)
        files = [with_weights_before_modes(one, facts) for one in files]
        files = [with_losses_added(one, facts, files) for one in files]
        # Columns are made anywhere, also where no model function sees it.
        shared = any("shared_embedding_column" in one.source.text for one in files)
        texts = "\n".join(one.source.text for one in files)
        # Layers that begin as in a checkpoint, by a pattern of their names.
        self.started = {one: Started() for one in patterns(files)}
        try:
            lifted = lifted_together(files, facts)
        except Blocked as stop:
            raise Refused(stop.reason) from None
        self.files = []
        named = len(files) > 1
        for old, one, (_, drops), first, (_, notes) in zip(
            files, lifted, told, written, alone, strict=True
        ):
            try:
                plain = plain_classes(
                    self._prepared(one),
                    facts,
                    drops,
                    shared_columns=shared,
                    started=self.started,
                    beside=lifted,
                )
            except Refused as stop:
                why = _placed(f"{stop}", one, first, named)
                raise Refused(why) from None
            words = training_words(plain)
            for_tf2 = written_for_tf2(old.resolver)
            self.files.append(_File(plain, first, for_tf2, words, notes, named=named))
        kinds = [kind for one in self.files for kind in one.parsed.each(cst.ClassDef)]
        classes = {kind.name.value for kind in kinds}
        for file in self.files:
            file.parsed = with_names_of_keras(file.parsed, facts, texts, classes)
        if shared:
            check_tables([one.parsed.source.text for one in self.files])
        self.before = files

    def _prepared(self, parsed: ParsedModule) -> ParsedModule:
        """A lifted file whose classes are models that are told whether they train."""
        parsed = with_networks_as_models(parsed, self.facts)
        return with_training_flag(parsed, self.facts)

    def make_tasks(self) -> None:
        """Puts a Task in the place of each model function."""
        parsed = [one.parsed for one in self.files]
        self.watched = frozenset[str]()
        # Whether averages of batch normalization are updated, of each Task with some.
        self.updates: list[bool] = []
        # Values that hooks look at, and that a Task does not have, of each Task.
        self.unseen: list[frozenset[str]] = []
        # Where the last model function is that became one.
        self.place = ""
        if any("Hook" in one.source.text for one in parsed):
            self.watched = self.watched.union(*(watched(one, parsed) for one in parsed))
        for one in self.files:
            made: dict[str, str] = {}
            while True:
                defined = next(
                    (n for n in one.parsed.each(cst.FunctionDef) if is_model_fn(n)),
                    None,
                )
                if not isinstance(defined, cst.FunctionDef):
                    break
                name = self._make_task(one, defined)
                if not _is_method(one.parsed, defined.name.value):
                    made[defined.name.value] = name
            for name, task in made.items():
                self._rename(one, name, task)
        texts = [one.parsed.source.text for one in self.files]
        for one, text in zip(self.files, with_whole_models(texts), strict=True):
            _check_models(text)
            one.parsed = changed(one.parsed, self.facts, text)
        for one in self.files:
            self._drop_scope_makers(one)
        unseen = frozenset[str].intersection(*self.unseen) if self.unseen else ()
        if unseen:
            shown = f"`{min(unseen)}`, which is not seen{self.place}"
            raise Refused(f"a hook looks at {shown}")
        if False in self.updates:
            texts = [one.source.text for one in self.before]
            words = ("updates_collections", "model_to_estimator", ".compile(")
            if True in self.updates or any(w in one for one in texts for w in words):
                raise Refused(SOME_UPDATED)
            for one in self.files:
                one.parsed = with_still_averages(one.parsed, self.facts)

    def _drop_scope_makers(self, file: _File) -> None:
        """Drops names of layers and makers of arg_scopes that nothing reads."""
        parsed = file.parsed
        now = {os.path.abspath(one.parsed.path): one.parsed for one in self.files}
        texts = [
            now[path].source.text if path in now else one.read_text("utf-8", "replace")
            for one in self.facts.importers(parsed.path)
            for path in [os.path.abspath(one)]
        ]
        read = {name.value for name in parsed.resolver.scopes.loads}
        for line in parsed.module.body:
            name = _scope_maker(parsed, line)
            if name and name not in read and not _says(texts, name):
                file.parsed = changed(parsed, self.facts, {line: None})
                self._drop_scope_makers(file)
                break

    def _make_task(self, one: _File, defined: cst.FunctionDef) -> str:
        self._check_users(one, defined)
        one.parsed, defined = self._modern(one, defined)
        tree = Tree(one.parsed.module, one.parsed.resolver)
        taken = set(one.parsed.resolver.scopes.module_scope.bindings)
        foreign = {
            name
            for other in self.files
            if other is not one
            for name in _models(other.parsed)
        }
        name = task_name(tree, defined, one.parsed.path.stem, taken)
        try:
            task = task_of(
                one.parsed,
                defined,
                self.facts,
                _models(one.parsed, foreign),
                name,
                self.watched,
                normalizes=self._normalizes(one, defined),
                foreign=foreign,
                named=bool(self.started),
                several={
                    name for other in self.files for name in with_several(other.parsed)
                },
            )
        except Blocked as stop:
            raise Refused(one.placed(f"{stop} (line {stop.line})")) from None
        except Refused as stop:
            raise Refused(one.placed(f"{stop}")) from None
        if task.updates is not None:
            self.updates.append(task.updates)
        one.words |= task.words
        self.unseen.append(task.unseen)
        self.place = one.placed(f" (line {tree.line(defined)})")
        line = _line_of(one.written, defined.name.value)
        pictures = one.written.source.text.partition("summary.image(")
        for note in task.notes:
            shown = note == IMAGES and pictures[1]
            at = pictures[0].count("\n") + 1 if shown else line
            one.notes += ((at, note),)
        one.tasks += (name,)
        one.parsed = self._with_task(one.parsed, defined, task)
        for helper in _helpers(tree, defined):
            one.parsed = without_unread(one.parsed, self.facts, helper)
        return name

    def _norm_named(self, defined: cst.FunctionDef) -> bool:
        """Whether normalization is in a model function, or in what it names."""
        made: dict[str, list[str]] = {}
        for file in self.files:
            for node in file.parsed.each(cst.FunctionDef, cst.ClassDef):
                assert isinstance(node, cst.FunctionDef | cst.ClassDef)
                made.setdefault(node.name.value, []).append(source_text(node))
        # Those of a class are looked at with it, where it is named.
        made |= {"__init__": [], "call": []}
        waiting = [source_text(defined)]
        while waiting:
            text = waiting.pop()
            if re.search(r"ormaliz|Norm", text) or WITH_AVERAGES.search(text):
                return True
            for name in {*re.findall(r"\w+", text)} & {*made}:
                waiting += made.pop(name)
        return False

    def _normalizes(self, one: _File, defined: cst.FunctionDef) -> set[str]:
        """Kinds of layers, of those that a file may use, whose averages updates move.

        None for a model function that names no normalization.
        """
        found = set()
        for old, other in zip(self.before, self.files, strict=True):
            said = re.search(rf"\b{old.path.stem}\b", one.parsed.source.text)
            if other is not one and (
                not said or any(map(is_model_fn, old.each(cst.FunctionDef)))
            ):
                continue
            if _follows(other.parsed.source.text) and not _in_place(old.source.text):
                found |= _kinds_of_normalization(old) or {"tf.layers"}
        return found if found and self._norm_named(defined) else set()

    def _check_users(self, one: _File, defined: cst.FunctionDef) -> None:
        """Refuses where a file outside of the program uses the model function."""
        own = {os.path.abspath(other.parsed.path) for other in self.files}
        name = defined.name.value
        for path in self.facts.importers(one.parsed.path):
            if os.path.abspath(path) in own or is_test(path.name):
                continue  # tests are told of
            if re.search(rf"\b{name}\b", path.read_text("utf-8", "replace")):
                raise Refused(f"{path.name}, which is not part of it, uses `{name}`")

    def _modern(
        self, one: _File, defined: cst.FunctionDef
    ) -> tuple[ParsedModule, cst.FunctionDef]:
        """The file with today's names in a model function."""
        parsed = one.parsed
        tree = Tree(parsed.module, parsed.resolver)
        inside = range(tree.line(defined), tree.end_line(defined) + 1)
        result = run_rules(
            parsed.source.text,
            parsed.module,
            parsed.resolver,
            silenced=lambda line, rule: line not in inside,
            notes=False,
            for_tf2=one.for_tf2,
        )
        again = changed(parsed, self.facts, result.text)
        found = next(n for n in again.each(cst.FunctionDef) if is_model_fn(n))
        assert isinstance(found, cst.FunctionDef)
        return again, found

    def _with_task(
        self, parsed: ParsedModule, defined: cst.FunctionDef, task: Task
    ) -> ParsedModule:
        tree = Tree(parsed.module, parsed.resolver)
        block = tree.parent(defined)
        holder = tree.parent(block) if block is not None else None
        inside = isinstance(holder, cst.ClassDef)
        column = tree.column(holder if inside and holder else defined)
        step = len(parsed.module.default_indent.expandtabs(8))
        plain = with_plain_names(task.text, words_written(parsed.source))
        known = {line.strip() for line in parsed.source.text.splitlines()}
        text = with_lines_fitted(plain, column - 1, step, known)
        made, module = written_out(text), parsed.module
        if (column, module.default_indent, module.default_newline) != (1, "    ", "\n"):
            made = cst.parse_statement(text)
        places: dict[cst.CSTNode, object] = {}
        if isinstance(holder, cst.ClassDef):
            made = made.with_changes(leading_lines=holder.leading_lines)
            lines = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
            places[holder] = lambda now: [made, now.with_changes(leading_lines=lines)]
            places[defined] = lambda now: _makes_task(now, task)
        else:
            before: list[cst.BaseStatement] = []
            if task.closes_over_self:
                before = [cst.parse_statement("owner = self\n")]
                before[0] = before[0].with_changes(leading_lines=defined.leading_lines)
                made = made.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
            else:
                lines = list(defined.leading_lines)
                top = block is parsed.module
                while top and sum(one.comment is None for one in lines) < 2:
                    lines.insert(0, cst.EmptyLine(indent=False))
                made = made.with_changes(leading_lines=lines)
            places[defined] = [*before, made]
            for user in _loads_of(parsed, defined):
                places[user] = cst.Name(task.name)
        for one in parsed.each(cst.ClassDef):
            if one.name.value == task.dropped:
                places[one] = None
        return changed(parsed, self.facts, places)

    def _rename(self, one: _File, name: str, task: str) -> None:
        """Puts the name of a Task in the places of the model function's."""
        for other in self.files:
            if other is one:
                places = _unbound(other.parsed, name, task)
            else:
                places = _imported(other.parsed, name, task)
            if places:
                other.parsed = changed(other.parsed, self.facts, places)


def _makes_task(method: cst.FunctionDef, task: Task) -> cst.FunctionDef:
    """A method that was a model function, and makes a Task."""
    kept = [
        one.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        for one in method.params.params
        if one.name.value in ("self", "params")
    ]
    line = cst.parse_statement(f"return {task.maker}\n")
    return method.with_changes(
        params=cst.Parameters(kept), body=cst.IndentedBlock([line])
    )


def _unbound(parsed: ParsedModule, name: str, task: str) -> dict[cst.CSTNode, object]:
    """References of a file to its model function, which is a class now."""
    return {
        node: cst.Name(task)
        for node in parsed.resolver.scopes.loads
        if node.value == name and not parsed.resolver.bindings(node)
    }


def _imported(parsed: ParsedModule, name: str, task: str) -> dict[cst.CSTNode, object]:
    """References of a file to the model function of another one."""
    places: dict[cst.CSTNode, object] = {}
    bare = False
    for node in parsed.each(cst.ImportAlias, cst.Attribute, cst.Name):
        if isinstance(node, cst.ImportAlias):
            if isinstance(node.name, cst.Name) and node.name.value == name:
                places[node.name] = cst.Name(task)
                bare = bare or node.asname is None
        elif isinstance(node, cst.Attribute):
            known = node.attr.value == name and bool(parsed.resolver.qualified(node))
            places |= {node.attr: cst.Name(task)} if known else {}
        elif bare and isinstance(node, cst.Name) and node.value == name:
            known = node in parsed.resolver.scopes.loads
            places |= {node: cst.Name(task)} if known else {}
    return places


def _loads_of(parsed: ParsedModule, defined: cst.FunctionDef) -> set[cst.Name]:
    """Where a file names a function, and nothing else of its name."""
    found = set()
    for node in parsed.resolver.scopes.loads:
        if isinstance(node, cst.Name) and node.value == defined.name.value:
            bound = parsed.resolver.bindings(node)
            if [one.node for one in bound] == [defined]:
                found.add(node)
    return found


def _helpers(tree: Tree, defined: cst.FunctionDef) -> list[str]:
    """Functions of the file that a model function names."""
    found = {
        one.value
        for one in walk(defined, cst.Name)
        if isinstance(tree.resolver.definition(one), cst.FunctionDef)
        and one in tree.resolver.scopes.loads
    }
    return sorted(found)


def _is_method(parsed: ParsedModule, name: str) -> bool:
    """A class still has a function of that name, which makes a Task."""
    return any(
        isinstance(method, cst.FunctionDef) and method.name.value == name
        for one in parsed.each(cst.ClassDef)
        for method in one.body.body
    )


def _models(parsed: ParsedModule, foreign: Collection[str] = ()) -> set[str]:
    """Classes of models that a file defines, and functions that make a layer.

    They may extend those of other files, which are `foreign`.
    """
    kinds = ("tf_keras.Model", "tf_keras.layers.Layer")
    code = parsed.module.code_for_node
    found: set[str] = set()
    for one in parsed.each(cst.ClassDef, cst.FunctionDef):
        if isinstance(one, cst.ClassDef):
            bases = (code(base.value).strip() for base in one.bases)
            derived = any(
                base in kinds or base in found or base.rpartition(".")[2] in foreign
                for base in bases
            )
            found |= {one.name.value} if derived else set()
        elif isinstance(one, cst.FunctionDef):
            body = one.body
            inside = statements_of(body) if isinstance(body, cst.IndentedBlock) else []
            last = only_small(inside[-1]) if inside else None
            made = last.value if isinstance(last, cst.Return) else None
            if isinstance(made, cst.Call) and code(made).startswith("tf_keras.layers."):
                found.add(one.name.value)
    return found


def _line_of(parsed: ParsedModule, function: str) -> int:
    tree = Tree(parsed.module, parsed.resolver)
    for one in parsed.each(cst.FunctionDef):
        if one.name.value == function:
            return tree.line(one)
    return 1
