"""Small words: logging, flags, seeds and switches."""

from __future__ import annotations

import libcst as cst

from .page import Page
from .word import Handler, Word, flags_are_parsed, root_of, taken

__all__ = ["WORDS"]

_LOGGING = ("tf.logging", "tf.python.platform.tf_logging")
_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_LOGGERS = {"warn": "warning", "fatal": "critical"}


def _level(page: Page, word: Word) -> None:
    word.spell(page, page.string(word.symbol.rpartition(".")[2]))


def _verbosity(page: Page, word: Word) -> None:
    if not word.stays:
        page.rename(word.node, page.tf(word.node, "get_logger") + "().setLevel")


def _log(page: Page, word: Word) -> None:
    name = word.symbol.rpartition(".")[2]
    logger = page.tf(word.node, "get_logger")
    word.spell(page, f"{logger}().{_LOGGERS.get(name, name)}")


def _run(page: Page, word: Word) -> None:
    if word.stays:
        return
    page.rename(word.node, f"{page.bring('absl', 'app', 'absl_app')}.run")
    if word.call is not None and not word.call.args:
        page.add_argument(word.call, "main")


_KEYWORDS = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _flags(page: Page, word: Word) -> None:
    """absl's flags, which are the same and want to be parsed before they are read."""
    if word.stays or not flags_are_parsed(page):
        return
    binding = _own(page, word.node)
    if binding is not None:
        page.imports["absl", "flags"] = "flags"
        page.replaced.add(root_of(word.node))
        page.drop_statement(page.statement(word.node))
        return
    page.rename(word.node, page.bring("absl", "flags", "absl_flags"))
    call = page.scopes.calls.get(word.use.node)
    for arg in call.args if call is not None else ():
        if arg.keyword is not None and arg.keyword.value in _KEYWORDS:
            page.rename_keyword(arg, _KEYWORDS[arg.keyword.value])


def _own(page: Page, node: cst.CSTNode) -> cst.Assign | None:
    """``flags = tf.app.flags``, of the module."""
    holder = page.parent(node)
    if not isinstance(holder, cst.Assign) or len(holder.targets) != 1:
        return None
    target = holder.targets[0].target
    whole = page.parent(page.statement(holder))
    named = isinstance(target, cst.Name) and target.value == "flags"
    bound = page.scopes.module_scope.bindings.get("flags", ())
    return (
        holder if named and isinstance(whole, cst.Module) and len(bound) == 1 else None
    )


def _seed(page: Page, word: Word) -> None:
    if not page.for_tf2:
        word.spell(page, page.tf(word.node, "random.set_seed"))


def _dropped(page: Page, word: Word) -> None:
    """A statement that switches what TensorFlow 2 has no switch for."""
    statement = page.statement(word.node)
    holder = page.parent(word.call) if word.call is not None else None
    if isinstance(holder, cst.Expr):
        page.drop_statement(statement)
        page.replaced.add(root_of(word.node))
    else:
        page.refuse(word.node, f"`{word.symbol}` ({{}}) is no statement of its own")


def _cast(kind: str) -> Handler:
    def handle(page: Page, word: Word) -> None:
        if word.call is None or word.stays or any(a.star for a in word.call.args):
            return
        first = page.tf(word.node, "cast")
        page.rename(word.node, first)
        args = list(word.call.args)
        end = page.outer(args[0].value)[1]
        page.put_span(end, end, f", {page.tf(word.node, kind)}")

    return handle


_FILES = {
    "FileIO": "GFile",
    "copy": "copy",
    "create_dir": "mkdir",
    "delete_file": "remove",
    "delete_recursively": "rmtree",
    "file_exists": "exists",
    "get_matching_files": "glob",
    "is_directory": "isdir",
    "list_directory": "listdir",
    "recursive_create_dir": "makedirs",
    "rename": "rename",
}


def _file(name: str) -> Handler:
    def handle(page: Page, word: Word) -> None:
        word.spell(page, page.tf(word.node, f"io.gfile.{name}"))

    return handle


def _shared_columns(page: Page, word: Word) -> None:
    gone = ("ckpt_to_load_from", "tensor_name_in_ckpt", "use_safe_embedding_lookup")
    args = word.call.args if word.call is not None else ()
    given = [one.keyword.value for one in args if one.keyword is not None]
    if len(args) - len(given) > 5 or set(given).intersection(gone):
        page.refuse(word.node, f"`{word.symbol}` ({{}}) reads a checkpoint")


WORDS: dict[str, Handler] = {
    **{f"tf.python.lib.io.file_io.{old}": _file(new) for old, new in _FILES.items()},
    "tf.feature_column.shared_embedding_columns": taken(
        "shared_embedding_columns", _shared_columns
    ),
    **{f"{home}.set_verbosity": _verbosity for home in _LOGGING},
    **{f"{home}.{name}": _level for home in _LOGGING for name in _LEVELS},
    **{
        f"{home}.{name}": _log
        for home in _LOGGING
        for name in ("debug", "info", "warn", "warning", "error", "fatal")
    },
    "tf.app.run": _run,
    "tf.app.flags": _flags,
    "tf.flags": _flags,
    "tf.set_random_seed": _seed,
    **{
        f"tf.{name}": _dropped
        for name in (
            "reset_default_graph",
            "enable_eager_execution",
            "disable_eager_execution",
            "enable_v2_behavior",
            "disable_v2_behavior",
            "enable_resource_variables",
            "disable_resource_variables",
        )
    },
    **{f"tf.to_{kind}": _cast(kind) for kind in ("bfloat16", "int32", "int64")},
    "tf.to_float": _cast("float32"),
    "tf.to_double": _cast("float64"),
}
