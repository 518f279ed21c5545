"""Input functions: what they return, and what they read through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import libcst as cst

from ...code.arguments import is_none
from ...code.tree import Statement, walk
from ...names.resolver import Resolver
from ...names.scopes import BindingKind
from .page import Page, Region, root_of
from .peeks import peeks
from .word import Handler, Word, arguments, in_sight, moved, taken

# Methods of data sets that are given functions of elements.
_OF_ELEMENTS = ("apply", "filter", "flat_map", "interleave", "map")
# What reads files when it is called, where a graph reads them when it is run.
_READS = ("tf.read_file", "tf.io.read_file", "tf.data.Dataset.list_files")
_MAKERS = ("make_one_shot_iterator", "make_initializable_iterator")
_QUEUES = ("numpy_input_fn", "pandas_input_fn")
# Calls that give tensors, or several by their names.
_OF_TENSORS = ("dict", "tf.constant", "tf.convert_to_tensor")


def datasets(page: Page) -> None:
    """Returns data sets where an iterator's tensors were returned."""
    seen = _peeked(page)
    for call in page.scopes.calls.values():
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value == "get_next":
            _Tensors(page, call, seen).rewrite()
        elif _unpacks_queue(page, call) and page.function(call) is not None:
            _Tensors(page, call, seen).rewrite()
            if call not in page.rewritten:
                page.refuse(call, "what an input function ({}) gives is taken apart")
    for call in page.scopes.calls.values():
        data = _dataset(page, call)
        if data is not None and not page.is_rewritten(call):
            if _printed(page, call, data):
                continue
            page.refuse(
                call, "an iterator ({}) is not read in its input function alone"
            )


def _unpacks_queue(page: Page, call: cst.Call) -> bool:
    """``features, labels = fn()`` of a function that reads arrays."""
    made = page.value(call.func) or call.func
    holder = page.parent(call)
    return (
        isinstance(made, cst.Call)
        and not call.args
        and (page.symbol(made.func) or "").rpartition(".")[2] in _QUEUES
        and isinstance(holder, cst.Assign)
        and isinstance(holder.targets[0].target, cst.Tuple)
    )


def unread(page: Page) -> None:
    """Refuses calls that only built a graph which nobody ran, and would read files."""
    for read in page.calls(page.module, _READS):
        function = page.function(read)
        if not isinstance(function, cst.FunctionDef):
            continue
        why = f"`{function.name.value}` is called for nothing ({{}}), and reads files"
        for call in map(page.call_of, page.loads_of(function)):
            if call is not None and isinstance(page.parent(call), cst.Expr):
                page.refuse(call, why)


def _printed(page: Page, made: cst.Call, data: cst.BaseExpression) -> bool:
    """The next batch of an iterator that nothing else reads, only to print it."""
    first = page.parent(made)
    call = page.call_of(first) if isinstance(first, cst.Attribute) else None
    if call is None or not isinstance(first, cst.Attribute):
        return False
    if first.attr.value != "get_next" or call.args:
        return False
    holder = page.parent(call)
    if not isinstance(holder, cst.Assign) or len(holder.targets) != 1:
        return False
    names = {n.value for n in walk(holder.targets[0].target, cst.Name)}
    readers = [
        page.statement(read) for name in names for read in page.reads(holder, name)
    ]
    if not all(
        isinstance(one, cst.SimpleStatementLine)
        and isinstance(one.body[0], cst.Expr)
        and page.source(one.body[0]).startswith("print(")
        for one in readers
    ):
        return False
    page.put(call, "next(iter(", data, "))")
    return True


def _peeked(page: Page) -> set[cst.Call]:
    """Rewrites sessions that look at data; calls of input functions for them."""
    seen: set[cst.Call] = set()
    for peek in peeks(page):
        made = peek.made()
        call = made.value if made is not None else None
        if not isinstance(call, cst.Call) or made is None:
            continue
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value == "get_next":
            tensors = _Tensors(page, call, set())
            others = tensors.others(peek.gone)
            if tensors.data is None or tensors.made is None or others is None:
                continue
            readers = peek.readers(made)
            if readers and not _returns(page, readers, made, tensors.data):
                continue
            if readers and len(peek.runs) == 1:
                peek.rewrite_one(made, tensors.data)
                page.put(readers[0], "return ", tensors.data)
            elif not readers:
                peek.rewrite(made, tensors.data)
            else:
                continue
            for one in others:
                page.drop_statement(one)
            page.rewritten.update((call, tensors.made))
        elif _gives_data(page, call):
            seen.add(call)
            peek.rewrite(made, call)
    return seen


def _returns(
    page: Page,
    readers: Sequence[cst.CSTNode],
    made: cst.Assign,
    data: cst.BaseExpression,
) -> bool:
    """What is read is returned as it is, of a data set that has a name."""
    first = readers[0]
    return (
        len(readers) == 1
        and isinstance(first, cst.Return)
        and first.value is not None
        and isinstance(data, cst.Name)
        and _same(page, made.targets[0].target, first.value)
    )


def _gives_data(page: Page, call: cst.Call) -> bool:
    """A function of the program that returns what it reads of a data set."""
    function = page.resolver.definition(call.func) or _made_by(page, call.func)
    if not isinstance(function, cst.FunctionDef):
        return False
    return any(
        page.function(one) is function
        for node, one in page.scopes.calls.items()
        if isinstance(node, cst.Attribute) and node.attr.value == "get_next"
    )


def _made_by(page: Page, func: cst.BaseExpression) -> cst.CSTNode | None:
    """The function within another that a call of this one has returned."""
    made = page.value(func)
    maker = page.resolver.definition(made.func) if isinstance(made, cst.Call) else None
    told = [
        one.value
        for one in (walk(maker) if isinstance(maker, cst.FunctionDef) else ())
        if isinstance(one, cst.Return) and page.function(one) is maker
    ]
    return page.resolver.definition(told[0]) if len(told) == 1 else None


def _dataset(page: Page, made: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The data set that a call makes an iterator of."""
    if not isinstance(made, cst.Call):
        return None
    symbol = page.symbol(made.func)
    if symbol in [f"tf.data.{name}" for name in _MAKERS]:
        return made.args[0].value if made.args else None
    func = made.func
    if isinstance(func, cst.Attribute) and func.attr.value in _MAKERS:
        return func.value if symbol is None else None
    return None


class _Tensors:
    """The tensors that a function gets of an iterator, and what it makes of them."""

    def __init__(self, page: Page, call: cst.Call, seen: set[cst.Call]) -> None:
        self.page = page
        self.call = call
        # Calls of input functions whose data is looked at, by now as data.
        self.seen = seen
        self.iterator: cst.BaseExpression = call
        self.made: cst.Call | None = call
        self.data: cst.BaseExpression | None = call
        if isinstance(call.func, cst.Attribute):
            self.iterator = call.func.value
            made = page.value(self.iterator)
            self.made = made if isinstance(made, cst.Call) else None
            self.data = _dataset(page, made)
        self.function = page.function(call)

    def rewrite(self) -> None:
        """Returns the data set, mapped by what is done with its elements."""
        if self.data is None or self.made is None or self.function is None:
            return
        if self.call in self.page.rewritten:
            return
        if not _is_final(self.page, self.function, self.seen):
            return
        statements = self.others()
        if statements is None:
            return
        holder = self.page.parent(self.call)
        returned = isinstance(holder, cst.Return) or (
            isinstance(self.function, cst.Lambda) and self.function.body is self.call
        )
        if not returned and not self._mapped(holder, statements):
            return
        if returned:
            self.page.put(self.call, self.data)
        for one in statements:
            self.page.drop_statement(one)
        self.page.rewritten.add(self.made)

    def others(self, known: Sequence[Statement] = ()) -> list[Statement] | None:
        """Statements that make the iterator, or see to it; None if others read it."""
        binding = self.page.assigned(self.iterator)
        if binding is None or binding.value is None:
            return [] if self.made is self.iterator else None
        found = [self.page.statement(binding.value)]
        for read in self.page.uses(binding):
            statement = self.page.statement(read)
            if read is self.iterator or statement in known:
                continue
            if not self._initializes(statement, read):
                return None
            found.append(statement)
        return found

    def _initializes(self, statement: Statement, read: cst.Name) -> bool:
        """A collection, or a hook's function, that gets what starts the iterator."""
        page = self.page
        if not isinstance(statement, cst.SimpleStatementLine):
            return False
        small = statement.body[0]
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            return page.symbol(small.value.func) == "tf.add_to_collection"
        value = small.value if isinstance(small, cst.Assign) else None
        run = value.body if isinstance(value, cst.Lambda) else None
        if not isinstance(run, cst.Call) or not isinstance(run.func, cst.Attribute):
            return False
        args = arguments(page, run, ("fetches", "feed_dict"))
        if run.func.attr.value != "run" or args is None or "fetches" not in args:
            return False
        if page.source(args["fetches"].value) != f"{read.value}.initializer":
            return False
        fed = args["feed_dict"].value if "feed_dict" in args else None
        return is_none(fed) or (isinstance(fed, cst.Dict) and self._fed(fed))

    def _fed(self, fed: cst.Dict) -> bool:
        """Placeholders are what they were fed with."""
        page = self.page
        pairs = []
        for one in fed.elements:
            made = page.value(one.key) if isinstance(one, cst.DictElement) else None
            if not isinstance(made, cst.Call):
                return False
            args = arguments(page, made, ("dtype", "shape", "name")) or {}
            if page.symbol(made.func) != "tf.placeholder" or "dtype" not in args:
                return False
            pairs.append((made, one.value, args["dtype"].value))
        for made, value, kind in pairs:
            page.forget(made.func)
            if page.source(kind) == f"{page.source(value)}.dtype":
                page.put(made, value)
            else:
                constant = page.tf(made.func, "constant")
                page.put(made, f"{constant}(", value, ", ", kind, ")")
        return True

    def _mapped(self, holder: cst.CSTNode | None, dropped: Sequence[Statement]) -> bool:
        """``x, y = iterator.get_next()`` and statements that end in a return."""
        page = self.page
        statement = page.statement(self.call)
        block = list(page.block(statement))
        if not isinstance(holder, cst.Assign) or len(holder.targets) != 1:
            return False
        place = block.index(statement)
        rest = block[place + 1 :]
        own, within = len(rest), page.parent(page.parent(statement) or statement)
        while isinstance(within, cst.With):
            behind = list(page.block(within))
            rest += behind[behind.index(within) + 1 :]
            within = page.parent(page.parent(within) or within)
        last = rest[-1] if rest else None
        if not isinstance(last, cst.SimpleStatementLine) or len(last.body) != 1:
            return False
        returned = last.body[0]
        if not isinstance(returned, cst.Return) or returned.value is None:
            return False
        target = holder.targets[0].target
        start = page.span(statement)[0]
        end = page.span(returned)[1]
        assert self.data is not None
        if len(rest) == own == 1 and _same(page, target, returned.value):
            page.put_span(start, end, "return ", self.data)
            return True
        left = [one for one in rest if one not in dropped]
        if left == [last] and _same(page, target, returned.value):
            page.drop_statement(statement)
            page.put(returned.value, self.data)
            return True
        names = _parameters(page, target)
        if names is None or len(rest) > own:
            return False
        indent = page.indent(statement)
        data = self.data
        parts = ["." if isinstance(data, (cst.Name, cst.Attribute, cst.Call)) else ""]
        if not parts[0]:
            return False
        if len(rest) == 1:
            text = page.source(returned.value)
            bare = isinstance(returned.value, cst.Tuple) and not returned.value.lpar
            value = (
                f"({text})" if bare else page.text[slice(*page.outer(returned.value))]
            )
            line = f"{indent}return {page.source(data)}.map(lambda {names}: {value})"
            if "\n" not in line and len(line) <= page.width:
                around = ("(", ")") if bare else ("", "")
                inner = (around[0], returned.value, around[1])
                page.put_span(
                    start, end, "return ", data, f".map(lambda {names}: ", *inner, ")"
                )
                return True
        name = page.free("prepare", "prepare_batch")
        first = page.text.find("\n", page.span(statement)[1]) + 1
        region = Region(first, end, len(page.step))
        if any(row.count('"""') % 2 for row in page.text[first:end].splitlines()):
            return False  # a text over several lines
        above = page.newline if place else ""
        page.put_span(
            start - len(indent),
            end,
            f"{above}{indent}def {name}({names}):{page.newline}",
            region,
            f"{page.newline * 2}{indent}return ",
            data,
            f".map({name})",
        )
        return True


def _same(page: Page, target: cst.CSTNode, value: cst.CSTNode) -> bool:
    """What is returned is what came from the iterator, in the same order."""
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        return len(target.elements) == len(value.elements) and all(
            _same(page, one.value, other.value)
            for one, other in zip(target.elements, value.elements, strict=True)
        )
    return (
        isinstance(target, cst.Name)
        and isinstance(value, cst.Name)
        and target.value == value.value
    )


def _parameters(page: Page, target: cst.BaseExpression) -> str | None:
    """The parameters of a function of an element."""
    if isinstance(target, cst.Name):
        return target.value
    if not isinstance(target, cst.Tuple):
        return None
    names = [one.value for one in target.elements]
    named = all(isinstance(one, cst.Name) for one in names)
    return ", ".join(map(page.source, names)) if named else None


def _is_final(
    page: Page,
    function: cst.FunctionDef | cst.Lambda,
    seen: set[cst.Call],
    depth: int = 0,
) -> bool:
    """What a function returns goes to a Trainer, for all that is seen of it."""
    if isinstance(function, cst.Lambda):
        return True
    if _taken_apart(page, function):
        return False
    name = function.name.value
    local = page.function(function) is not None
    for node, call in page.scopes.calls.items():
        called = (isinstance(node, cst.Name) and node.value == name) or (
            isinstance(node, cst.Attribute) and node.attr.value == name and not local
        )
        if not called or call in seen:
            continue
        holder = page.parent(call)
        outer = page.function(call)
        handed = isinstance(holder, cst.Return) or (
            isinstance(outer, cst.Lambda) and outer.body is call
        )
        if not handed or outer is None or depth > 4:
            return False
        if outer is not function and not _is_final(page, outer, seen, depth + 1):
            return False
    return True


def _taken_apart(page: Page, function: cst.FunctionDef) -> bool:
    """Another function is given this one, and works on what it returns."""
    around = [function, *page.ancestors(function)]
    names = {one.name.value for one in around if isinstance(one, cst.FunctionDef)}
    for node, call in page.scopes.calls.items():
        bound = page.resolver.bindings(node) if isinstance(node, cst.Name) else ()
        given = any(one.kind is BindingKind.PARAMETER for one in bound)
        if not given or isinstance(page.parent(call), cst.Return):
            continue
        takers = [
            one for one in page.ancestors(call) if isinstance(one, cst.FunctionDef)
        ]
        for other in page.scopes.calls.values():
            if page.resolver.definition(other.func) in takers and any(
                one.value in names for arg in other.args for one in walk(arg, cst.Name)
            ):
                return True
    return False


def asked(page: Page) -> Iterator[str]:
    """What input functions want of the Trainer that calls them, as words for parts."""
    called = {
        node.value if isinstance(node, cst.Name) else node.attr.value
        for one in page.files
        for node in one.resolver.scopes.calls
        if isinstance(node, (cst.Name, cst.Attribute))
    }
    handed, named = _handed_about(page)
    for node in page.scopes.opened:
        if not isinstance(node, (cst.FunctionDef, cst.Lambda)):
            continue
        names = {one.name.value for one in node.params.params}
        name = node.name.value if isinstance(node, cst.FunctionDef) else ""
        wanted = name in handed if "self" in names else name not in called - handed
        if wanted and not names & {"features", "labels", "outputs"}:
            for word in ("params", "mode", "config"):
                if word in names:
                    yield f"input_fn({word})"
    given: list[cst.BaseExpression] = []
    for node in page.scopes.opened:
        if isinstance(node, cst.Lambda) and not node.params.params:
            given.append(node.body)
        elif isinstance(node, cst.FunctionDef):
            needed = {one.name.value for one in node.params.params if not one.default}
            needed -= {"self", "params", "mode", "config", "input_context"}
            if node.name.value in (named if needed else handed | named):
                given += _returned(page, node)
    if any(_are_tensors(page, one) for one in given):
        yield "input_fn(tensors)"


def _handed_about(page: Page) -> tuple[set[str], set[str]]:
    """Names of functions that are handed about, or called by lambdas and partials."""
    handed, called = set[str](), set[str]()
    for resolver in [one.resolver for one in page.files]:
        found = resolver.once(_handed_in, partial(_handed_in, resolver))
        handed |= found[0]
        called |= found[1]
    return handed, called


def _handed_in(resolver: Resolver) -> tuple[set[str], set[str]]:
    """The same of one file."""
    handed, called = set[str](), set[str]()
    scopes = resolver.scopes
    other: set[cst.CSTNode] = {*scopes.calls}
    for call in scopes.calls.values():
        if isinstance(call.func, cst.Attribute) and _last(call.func) in _OF_ELEMENTS:
            other.update(arg.value for arg in call.args)
    for node in resolver.each(cst.Lambda, cst.Call, cst.Attribute, cst.Name):
        if isinstance(node, cst.Lambda) and not node.params.params:
            called.add(_last(getattr(node.body, "func", None)))
        elif isinstance(node, cst.Call) and node.args and node not in other:
            if resolver.qualified(node.func) == "functools.partial":
                called.add(_last(node.args[0].value))
        elif isinstance(node, cst.Attribute) or node in scopes.loads:
            handed.update([_last(node)] if node not in other else ())
    return handed, called


def _last(node: cst.CSTNode | None) -> str:
    """The last name of a chain."""
    return getattr(getattr(node, "attr", node), "value", "")


def _are_tensors(page: Page, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Tensors by name, not a data set of them, also as another function gives them."""
    value = page.value(node) or node
    if isinstance(value, (cst.Tuple, cst.Dict, cst.DictComp)):
        return True
    if not isinstance(value, cst.Call) or depth > 4:
        return False
    if (page.symbol(value.func) or page.source(value.func)) in _OF_TENSORS:
        return True
    found = _returned(page, page.resolver.definition(value.func))
    return any(_are_tensors(page, one, depth + 1) for one in found)


def _returned(page: Page, function: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """What a function of the file returns, where that stays as it is."""
    if not isinstance(function, cst.FunctionDef):
        return []
    return [
        one.value
        for one in walk(function.body, cst.Return)
        if one.value is not None
        and page.function(one) is function
        and not page.is_replaced(one)
    ]


# -- lookup tables ---------------------------------------------------------------------

_TABLES: dict[str, Sequence[str]] = {
    "index_table_from_tensor": (
        *("mapping", "num_oov_buckets", "default_value", "hasher_spec", "dtype"),
        "name",
    ),
    "index_table_from_file": (
        *("vocabulary_file", "num_oov_buckets", "vocab_size", "default_value"),
        *("hasher_spec", "key_dtype", "name"),
    ),
    "index_to_string_table_from_tensor": ("mapping", "default_value", "name"),
    "index_to_string_table_from_file": (
        *("vocabulary_file", "vocab_size", "default_value", "name"),
    ),
}


def _table(page: Page, word: Word) -> None:
    """Tables that fill themselves, in the place of those that a session fills."""
    name = word.symbol.rpartition(".")[2]
    args = arguments(page, word.call, _TABLES[name]) if word.call is not None else None
    first = None if args is None else args.pop(_TABLES[name][0], None)
    if args is None or first is None or word.call is None:
        page.refuse(word.node, f"the arguments of `{name}` ({{}}) cannot be told")
        return
    args.pop("name", None)
    odd = args.keys() & {"hasher_spec", "dtype", "key_dtype", "vocab_size"}
    given = {
        key: page.source(arg.value)
        for key, arg in args.items()
        if not is_none(arg.value)
    }
    words = first.value
    if isinstance(words, cst.Call) and page.symbol(words.func) == "tf.constant":
        words = words.args[0].value if len(words.args) == 1 else words
    if odd or (not name.endswith("_file") and not _may_be_twice(page, words)):
        page.refuse(word.node, f"`{name}` ({{}}) of what is computed: give it a list")
        return
    lookup = page.tf(word.node, "lookup")
    kind = page.tf(word.node, "int64")
    text = page.source(words)
    listed = isinstance(words, (cst.List, cst.Tuple))
    count = len(words.elements) if listed else f"len({text})"  # type: ignore[attr-defined]
    numbers = f"{page.tf(word.node, 'range')}({count}, dtype={kind})"
    if name.endswith("_file"):
        index = f"{lookup}.TextFileIndex"
        lines = [page.tf(word.node, "string"), f"{index}.WHOLE_LINE"]
        places = [kind, f"{index}.LINE_NUMBER"]
        inner = [*places, *lines] if "to_string" in name else [*lines, *places]
        filled = (f"{lookup}.TextFileInitializer", [text, *inner])
    elif name == "index_table_from_tensor":
        filled = (f"{lookup}.KeyValueTensorInitializer", [text, numbers])
    else:
        filled = (f"{lookup}.KeyValueTensorInitializer", [numbers, text])
    buckets = given.get("num_oov_buckets", "0")
    default = given.get(
        "default_value", page.string("UNK") if "to_string" in name else "-1"
    )
    made, last = (f"{lookup}.StaticHashTable", f"default_value={default}")
    if buckets != "0":
        made, last = (f"{lookup}.StaticVocabularyTable", buckets)
    page.forget(word.node)
    page.put(word.call, f"{made}({filled[0]}({', '.join(filled[1])}), {last})")


def _may_be_twice(page: Page, node: cst.BaseExpression) -> bool:
    """A name, or a short list of constants."""
    if isinstance(node, (cst.List, cst.Tuple)):
        constants = all(isinstance(o.value, cst.SimpleString) for o in node.elements)
        return constants and len(page.source(node)) <= 60
    return isinstance(root_of(node), (cst.Name, cst.SimpleString))


def _shuffled(page: Page, word: Word) -> None:
    """tf.contrib.learn shuffles where it is not told whether to."""
    names = ("x", "y", "batch_size", "num_epochs", "shuffle", "queue_capacity")
    call, args = in_sight(page, word, (*names, "num_threads", "target_column"))
    if "shuffle" not in args:
        page.add_argument(call, "shuffle=True")


WORDS: dict[str, Handler] = {
    **{
        f"tf.contrib.data.{name}Dataset": moved(f"data.{name}Dataset")
        for name in ("FixedLengthRecord", "TextLine", "TFRecord")
    },
    **{
        f"tf.{package}.{name}": taken(name, adjust)
        for package, adjust in (
            ("estimator.inputs", None),
            ("contrib.learn.io", _shuffled),
        )
        for name in _QUEUES
    },
    **{f"tf.contrib.lookup.{name}": _table for name in _TABLES},
}
