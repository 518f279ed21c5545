"""Small words: logging, flags, seeds and switches."""

from __future__ import annotations

import re

import libcst as cst

from .page import Page
from .word import (
    Handler,
    Word,
    flags_are_parsed,
    in_sight,
    keyword,
    keywords,
    moved,
    named,
    not_seen,
    taken,
)

_LOGGING = ("tf.logging", "tf.python.platform.tf_logging")
_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_LOGGERS = {"warn": "warning", "fatal": "critical"}


_FLAGS = re.compile(r"\bflags\b", re.IGNORECASE)
# Options that absl does not know, which TensorFlow 1 left alone.
_OPTIONS = re.compile(r"\b(argparse|optparse|getopt|docopt|sys\.argv)\b")


def _level(page: Page, word: Word) -> None:
    holder = page.parent(word.node)
    call = page.parent(holder) if isinstance(holder, cst.Arg) else None
    symbol = (page.symbol(call.func) or "") if isinstance(call, cst.Call) else ""
    if symbol.startswith(_LOGGING) and not symbol.endswith("set_verbosity"):
        return  # these take numbers
    word.spell(page, page.string(word.symbol.rpartition(".")[2]))


def _log_at(page: Page, word: Word) -> None:
    """``tf.logging.log(tf.logging.INFO, ...)``"""
    args = word.call.args if word.call is not None else ()
    level = (page.symbol(args[0].value) or "").rpartition(".")[2] if args else ""
    if word.call is not None and level in _LEVELS and args[0].keyword is None:
        page.drop_argument(word.call, args[0])
        _by_logger(page, word, level.lower())


def _verbosity(page: Page, word: Word) -> None:
    if word.stays:
        return
    page.rename(word.node, page.tf(word.node, "get_logger") + "().setLevel")
    level = word.call.args[0].value if word.call and word.call.args else None
    if isinstance(level, cst.Call) and len(level.args) == 2:
        home, name = (one.value for one in level.args)
        if page.source(level.func) == "getattr" and page.symbol(home) in _LOGGING:
            page.forget(home)
            page.put(level, name)  # loggers know levels by their names


def _log(page: Page, word: Word) -> None:
    _by_logger(page, word, word.symbol.rpartition(".")[2])


def _by_logger(page: Page, word: Word, level: str) -> None:
    logger = page.tf(word.node, "get_logger")
    word.spell(page, f"{logger}().{_LOGGERS.get(level, level)}")


def _run(page: Page, word: Word) -> None:
    if word.stays:
        return
    call = word.call
    if call is None:
        page.rename(word.node, f"{page.bring('absl', 'app', 'absl_app')}.run")
        return
    given = [one.keyword and one.keyword.value for one in call.args]
    texts = "\n".join(one.source.text for one in page.files)
    alone = "argv" not in given and given != [None, None]
    tolerant = alone and _OPTIONS.search(texts)
    if tolerant and not _FLAGS.search(texts):
        main = call.args[0].value if call.args else "main"
        page.forget(word.node)
        page.put(call, main, f"({page.bring('sys')}.argv)")
        return
    page.rename(word.node, f"{page.bring('absl', 'app', 'absl_app')}.run")
    if given[:1] != [None] and "main" not in given:
        page.add_argument(call, "main=main" if given else "main")
    if tolerant:
        flags = page.bring("absl", "flags", "absl_flags")
        parsed = f"lambda argv: {flags}.FLAGS(argv, known_only=True)"
        page.add_argument(call, f"flags_parser={parsed}")


_KEYWORDS = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _flags(page: Page, word: Word) -> None:
    """absl's flags, which are the same and want to be parsed before they are read."""
    if word.stays or not flags_are_parsed(page):
        return
    binding = _own(page, word.node)
    if binding is not None:
        page.imports["absl", "flags"] = "flags"
        page.forget(word.node)
        page.drop_statement(page.statement(word.node))
        return
    page.rename(word.node, page.bring("absl", "flags", "absl_flags"))
    call = page.scopes.calls.get(word.use.node)
    for arg in call.args if call is not None else ():
        if keyword(arg) in _KEYWORDS:
            page.rename_keyword(arg, _KEYWORDS[keyword(arg)])


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
        page.forget(word.node)
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


# Functions of files, and the names that they had in two modules.
_FILES = {
    "GFile": "lib.io.file_io.FileIO platform.gfile.FastGFile platform.gfile.GFile "
    "platform.gfile.Open",
    "copy": "lib.io.file_io.copy platform.gfile.Copy",
    "exists": "lib.io.file_io.file_exists platform.gfile.Exists",
    "glob": "lib.io.file_io.get_matching_files platform.gfile.Glob",
    "isdir": "lib.io.file_io.is_directory platform.gfile.IsDirectory",
    "listdir": "lib.io.file_io.list_directory platform.gfile.ListDirectory",
    "makedirs": "lib.io.file_io.recursive_create_dir platform.gfile.MakeDirs",
    "mkdir": "lib.io.file_io.create_dir platform.gfile.MkDir",
    "remove": "lib.io.file_io.delete_file platform.gfile.Remove",
    "rename": "lib.io.file_io.rename platform.gfile.Rename",
    "rmtree": "lib.io.file_io.delete_recursively platform.gfile.DeleteRecursively",
}


def _read_file(page: Page, word: Word) -> None:
    parameters = ("filename", "binary_mode")
    call, args = in_sight(page, word, parameters, "filename", may_stay=True)
    mode = args.get("binary_mode")
    shown = "" if mode is None or page.source(mode.value) == "False" else "b"
    if mode is not None and page.source(mode.value) not in ("True", "False"):
        page.refuse(mode.value, "whether a file ({}) holds text is not written out")
    mode_text = f", {page.string('rb')}" if shown else ""
    opened = page.tf(word.node, "io.gfile.GFile")
    page.forget(word.node)
    page.put(call, f"{opened}(", args["filename"].value, f"{mode_text}).read()")


_DEVICE = re.compile(r"\.(memory_limit|locality|incarnation|physical_device_desc)\b")


def _devices(page: Page, word: Word) -> None:
    """Devices have the same names and types today, and tell no more of themselves."""
    if _DEVICE.search(page.text) or (word.call is not None and word.call.args):
        page.refuse(word.node, f"`{word.symbol}` ({{}}) says more than names and types")
    word.spell(page, page.tf(word.node, "config.list_logical_devices"))


_MNIST = (
    *("folder", "fake_data", "one_hot", "dtype", "reshape", "validation_size", "seed"),
    "source_url",
)


def _cuda(page: Page, word: Word) -> None:
    """What CUDA was asked for: a GPU. Today TensorFlow is built with it anywhere."""
    if word.call is None:
        raise not_seen(word)
    devices = page.tf(word.node, "config.list_physical_devices")
    shown = f"{devices}({page.string('GPU')})"
    holder = page.parent(word.call)
    asked = isinstance(holder, cst.If | cst.IfExp) and holder.test is word.call
    page.forget(word.node)
    page.put(word.call, shown if asked else f"bool({shown})")


def _mnist(page: Page, word: Word) -> None:
    """MNIST in files, which training.py reads."""
    _ask_for_mnist(page)
    if word.stays:
        return
    page.rename(word.node, page.take("read_data_sets"))
    call, args = in_sight(page, word, _MNIST)
    named(page, call, args, 1)
    for name, arg in args.items():
        if name == "train_dir":
            page.rename_keyword(arg, "folder")
        elif name in ("fake_data", "dtype", "source_url"):
            page.drop_argument(call, arg)
            if name != "source_url" and page.source(arg.value) != "False":
                page.refuse(arg.value, f"`{name}` ({{}}) of MNIST's data sets")
    if not args:
        page.add_argument(call, page.string("MNIST-data"))


def _ask_for_mnist(page: Page) -> None:
    page.words.add("read_data_sets")
    for word in ("next_batch", "epochs_completed"):
        if page.says(f".{word}"):
            page.words.add(word)


def _by_name(page: Page, word: Word) -> None:
    """``load_dataset("mnist")`` and ``DATASETS["mnist"](folder)``."""
    holder = word.call or page.parent(word.node)
    shown = page.source(holder) if holder is not None else ""
    known = re.fullmatch(r"[\w.]+[\[(]\s*['\"]mnist['\"]\s*[\])]", shown)
    outer = page.parent(holder) if holder is not None else None
    _ask_for_mnist(page)
    read = page.take("read_data_sets")
    folder = page.string("MNIST-data")
    if known is None or holder is None or word.stays:
        page.refuse(word.node, f"`{word.symbol}` ({{}}) loads a data set that is gone")
    elif isinstance(holder, cst.Call):
        page.put(holder, f"{read}({folder})")
    elif isinstance(outer, cst.Call) and outer.func is holder:
        page.put(holder, read)
        if not outer.args:
            page.add_argument(outer, folder)
    else:
        raise not_seen(word)
    page.forget(word.node)


def _whole_batches(page: Page, word: Word) -> None:
    """``data.apply(batch_and_drop_remainder(n))`` is ``data.batch``."""
    holder = page.parent(word.call) if word.call is not None else None
    outer = page.parent(holder) if holder is not None else None
    if (
        word.call is None
        or not isinstance(outer, cst.Call)
        or not isinstance(outer.func, cst.Attribute)
        or outer.func.attr.value != "apply"
        or [one.keyword for one in word.call.args] != [None]
    ):
        page.refuse(word.node, f"`{word.symbol}` ({{}}) is not applied to data")
        return
    page.forget(word.node)
    page.put(outer.func.attr, "batch")
    page.put(word.call, word.call.args[0].value, ", drop_remainder=True")


def _shared_columns(page: Page, word: Word) -> None:
    gone = ("ckpt_to_load_from", "tensor_name_in_ckpt", "use_safe_embedding_lookup")
    args = word.call.args if word.call is not None else ()
    given = [] if word.call is None else keywords(word.call)
    if len(args) - len(given) > 5 or set(given).intersection(gone):
        page.refuse(word.node, f"`{word.symbol}` ({{}}) reads a checkpoint")


def named_scope(page: Page, word: Word) -> bool:
    """Names operations where nothing makes variables; tells whether it could."""
    call = word.call
    if word.symbol != "tf.variable_scope" or call is None or not call.args:
        return False
    first, item = call.args[0], page.parent(call)
    name, made = first.value, page.function(call)
    params = made.params.params if isinstance(made, cst.FunctionDef) else ()
    known = [one.default for one in params if one.name.value == page.source(name)]
    told = name if isinstance(name, cst.SimpleString) else known[0] if known else None
    if (
        not isinstance(item, cst.WithItem)
        or item.asname is not None
        or keyword(first) not in ("", "name_or_scope")
        or first.star
        or not isinstance(told, cst.SimpleString)
    ):
        return False
    page.put(call, page.tf(word.node, "name_scope"), "(", name, ")")
    return True


WORDS: dict[str, Handler] = {
    **{
        f"tf.python.{old}": moved(f"io.gfile.{new}")
        for new, names in _FILES.items()
        for old in names.split()
    },
    "tf.python.lib.io.file_io.read_file_to_string": _read_file,
    "tf.python.client.device_lib.list_local_devices": _devices,
    "tf.test.is_built_with_cuda": _cuda,
    **{
        f"{home}.{name}": _mnist
        for home in (
            "tf.examples.tutorials.mnist.input_data",
            "tf.contrib.learn.datasets.mnist",
            "tf.contrib.learn.python.learn.datasets.mnist",
        )
        for name in ("read_data_sets", "load_mnist")
    },
    "tf.contrib.data.batch_and_drop_remainder": _whole_batches,
    "tf.contrib.losses.metric_learning.triplet_semihard_loss": taken(
        "triplet_semihard_loss"
    ),
    "tf.contrib.crf.crf_decode": taken("crf_decode"),
    "tf.contrib.crf.crf_log_likelihood": taken("crf_log_likelihood"),
    "tf.contrib.learn.datasets.load_dataset": _by_name,
    "tf.contrib.learn.datasets.DATASETS": _by_name,
    "tf.feature_column.shared_embedding_columns": taken(
        "shared_embedding_columns", _shared_columns
    ),
    **{f"{home}.set_verbosity": _verbosity for home in _LOGGING},
    **{f"{home}.log": _log_at for home in _LOGGING},
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
    "tf.random.set_random_seed": _seed,
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
