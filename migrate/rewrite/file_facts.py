"""What a file tells about the program it belongs to, should that stay as it is.

Gathered where the file is parsed anyway, so that the decision about whole
programs (``settle.py``) has nothing to parse.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from ..names.ast_nodes import tree_of
from ..names.ast_nodes import walk as walk_ast
from ..names.dotted import import_path, imported_names
from ..names.names import Door
from ..names.scopes import ScopeKind
from ..names.table import is_private_module, needs_nothing
from ..project.facts import ParsedModule
from ..project.positions import Places
from ..project.selection import is_test
from ..report.model import FileFacts
from ..rules import changed_arguments
from ..rules.base import SymbolUse
from ..rules.context import Context
from ..rules.symbol_judge import SPECIAL, symbol_use
from ..rules.written_for import era_of

_ESTIMATORS = ("Estimator", "Classifier", "Regressor")
_SESSIONS = (
    "tf.Session", "tf.InteractiveSession", "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession", "tf.train.SingularMonitoredSession",
    "tf.train.Supervisor",
)  # fmt: skip
_BY_NAME = ("importlib.import_module", "runpy.run_module", "__import__")
_BY_PATH = ("imp.load_source",)
_OWN_TREES = ("python", "core", "tools", "examples")


def facts_of_file(parsed: ParsedModule) -> FileFacts:
    """What a parsed file tells about the program it belongs to."""
    era = era_of(parsed.resolver)
    gone = None if era.tf2 and not era.tf1 else _gone_import(parsed)
    notebook = parsed.source.notebook is not None
    return FileFacts(
        era.tf1,
        era.tf2,
        gone=gone or _raising(parsed, _ESTIMATORS),
        starts=notebook or is_started(parsed.path.name, parsed.source.text),
        searches=_searches(parsed),
        session=_session(parsed) if era.tf1 and not era.tf2 else None,
        raises=_raising(parsed, ("",)),
    )


def _session(parsed: ParsedModule) -> tuple[int, int | None, str] | None:
    """Where a module opens a session on the default graph, which TF 2 leaves empty.

    One that makes a graph for its session runs under the names of `tf.compat.v1`.
    """
    scopes = parsed.resolver.scopes
    called = {node: parsed.resolver.resolve(node) for node in scopes.calls}
    if is_test(parsed.path.name) or "tf.Graph" in called.values():
        return None
    for node, symbol in called.items():
        dotted = parsed.resolver.qualified(node) or ""
        if symbol in _SESSIONS and ".compat.v1." not in dotted:
            cell, line = parsed.source.locate(_line(parsed, node))
            return line, cell, symbol
    return None


def _searches(parsed: ParsedModule) -> tuple[str, ...]:
    """How the names begin by which a module imports others, if it works them out."""
    found = set()
    for called, call in parsed.resolver.scopes.calls.items():
        name = parsed.resolver.qualified(called)
        if isinstance(called, cst.Name) and called.value == "__import__":
            name = called.value
        if name in (*_BY_PATH, *_BY_NAME):
            asked = call.args[0].value if call.args and name in _BY_NAME else None
            said = "" if asked is None else _text_first(asked)
            if isinstance(asked, cst.SimpleString) and said:
                said += "."  # all of the name
            found.add(said[: said.rfind(".") + 1])
    return tuple(sorted(found))


def _text_first(node: cst.BaseExpression) -> str:
    """The text that an expression is known to begin with."""
    match node:
        case cst.BinaryOperation(operator=cst.Add() | cst.Modulo()):
            return _text_first(node.left).partition("%")[0]
        case cst.FormattedString(parts=[cst.FormattedStringText(value), *_]):
            return value
        case cst.SimpleString(evaluated_value=str(value)):
            return value.partition("{")[0]
        case cst.Call(cst.Attribute(text, cst.Name("format"))):
            return _text_first(text)
    return ""


def runs_on_both(parsed: ParsedModule) -> bool:
    """Whether every name of TensorFlow in a module means the same in TF 1 and TF 2."""
    context = Context(parsed.source.text, parsed.module, parsed.resolver)
    for use in parsed.resolver.scopes.uses:
        dotted = parsed.resolver.qualified(use.node)
        if dotted in (None, "tensorflow") or not str(dotted).startswith("tensorflow"):
            continue
        found = symbol_use(use, parsed.resolver)
        if found is None:
            return False
        public = found.door is Door.PUBLIC and needs_nothing(found.symbol)
        if found.symbol.startswith("tf.keras."):
            return False  # of Keras 2 there and of Keras 3 here
        if not (public or found.door is Door.COMPAT_V1 or _fits(found, context)):
            return False
    return all(
        import_path(getattr(use.node, "module", None)) in ("", "tensorflow")
        or "tensorflow" not in parsed.module.code_for_node(use.node)
        for use in parsed.resolver.scopes.imports
    )


def _fits(found: SymbolUse, context: Context) -> bool:
    """A call whose arguments mean the same in TF 1 and TF 2, though others do not."""
    return (
        found.door is Door.PUBLIC
        and found.call is not None
        and found.move is not None
        and found.move.old is not None
        and found.move.to == found.symbol
        and found.symbol not in SPECIAL
        and changed_arguments.check(found, context) is None
    )


def is_started(name: str, text: str) -> bool:
    """Whether a file is run by itself, rather than only imported.

    Scripts do something at the top or under ``if __name__ == "__main__"``; tests
    are run by their runner, which knows them by their names.
    """
    if is_test(name):
        return True
    if name in ("setup.py", "__init__.py"):
        return False
    try:
        body = tree_of(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    trainers = {
        one.name
        for one in body
        if isinstance(one, ast.FunctionDef) and any(map(_trains, walk_ast(one)))
    }
    return any(_does_something(one) or _gets_trained(one, trainers) for one in body)


def _trains(node: ast.AST) -> bool:
    """A call that trains or evaluates."""
    return isinstance(node, ast.Call) and bool(
        re.search(
            r"\.(train|fit|evaluate)$|train_and_evaluate$", ast.unparse(node.func)
        )
    )


def _gets_trained(statement: ast.stmt, trainers: set[str]) -> bool:
    """An assignment of what a training gives: ``results = estimator.evaluate(...)``."""
    return isinstance(statement, ast.Assign) and any(
        isinstance(node, ast.Call)
        and (_trains(node) or ast.unparse(node.func) in trainers)
        for node in walk_ast(statement.value)
    )


def _does_something(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        if any(
            isinstance(node, ast.Name) and node.id == "__name__"
            for node in walk_ast(statement.test)
        ):
            return True
        return any(map(_does_something, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and not _is_setting(statement)
    return isinstance(statement, (ast.For, ast.While, ast.With))


def _is_setting(statement: ast.Expr) -> bool:
    """Calls that library modules make too: verbosity, flags, warnings, paths."""
    assert isinstance(statement.value, ast.Call)
    dotted = ast.unparse(statement.value.func).lower()
    words = (
        "verbosity|define|flags|warnings|sys.path|basicconfig|seed|logging|register"
        "|environ|matplotlib|compat.install|disable_|enable_|reset_default_graph"
    )
    return any(word in dotted for word in words.split("|"))


def _gone_import(parsed: ParsedModule) -> tuple[str, str] | None:
    """The first import that fails on today's TensorFlow and on its clone."""
    for use in parsed.resolver.scopes.imports:
        if use.guarded or use.scope.kind is not ScopeKind.MODULE:
            continue
        node = use.node
        modules = imported_names(node)
        if isinstance(node, cst.ImportFrom) and modules:
            modules = [import_path(node.module)]
        for module in modules:
            if _is_gone(module):
                text = parsed.module.code_for_node(use.node)
                return _place(parsed, use.node), f"`{text}`"
    return None


def _raising(parsed: ParsedModule, ends: tuple[str, ...]) -> tuple[str, str] | None:
    """The first call of a name with such an end that the clone only has by name."""
    from tfmigrate.compat.surface.reach import advice_about

    for use in parsed.resolver.scopes.uses:
        if use.node not in parsed.resolver.scopes.calls:
            continue
        symbol = parsed.resolver.resolve(use.node)
        if symbol is None or not symbol.endswith(ends):
            continue
        advice = advice_about(symbol)
        if advice is not None:
            return _place(parsed, use.node), f"`{symbol}`: {advice.rstrip('.')}"
    return None


def _place(parsed: ParsedModule, node: cst.CSTNode) -> str:
    cell, line = parsed.source.locate(_line(parsed, node))
    inside = f"cell {cell}:" if cell is not None else ""
    return f"{parsed.path.name}:{inside}{line}"


def _line(parsed: ParsedModule, node: cst.CSTNode) -> int:
    places = parsed.resolver.about(Places)
    return places.lines.place(places[node][0])[0]


def _is_gone(module: str) -> bool:
    top, _, rest = module.partition(".")
    if top != "tensorflow" or rest.partition(".")[0] not in _OWN_TREES:
        return False
    from tfmigrate.compat.surface.reach import opens

    return not is_private_module(module) and not opens(module)
