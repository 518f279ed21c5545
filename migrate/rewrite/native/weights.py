"""Variables that the call of a lifted class makes become weights of the class."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...code.names import fresh
from ...model.layer_functions import GET_VARIABLE
from ...names.ast_nodes import walk as walk_ast
from .code import Refused, arguments_of, call, dotted, is_absent, literal, parsed
from .layers import initializer, regularizer
from .text import Text, attribute_of_self, loads_in, names_in, place_of, stores_in
from .weights_in_loops import check_names, loop_around, move_rounds

if TYPE_CHECKING:
    from .classes import Lifted

SEQUENCE_INPUT = "tf.contrib.feature_column.sequence_input_layer"

_VARIABLE = (
    "initial_value", "trainable", "collections", "validate_shape", "caching_device",
    "name", "variable_def", "dtype", "expected_shape", "import_scope", "constraint",
    "use_resource", "synchronization", "aggregation", "shape",
)  # fmt: skip
_INPUT_LAYER = (
    "features", "feature_columns", "weight_collections", "trainable", "cols_to_vars",
    "cols_to_output_tensors",
)  # fmt: skip
_LINEAR = (
    "features", "feature_columns", "units", "sparse_combiner", "weight_collections",
    "trainable", "cols_to_vars",
)  # fmt: skip
_LOOKUPS = {
    "tf.nn.embedding_lookup": (
        "params", "ids", "partition_strategy", "name", "validate_indices", "max_norm",
    ),
    "tf.gather": (
        "params", "indices", "validate_indices", "name", "axis", "batch_dims",
    ),
}  # fmt: skip
_STRANGE = (
    "collections", "partitioner", "custom_getter", "constraint", "synchronization",
    "aggregation", "variable_def", "expected_shape", "import_scope",
)  # fmt: skip
_DRAWS = {
    "tf.random_uniform": ("shape", "minval", "maxval", "dtype", "seed", "name"),
    "tf.random_normal": ("shape", "mean", "stddev", "dtype", "seed", "name"),
    "tf.truncated_normal": ("shape", "mean", "stddev", "dtype", "seed", "name"),
}
_STARTS = {
    "uniform": "random_uniform",
    "normal": "random_normal",
    "truncated_normal": "truncated_normal",
}
COLUMNS = ("make_input_layer", "make_linear_model")
_MAKERS = ("get_variable", "new_variable", *COLUMNS)
_BRANCHES = (
    ast.If, ast.For, ast.While, ast.Try, ast.FunctionDef, ast.ListComp, ast.DictComp,
    ast.SetComp, ast.GeneratorExp, ast.Lambda,
)  # fmt: skip
_ROUNDS = tuple({*_BRANCHES} - {ast.If})
_LISTS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp)


@dataclass(frozen=True)
class Weight:
    """How the constructor, or `build`, makes a weight."""

    attribute: str
    code: str
    build: bool = False
    # Its size is known when the call comes to it.
    late: bool = False
    # Source of a layer that looks rows of the weight up.
    table: str | None = None


# Remarks stay in their line where it is no longer; the line is indented yet.
_WIDTH = 76


def move_weights(lifted: Lifted, makers: Sequence[str] = _MAKERS) -> None:
    """Moves variables from the call to the constructor; raises Refused."""
    columns = {"make_input_layer": _input_layer, "make_linear_model": _linear_model}
    _tell_apart(lifted, makers)
    while True:
        made = walk_ast(lifted.call, ast.Call)
        made = [one for one in made if attribute_of_self(one.func) in makers]
        node = min(made, key=place_of, default=None)
        if node is None:
            return
        name = attribute_of_self(node.func)
        lifted.at = node
        if name in columns:
            columns[name](lifted, node)
        else:
            _move(lifted, node)
        lifted.at = None
        lifted.take()


def _tell_apart(lifted: Lifted, makers: Sequence[str]) -> None:
    """Renames weights of the call that have had the same name, one after the other."""
    made: dict[str, list[ast.Assign]] = {}
    for node in walk_ast(lifted.call, ast.Assign):
        value = node.value.func if isinstance(node.value, ast.Call) else node.value
        if attribute_of_self(value) in makers and len(node.targets) == 1:
            made.setdefault(dotted(node.targets[0]), []).append(node)
    taken = {*lifted.locals}
    for name, statements in made.items():
        stores = [one for one in stores_in(lifted.call) if one.id == name]
        reads = [one for one in loads_in(lifted.call) if one.id == name]
        defined = {one: lifted.definition(one, name) for one in reads}
        told = all(isinstance(lifted.above[one], ast.Assign) for one in stores)
        inner = [one for read in reads for one in lifted.around(read)]
        if len(stores) < 2 or not told or None in defined.values() or name == "":
            continue
        if any(isinstance(one, ast.FunctionDef | ast.Lambda) for one in inner):
            continue
        # One keeps its name: it is a loop's, whose rounds go on naming it.
        statements.sort(key=lambda one: loop_around(lifted, one) is not None)
        for one in statements[: len(stores) - 1]:
            new = fresh(name, taken)
            taken.add(new)
            for place in (one.targets[0], *(r for r in reads if defined[r] is one)):
                lifted.source.put(place, new)
    lifted.take()


def _move(lifted: Lifted, node: ast.Call) -> None:
    """Moves a variable to where the constructor, or `build`, makes it."""
    statement = lifted.statement(node)
    loop = loop_around(lifted, statement) if _is_named(lifted, statement) else None
    lifted.each_round = {n.id for n in names_in(loop.target)} if loop else set()
    new = attribute_of_self(node.func) == "new_variable"
    weight = _new_variable(lifted, node) if new else _get_variable(lifted, node)
    lifted.each_round = set()
    if loop is not None and not weight.late:
        move_rounds(lifted, loop, statement, weight)
        return
    if weight.late:
        reads = _reads(lifted, node, statement)
        _make_late(lifted, statement, weight)
        _read(lifted, node, statement, reads, f"self.{weight.attribute}")
        return
    if weight.table is not None and _lookup(lifted, node, weight):
        return
    tests = _tests(lifted, node, f"`{weight.attribute}`")
    if weight.build:
        tests = [lifted.in_build(one) or "" for one in tests]
    lines = [f"{'    ' * depth}if {test}:" for depth, test in enumerate(tests)]
    line = f"{'    ' * len(tests)}self.{weight.attribute} = {weight.code}"
    reads = _reads(lifted, node, statement)
    remark = lifted.source.behind(statement)
    if reads is not None and len(line + remark) < _WIDTH:
        line += remark
    lines.append(line)
    if weight.build:
        lifted.add_to_build(lines)
    else:
        lifted.add_to_init(lines, node)
    _read(lifted, node, statement, reads, f"self.{weight.attribute}")


def _make_late(lifted: Lifted, statement: ast.stmt, weight: Weight) -> None:
    """Makes a weight where the call first comes to it."""
    if any(isinstance(one, _ROUNDS) for one in lifted.around(statement)):
        raise Refused(f"`{weight.attribute}` follows from a tensor in a loop")
    name = f"self.{weight.attribute}"
    lifted.add_to_init([f"{name} = None"], statement)
    lifted.source.add(
        statement,
        f"if {name} is None:",
        f"    with {lifted.tf}.init_scope():",
        f"        {name} = {weight.code}",
    )


def _read(
    lifted: Lifted,
    node: ast.Call,
    statement: ast.stmt,
    reads: list[ast.Name] | None,
    code: str,
) -> None:
    """Puts what reads a weight in the place of what made it."""
    if reads is None:
        lifted.source.put(node, code)
        return
    for one in reads:
        lifted.source.put(one, code)
    lifted.source.drop(statement)


def _reads(
    lifted: Lifted, node: ast.Call, statement: ast.stmt
) -> list[ast.Name] | None:
    """The names that stand for what a statement makes; None if it is not clear."""
    if not isinstance(statement, ast.Assign) or statement.value is not node:
        return None
    name = dotted(statement.targets[0])
    reads = [one for one in loads_in(lifted.call) if one.id == name]
    if _is_named(lifted, statement):
        return reads
    found = [lifted.definition(one, name) for one in reads]
    if None in found or not name:
        return None
    return [one for one, made in zip(reads, found, strict=True) if made is statement]


def _tests(lifted: Lifted, node: ast.AST, what: str) -> list[str]:
    """Tests around a weight, which the constructor asks too."""
    found: list[str] = []
    inside: list[ast.If] = []
    for block in lifted.around(node):
        if not isinstance(block, _BRANCHES):
            continue
        if not isinstance(block, ast.If):
            raise Refused(f"{what} is made in a loop or a branch")
        if any(node in walk_ast(one) for one in block.body):
            inside = [one for one in inside if not _exclude(one.test, block.test)]
            found += [_other(lifted, one, what) for one in inside]
            found.append(lifted.for_init(lifted.of(block.test), what))
            inside = []
        else:
            inside.append(block)
    return found + [_other(lifted, one, what) for one in inside]


def _other(lifted: Lifted, block: ast.If, what: str) -> str:
    """That the other branch is taken."""
    return f"not ({lifted.for_init(lifted.of(block.test), what)})"


def _arguments(lifted: Lifted, node: ast.Call, names: Sequence[str]) -> dict[str, str]:
    function = "tf.get_variable" if names is GET_VARIABLE else "tf.Variable"
    bound = arguments_of(node, names, function).items()
    return {key: lifted.of(value) for key, value in bound}


def _attribute(lifted: Lifted, node: ast.Call, given: dict[str, str]) -> str:
    """A name for a weight, after what TensorFlow called it, or what reads it."""
    named = _plain_text(given.get("name"))
    wanted = named.rpartition("/")[2]
    statement = lifted.statement(node)
    if not wanted.isidentifier() and isinstance(statement, ast.Assign):
        above = lifted.above[node]
        wanted = lifted.of(statement.targets[0])
        if above is not statement and not isinstance(above, _LISTS):
            wanted = "weight"
        elif isinstance(above, ast.Dict):
            key = literal(ast.unparse(above.keys[above.values.index(node)] or node))
            wanted = f"{wanted}_{key}" if isinstance(key, str) else wanted
    wanted = wanted.lower() if wanted.isupper() else wanted
    attribute = lifted.fresh(wanted)
    for name in _STRANGE:
        if not is_absent(given.get(name)):
            raise Refused(f"the weight `{attribute}` is made with `{name}`")
    if literal(given.get("validate_shape", "True")) is not True:
        raise Refused(f"the weight `{attribute}` is made without a shape")
    return attribute


def _new_variable(lifted: Lifted, node: ast.Call) -> Weight:
    given = _arguments(lifted, node, _VARIABLE)
    attribute = _attribute(lifted, node, given)
    late, start = False, given["initial_value"]

    def moved(code: str) -> str:
        return lifted.for_init(code, f"the weight `{attribute}`")

    try:
        start = moved(start)
    except Refused:
        late = True
    names = ("trainable", "name", "dtype", "constraint", "shape")
    code = call(
        f"{lifted.tf}.Variable",
        start,
        **{name: moved(given[name]) for name in names if name in given},
    )
    if late:
        return Weight(attribute, code, late=True)
    return Weight(attribute, code, table=_table_of_draws(lifted, given, code))


def _table_of_draws(lifted: Lifted, given: dict[str, str], code: str) -> str | None:
    """A layer that looks rows up, for a variable that is drawn at once."""
    node = parsed(given["initial_value"])
    if not isinstance(node, ast.Call) or {*given} - {"initial_value", "name"}:
        return None
    names = _DRAWS.get(lifted.symbol(dotted(node.func)) or "")
    if names is None or len(node.args) > len(names):
        return None
    said = dict(zip(names, map(ast.unparse, node.args), strict=False))
    said |= {str(one.arg): ast.unparse(one.value) for one in node.keywords}
    said.pop("name", None)
    sizes = parsed(said.pop("shape", "0"))
    if not isinstance(sizes, (ast.List, ast.Tuple)) or len(sizes.elts) != 2:
        return None
    kind = dotted(node.func).rpartition(".")[2].removeprefix("random_")
    function = f"{lifted.tf}.{_STARTS[kind]}_initializer"
    try:
        start = initializer(call(function, **said), lifted)
        code = call(
            "tf_keras.layers.Embedding",
            *(ast.unparse(one) for one in sizes.elts),
            embeddings_initializer=start,
            name=given.get("name") if lifted.module.named else None,
        )
        return lifted.for_init(code, "a table")
    except Refused:
        return None


def _place(lifted: Lifted, code: str, what: str) -> tuple[str, str]:
    """What a value is for the constructor; or for "build", or "late" in the call."""
    for place, moved in (("", lifted.for_init), ("build", lifted.for_build)):
        try:
            return place, moved(code, what)
        except Refused:
            continue
    return "late", code


def _size(lifted: Lifted, code: str, what: str) -> tuple[str, str]:
    """A size, as `_place` tells."""
    place, size = _place(lifted, code, what)
    if place == "build":
        node = parsed(size)
        one = isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)
        size = lifted.in_build(f"[{size}]" if one else size) or ""
    return place, size


def _numbers(lifted: Lifted, shape: str) -> str:
    """A shape of whole numbers: TensorFlow 1 took ``n / 2`` and texts for them."""
    text = Text(f"{shape}\n")
    given = {one.arg for one in lifted.init.args.args if lifted.module.splits}
    sizes = getattr(text.body[0], "value", None)
    for size in getattr(sizes, "elts", ()):
        name = size.id if isinstance(size, ast.Name) else None
        halved = isinstance(size, ast.BinOp) and isinstance(size.op, ast.Div)
        if halved or (attribute_of_self(size) or name) in given:
            text.put(size, f"int({text.of(size)})")
    return text.done().strip()


def _get_variable(lifted: Lifted, node: ast.Call) -> Weight:
    given = _arguments(lifted, node, GET_VARIABLE)
    if lifted.each_round:
        check_names(lifted, node, given.get("name", ""))
    attribute = _attribute(lifted, node, given)
    what = f"the weight `{attribute}`"

    def moved(name: str) -> str | None:
        code = given.get(name)
        if code is None or is_absent(code):
            return None
        return lifted.for_init(lifted.value(code), what)

    kind = lifted.symbol(given.get("dtype", "x")) or given.get("dtype", "tf.float32")
    whole = kind in ("tf.int32", "tf.int64", "tf.bool")
    # Where it is as its input is, models have numbers of one kind.
    as_input = kind.endswith(".dtype") and lifted.symbol(kind) is None
    if kind != "tf.float32" and not whole and not as_input:
        raise Refused(f"{what} is of type `{kind}`")
    first, start = "", given.get("initializer")
    if is_absent(start):
        start = None
    else:
        first, start = _place(lifted, lifted.value(start or ""), what)
    penalty = regularizer(moved("regularizer"), lifted)
    trainable = moved("trainable")
    trainable = None if trainable == "True" else trainable
    name = moved("name")
    if is_absent(given.get("shape")):
        if start is None or penalty is not None:
            raise Refused(f"{what} is made without a shape")
        code = call(f"{lifted.tf}.Variable", start, name=name, trainable=trainable)
        return Weight(attribute, code)
    began = None if start is None else initializer(start, lifted)
    if began == lifted.text("glorot_uniform"):
        began = None
    shape = _numbers(lifted, given["shape"])
    place, size = _size(lifted, shape, what)
    if first == "late" != place:
        place, size = "late", shape
    elif first and not place:
        place, size = "build", lifted.in_build(size) or ""
    if place:
        # These know no parameters of the constructor.
        began, name = lifted.in_build(began), lifted.in_build(name)
        penalty = lifted.in_build(penalty)
    code = call(
        "self.add_weight",
        name or "",
        size,
        dtype=given["dtype"] if whole else None,
        initializer=began,
        regularizer=penalty,
        trainable=trainable,
    )
    found = Weight(attribute, code, place == "build", place == "late")
    sizes = parsed(size)
    if not isinstance(sizes, (ast.List, ast.Tuple)) or len(sizes.elts) != 2:
        return found
    if place or whole or trainable:
        return found
    parts = [ast.get_source_segment(f"({size}\n)", one) or "" for one in sizes.elts]
    table = call(
        "tf_keras.layers.Embedding",
        *parts,
        embeddings_initializer=began or lifted.text("glorot_uniform"),
        embeddings_regularizer=penalty,
        name=name if lifted.module.named else None,
    )
    return replace(found, table=table)


def _lookup(lifted: Lifted, node: ast.Call, weight: Weight) -> bool:
    """Makes a layer of a table whose only use looks rows up."""
    _tests(lifted, node, "a table")
    statement = lifted.statement(node)
    used: ast.AST = node
    local: ast.stmt | None = None
    if isinstance(statement, ast.Assign) and statement.value is node:
        reads = _reads(lifted, node, statement)
        if reads is None or len(reads) != 1:
            return False
        used, local = reads[0], statement
    above = lifted.above[used]
    above = lifted.above[above] if isinstance(above, ast.keyword) else above
    if not isinstance(above, ast.Call):
        return False
    symbol = lifted.symbol(lifted.of(above.func)) or ""
    loops = [one for one in lifted.around(above) if isinstance(one, _BRANCHES)]
    if symbol not in _LOOKUPS or loops:
        return False
    given = arguments_of(above, _LOOKUPS[symbol], symbol)
    if given.get("params") is not used:
        return False
    if not {*given} <= {"params", "ids", "indices", "name"}:
        return False
    ids = lifted.of(given.get("ids") or given["indices"])
    lifted.add_to_init([f"self.{weight.attribute} = {weight.table}"], above)
    lifted.source.put(above, f"self.{weight.attribute}({ids})")
    if local is not None:
        lifted.source.drop(local)
    return True


def _is_named(lifted: Lifted, statement: ast.stmt) -> bool:
    """The statement gives something to a name that has nothing else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    (target,) = statement.targets
    return (
        isinstance(target, ast.Name) and lifted.value_of(target.id) is statement.value
    )


def _plain_text(code: str | None) -> str:
    """A string without what is put into it; empty where it is none."""
    node = parsed(code or "None")
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [one.value for one in parts if isinstance(one, ast.Constant)]
    text = "".join(one for one in texts if isinstance(one, str))
    return re.sub("__+", "_", text).strip("_") if len(parts) > 1 else text


def _exclude(first: ast.expr, second: ast.expr) -> bool:
    """``x == "a"`` and ``x == "b"``"""
    return (
        isinstance(first, ast.Compare)
        and isinstance(second, ast.Compare)
        and [type(one) for one in (*first.ops, *second.ops)] == [ast.Eq, ast.Eq]
        and ast.unparse(first.left) == ast.unparse(second.left)
        and all(
            isinstance(one, ast.Constant)
            for one in (*first.comparators, *second.comparators)
        )
    )


def _input_layer(lifted: Lifted, node: ast.Call) -> None:
    function = "tf.feature_column.input_layer"
    given = arguments_of(node, _INPUT_LAYER, function)
    if not {*given} <= {"features", "feature_columns", "trainable"}:
        raise Refused(f"`{function}` fills a dictionary")
    kind = lifted.columns_layer("DenseFeatures")
    _columns(lifted, node, given, kind, function)


def _linear_model(lifted: Lifted, node: ast.Call) -> None:
    function = "tf.feature_column.linear_model"
    given = arguments_of(node, _LINEAR, function)
    names = {"features", "feature_columns", "units", "sparse_combiner"}
    if lifted.module.shared_columns:
        raise Refused(f"`{function}` with columns that share an embedding")
    if not {*given} <= names:
        raise Refused(f"`{function}` with other arguments than columns and units")
    _columns(lifted, node, given, "LinearModel", function)


def _columns(
    lifted: Lifted, node: ast.Call, given: dict[str, ast.expr], kind: str, what: str
) -> None:
    """Puts a layer of feature columns in the place of a function."""
    said = {
        name: lifted.for_init(lifted.of(value), f"`{what}`")
        for name, value in given.items()
        if name != "features"
    }
    attribute = lifted.fresh(what.rpartition(".")[2])
    code = call(
        kind,
        said["feature_columns"],
        units=said.get("units"),
        combiner=said.get("sparse_combiner"),
        trainable=said.get("trainable"),
    )
    lifted.add_to_init([f"self.{attribute} = {code}"], node)
    lifted.source.put(node, f"self.{attribute}({lifted.of(given['features'])})")


def sequence_input(lifted: Lifted, node: ast.Call, uses: Sequence[ast.Call]) -> None:
    """Puts a layer in the place of what a class calls for its columns of sequences."""
    codes: set[str] = set()
    for use in uses:
        given = lifted.given(node, use, _INPUT_LAYER[:4], SEQUENCE_INPUT)
        if not {*given} <= {"features", "feature_columns"}:
            raise Refused(f"`{SEQUENCE_INPUT}` with other arguments than columns")
        columns = lifted.of(given["feature_columns"])
        codes.add(lifted.for_init(columns, f"`{SEQUENCE_INPUT}`"))
        lifted.source.put(use, f"{lifted.of(use.func)}({lifted.of(given['features'])})")
    if len(codes) != 1:
        raise Refused(f"`{SEQUENCE_INPUT}` is called in several ways")
    lifted.source.put(
        node, f"{lifted.columns_layer('SequenceFeatures')}({codes.pop()})"
    )
