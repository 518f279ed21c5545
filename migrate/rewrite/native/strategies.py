"""Distribution strategies."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ...code.arguments import is_none
from .page import Page
from .word import Handler, Odd, Word, arguments, in_sight, moved, named, not_seen

_CONTRIB = "tf.contrib.distribute."
_MIRRORED = (
    "devices", "num_gpus", "num_gpus_per_worker", "cross_device_ops",
    "auto_shard_dataset", "cross_tower_ops", "prefetch_on_device",
)  # fmt: skip
_COPY = "HierarchicalCopyAllReduce"


def _mirrored(page: Page, word: Word) -> None:
    """Devices, or a count of them, and how gradients are added up."""
    if word.call is None or word.stays:
        raise not_seen(word)
    contrib = word.symbol.startswith(_CONTRIB)
    parameters = _MIRRORED if contrib else ("devices", "cross_device_ops")
    args = arguments(page, word.call, parameters)
    if args is None:
        raise Odd(word.node, "the arguments of a MirroredStrategy ({}) are hidden")
    if contrib:
        page.rename(word.node, page.tf(word.node, "distribute.MirroredStrategy"))
    given = {name: arg for name, arg in args.items() if not is_none(arg.value)}
    for name, arg in args.items():
        if name not in given or name in ("auto_shard_dataset", "prefetch_on_device"):
            page.drop_argument(word.call, arg)
        elif name in ("num_gpus", "num_gpus_per_worker"):
            if arg.keyword is not None:
                page.take_off_keyword(arg)
            page.put_around(arg.value, f"{page.take('gpus')}(", ")")
        elif name == "devices" and (count := _first_gpus(arg.value)) > 1:
            page.put(arg.value, f"{page.take('gpus')}({count})")
        elif name == "cross_tower_ops" and arg.keyword is not None:
            page.rename_keyword(arg, "cross_device_ops")
        elif name in ("cross_device_ops", "cross_tower_ops") and arg.keyword is None:
            page.put_before(arg.value, "cross_device_ops=")
    if not given.keys() & {"cross_device_ops", "cross_tower_ops"} and _is_one_of(
        page, word.call
    ):
        ops = page.tf(word.node, f"distribute.{_COPY}")
        page.add_argument(word.call, f"cross_device_ops={ops}()")


def _first_gpus(node: cst.BaseExpression) -> int:
    """How many GPUs a list names, if these are the first ones.

    TensorFlow waits for ever for those of them that there are not.
    """
    if not isinstance(node, (cst.List, cst.Tuple)):
        return 0
    names = [
        str(one.value.evaluated_value).lower()
        for one in node.elements
        if isinstance(one.value, cst.SimpleString)
    ]
    wanted = [f"gpu:{number}" for number in range(len(node.elements))]
    found = [name.removeprefix("/").removeprefix("device:") for name in names]
    return len(wanted) if found == wanted else 0


def _is_one_of(page: Page, call: cst.Call) -> bool:
    """More than one strategy may be made, or rows of tables have gradients.

    NCCL's ring of a first strategy breaks that of a second, and cannot add rows.
    """
    made = sum(
        "distribute" in symbol and symbol.endswith("MirroredStrategy")
        for one in page.files
        for use in one.resolver.scopes.uses
        if (symbol := one.resolver.resolve(use.node) or "")
    )
    texts = [one.source.text for one in page.files]
    return (
        made > 1
        or any("embedding" in text.lower() for text in texts)
        or any(_is_repeated(one, texts) for one in page.ancestors(call))
    )


def _is_repeated(node: cst.CSTNode, texts: Sequence[str]) -> bool:
    """A loop, or a function that is named more than once besides its definition."""
    if isinstance(node, cst.FunctionDef):
        name = re.compile(rf"\b{node.name.value}\b")
        return sum(len(name.findall(text)) for text in texts) > 2
    return isinstance(node, (cst.For, cst.While))


def _ops(page: Page, word: Word) -> None:
    """``AllReduceCrossDeviceOps("nccl", num_packs=2)``."""
    known = ("all_reduce_alg", "num_packs")
    call, args = in_sight(page, word, known, may_stay=True)
    algorithm = args.get("all_reduce_alg")
    name = "nccl" if algorithm is None else page.source(algorithm.value).strip("'\"")
    classes = {"nccl": "NcclAllReduce", "hierarchical_copy": _COPY}
    if name not in classes:
        raise Odd(word.node, f"`{word.symbol}` ({{}}) adds up in a way of its own")
    page.rename(word.node, page.tf(word.node, f"distribute.{classes[name]}"))
    named(page, call, args, 1)
    if algorithm is not None:
        page.drop_argument(call, algorithm)


_OLD = (_CONTRIB, "tf.distribute.experimental.")
_HOW = ("communication",)
_GPUS = ("num_gpus_per_worker", "num_gpus")
_ALL_GPUS = "uses all GPUs that a worker has"
_COLLECTIVE = ("CollectiveAllReduceStrategy", "MultiWorkerMirroredStrategy")
_SERVERS = "ParameterServerStrategy"


def _workers(page: Page, word: Word) -> None:
    """Workers in step, who may be told how they add their gradients up."""
    if word.call is None or word.stays:
        raise not_seen(word)
    if page.for_tf2 or not word.symbol.startswith(_OLD):
        page.words.add("workers")
        word.spell(page, page.tf(word.node, f"distribute.{_COLLECTIVE[-1]}"))
        return
    contrib = word.symbol.startswith(_CONTRIB)
    args = arguments(page, word.call, _GPUS[:1] if contrib else _HOW)
    if args is None or set(args) - {*_GPUS, *_HOW}:
        raise Odd(word.node, f"the arguments of `{word.symbol}` ({{}}) are hidden")
    page.words.add("workers")
    page.rename(word.node, page.tf(word.node, f"distribute.{_COLLECTIVE[-1]}"))
    for name, arg in args.items():
        if name != "communication":
            page.drop_argument(word.call, arg)
            page.note(arg.value, _ALL_GPUS)
            continue
        if arg.keyword is not None:
            page.take_off_keyword(arg)
        options = page.tf(word.node, "distribute.experimental.CommunicationOptions")
        opening = f"communication_options={options}(implementation="
        page.put_around(arg.value, opening, ")")


def _servers(page: Page, word: Word) -> None:
    """What a chief makes for itself, where TF_CONFIG names servers."""
    page.words.add("parameter_servers")


def for_servers(page: Page, node: cst.BaseExpression) -> bool:
    """A strategy for parameter servers, which a program makes in plain sight."""
    made = page.value(node)
    if not isinstance(made, cst.Call):
        return False
    if not (page.symbol(made.func) or "").endswith(f".{_SERVERS}"):
        return False
    args = arguments(page, made, _GPUS[:1])
    if args is None or set(args) - {*_GPUS}:
        return False
    for arg in args.values():
        page.note(arg.value, _ALL_GPUS)
    return True


def left(page: Page) -> None:
    """Refuses strategies for parameter servers that no RunConfig took."""
    for use in page.scopes.uses:
        symbol = page.symbol(use.node) or ""
        if symbol.endswith(f".{_SERVERS}") and not page.is_gone(use.node):
            page.refuse(use.node, f"`{symbol}` ({{}}) is more than a RunConfig's")


def _own_servers(page: Page, word: Word) -> None:
    page.refuse(word.node, f"`{word.symbol}` ({{}}) makes a cluster without a strategy")


def _tpu(page: Page, word: Word) -> None:
    """What `--strategy tpu` writes; a program's own sets up its TPU itself."""
    if word.call is None or word.call.args:
        why = "is of a TPU that the program sets up: try `--strategy tpu`"
        page.refuse(word.node, f"`{word.symbol}` ({{}}) {why}")
    else:
        page.rename(word.node, page.take("tpu_strategy"))
        page.note(word.node, "written as TensorFlow documents it, never run on a TPU")


WORDS: dict[str, Handler] = {
    f"{_CONTRIB}MirroredStrategy": _mirrored,
    "tf.distribute.MirroredStrategy": _mirrored,
    f"{_CONTRIB}OneDeviceStrategy": moved("distribute.OneDeviceStrategy"),
    **{
        f"{_CONTRIB}{name}Cross{kind}Ops": handle
        for kind in ("Device", "Tower")
        for name, handle in {
            "AllReduce": _ops,
            "ReductionToOneDevice": moved("distribute.ReductionToOneDevice"),
        }.items()
    },
    **{
        f"tf.{package}.{name}": handle
        for package in ("contrib.distribute", "distribute", "distribute.experimental")
        for name, handle in {
            **dict.fromkeys(_COLLECTIVE, _workers),
            _SERVERS: _servers,
            "TPUStrategy": _tpu,
        }.items()
    },
    "tf.train.Server": _own_servers,
    "tf.train.replica_device_setter": _own_servers,
}
