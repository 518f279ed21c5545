"""The words of one file renamed: no statement moves, no shape is recognised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..plan.code.tree import Tree
from ..project.facts import ParsedModule
from ..project.text import Edit, apply_edits
from ..rules.context import Context
from ..rules.dataset_iterator import METHODS
from ..rules.import_line import imports_tensorflow
from ..symbols.dotted import dotted_name, import_path
from ..symbols.names import canonical
from ..symbols.scopes import BindingKind, ImportUse, Use
from ..symbols.table import lookup, needs_nothing
from .by_hand import handed_about
from .homes import Home, Known
from .keras_v1 import KERAS_V1
from .vocabulary import (
    GRAPH_WORDS,
    Brought,
    Installed,
    Loop,
    Stays,
    Today,
    is_estimator_word,
)

__all__ = ["Kept", "Modules", "Renamed", "renamed"]


@dataclass(frozen=True)
class Modules:
    """How a file imports the modules that stand beside its program.

    ``package`` is what ``from ... import`` names, empty where plain ``import`` does.
    """

    loop: str
    contrib: str
    package: str = ""

    def line(self, module: str, bound: str) -> str:
        """The statement that makes a module known as ``bound``."""
        name = module if bound == module else f"{module} as {bound}"
        return (
            f"from {self.package} import {name}" if self.package else f"import {name}"
        )

    def path(self, module: str) -> str:
        """What ``from ... import name`` names for names of a module."""
        if not self.package or self.package.endswith("."):
            return self.package + module
        return f"{self.package}.{module}"


@dataclass(frozen=True)
class Kept:
    """A place that keeps a program from the loop module."""

    line: int
    symbol: str
    why: str


@dataclass
class Renamed:
    """The new text of a file, what it takes from the modules, what stops it."""

    text: str
    loop: set[str] = field(default_factory=set)
    contrib: set[str] = field(default_factory=set)
    kept: list[Kept] = field(default_factory=list)
    # A package of TF 1 that is handed about as a value and becomes a module.
    as_value: str | None = None
    # The first place that builds a graph, or runs a session, of its own.
    by_hand: Kept | None = None


def renamed(
    parsed: ParsedModule,
    modules: Modules,
    known: Known,
    *,
    for_tf2: bool,
    keras_1: bool = False,
    placeholders: bool = False,
    by_hand: bool = False,
    beside: Sequence[Tree] = (),
    shared_columns: bool = False,
) -> Renamed:
    """The file with every word under its new name.

    ``for_tf2`` says that it was written for TF 2, whose names mean what they say;
    ``keras_1`` that its ``tf.keras`` is TF 1's; ``placeholders`` that some may be made
    outside of a graph; ``shared_columns`` that columns may share an embedding as they
    did in TF 1, which only TF 1's function for a parsing spec knows; ``by_hand`` that
    the program is to go on building graphs around its models. ``beside`` are the other
    files of the program.
    """
    renamer = _Renamer(parsed, modules, known, for_tf2, keras_1)
    renamer.beside = beside
    if by_hand:
        renamer.more["tf.reset_default_graph"] = Loop("reset_default_graph")
        renamer.starts_graph = True
    elif placeholders:
        renamer.more["tf.placeholder"] = Loop("placeholder")
    if shared_columns:
        name = "feature_column.make_parse_example_spec"
        renamer.more[f"tf.{name}"] = Today(f"tf.compat.v1.{name}")
    return renamer.result()


class _Renamer:
    def __init__(
        self,
        parsed: ParsedModule,
        modules: Modules,
        known: Known,
        for_tf2: bool,
        keras_1: bool,
    ) -> None:
        self.context = Context(parsed.source.text, parsed.module, parsed.resolver)
        self.resolver = parsed.resolver
        self.modules = modules
        self.known = known
        self.for_tf2 = for_tf2
        self.keras_1 = keras_1
        # What such a module binds, others import from it.
        self.hands_on = parsed.is_package
        self.found = Renamed(parsed.source.text)
        self.edits: list[Edit] = []
        # Import lines to add, by the module that they import.
        self.imports: dict[str, str] = {}
        self.bound: dict[str, str] = {}
        scopes = self.resolver.scopes
        self.taken = {
            name
            for scope in {scopes.module_scope, *scopes.opened.values()}
            for name in scope.bindings
        } | {name.value for name in scopes.loads}
        self._tree: Tree | None = None
        # First names of the chains that were looked at.
        self.roots: set[cst.Name] = set()
        # Homes that hold for this program only.
        self.more: dict[str, Home] = {}
        # The other files of the program.
        self.beside: Sequence[Tree] = ()
        # The file says that the program builds graphs by hand, if it does.
        self.starts_graph = False
        # Imports of packages, and the names they bind, on which brought names hang.
        self.needed: set[tuple[cst.CSTNode, str]] = set()

    def result(self) -> Renamed:
        places = [place for use in self._uses() if (place := self._place(use))]
        imports = list(self._import_items())
        self.context.want(*(node for _, node, _, _ in places))
        self.context.want(*(item.use.node for item in imports))
        self.context.want(*(item.use.statement for item in imports))
        for use, node, symbol, found in places:
            self._rename(use, node, symbol, found)
        self._rewrite_imports(imports)
        self._open_iterators()
        self._drop_switches()
        if self.starts_graph and self.found.by_hand is not None:
            self.found.loop.add("build_graphs_by_hand")
            self._local(self.modules.loop)
        if self.imports:
            self.edits.insert(0, self._import_edit())
        if self.context.needs_tf is not None:
            from ..rules.import_line import import_edit

            self.edits.insert(0, import_edit(self.context.needs_tf, self.context))
        self.found.text = apply_edits(self.context.text, self.edits)
        return self.found

    @property
    def tree(self) -> Tree:
        """Parents of nodes, which few files are asked for."""
        if self._tree is None:
            self._tree = Tree(self.context.module, self.resolver)
        return self._tree

    def _home(self, symbol: str) -> Home | None:
        found = self.more.get(symbol)
        return found or self.known.home(
            symbol, for_tf2=self.for_tf2, keras_1=self.keras_1
        )

    # -- uses -------------------------------------------------------------------

    def _uses(self) -> Iterator[Use]:
        yield from self.resolver.scopes.uses

    def _place(self, use: Use) -> tuple[Use, cst.CSTNode, str, Home] | None:
        """The longest part of a chain that has a home, and which."""
        node: cst.BaseExpression = use.node
        inside = False
        kept: tuple[Use, cst.CSTNode, str, Home] | None = None
        while True:
            symbol = self.resolver.resolve(node)
            if symbol is None or symbol == "tf":
                return kept
            found = self._home(symbol)
            if found is None and symbol in GRAPH_WORDS and self._is_by_hand(use):
                found = self._by_hand(use, symbol)
            if isinstance(found, Stays):
                kept = kept or (use, node, symbol, found)
            elif found is not None:
                if self._is_package(found) and inside:
                    # A word below a known package that nothing offers.
                    lost = Stays("has no counterpart in a training loop")
                    whole = self.resolver.resolve(use.node) or symbol
                    return kept or (use, use.node, whole, lost)
                return use, node, symbol, found
            elif lookup(symbol) is not None or needs_nothing(symbol):
                return kept  # the symbol rules know it
            if not isinstance(node, cst.Attribute):
                return kept
            inside = True
            node = node.value

    def _is_by_hand(self, use: Use) -> bool:
        """A word of graphs and sessions where there is no graph around it."""
        tree = self.tree
        call = tree.resolver.scopes.calls.get(use.node)
        if call is None:
            return False
        session = not str(self.resolver.resolve(use.node)).startswith("tf.placeholder")
        if session and any(
            arg.keyword is not None and arg.keyword.value == "graph"
            for arg in call.args
        ):
            return False
        for holder in tree.ancestors(call):
            if isinstance(holder, cst.With) and any(
                isinstance(item.item, cst.Call)
                and isinstance(item.item.func, cst.Attribute)
                and item.item.func.attr.value == "as_default"
                for item in holder.items
            ):
                return False
            if not session and isinstance(holder, (cst.FunctionDef, cst.Lambda)):
                return False
        return True

    def _by_hand(self, use: Use, symbol: str) -> Stays | None:
        """A place outside of all graphs; what is called with a model cannot be one."""
        why = GRAPH_WORDS[symbol]
        node = use.node
        name = handed_about(self.tree, node, self.beside)
        if name is not None:
            return Stays(f"{why}, in `{name}`, which is handed about")
        self.context.want(node)
        if self.found.by_hand is None:
            self.found.by_hand = Kept(self._line(node), symbol, why)
        return None

    def _line(self, node: cst.CSTNode) -> int:
        line, _ = self.context.lines.place(self.context.span(node)[0])
        return line

    def _is_package(self, found: Home) -> bool:
        if isinstance(found, Brought):
            return self.known.is_package(found.symbol)
        return isinstance(found, Loop) and not found.name

    def _rename(self, use: Use, node: cst.CSTNode, symbol: str, found: Home) -> None:
        if use.root is not None:
            self.roots.add(use.root)
        if isinstance(found, Stays):
            self._keep(node, symbol, found.why)
            return
        self._note(found)
        assert isinstance(node, (cst.Name, cst.Attribute))
        if isinstance(node, cst.Name):
            if bound := self.resolver.bindings(node):
                self.needed.add((bound[0].node, node.value))
                return  # its import or its assignment is renamed
        elif self._follows(use, node, found):
            return
        if self._is_package(found):
            self.found.as_value = symbol
        self._replace(node, self._spelled(found, use))

    def _keep(self, node: cst.CSTNode, symbol: str, why: str) -> None:
        self.found.kept.append(Kept(self._line(node), symbol, why))

    def _note(self, found: Home) -> None:
        if isinstance(found, Loop) and found.name:
            self.found.loop.add(found.name)
        elif isinstance(found, Brought) and not self.known.is_package(found.symbol):
            self.found.contrib.add(found.symbol)

    def _follows(self, use: Use, node: cst.Attribute, found: Home) -> bool:
        """The chain hangs on a name whose own statement is renamed: it stays so."""
        if use.root is None:
            return False
        bound = self.resolver.bindings(use.root)
        if not bound:
            return False
        package = self.resolver.resolve(use.root)
        if package is None or package == "tf":
            return False
        home = self._home(package)
        if home is None or isinstance(home, (Stays, Today)):
            return False
        if bound[0].kind is BindingKind.IMPORT and isinstance(home, Loop):
            return False  # the import goes, its uses are spelled
        inside = dotted_name(node)
        assert inside is not None
        inside = inside.partition(".")[2]
        if self._name_in(home, found) != inside:
            return False
        self.needed.add((bound[0].node, use.root.value))
        return True

    def _name_in(self, package: Home, found: Home) -> str | None:
        """What a thing is called inside a package, if it is there."""
        if isinstance(package, Loop) and isinstance(found, Loop):
            return found.name if not package.name else None
        if isinstance(package, Brought) and isinstance(found, Brought):
            return self.known.brought_name(found.symbol)
        if isinstance(package, Installed) and isinstance(found, Installed):
            whole = f"{found.module}.{found.name}"
            start = ".".join(part for part in (package.module, package.name) if part)
            if whole.startswith(start + "."):
                return whole[len(start) + 1 :]
        return None

    # -- spelling ----------------------------------------------------------------

    def _replace(self, node: cst.CSTNode, text: str) -> None:
        start, end = self.context.span(node)
        if self.context.text[start:end] != text:
            self.edits.append(Edit(start, end, text))

    def _spelled(self, found: Home, use: Use) -> str:
        """The text of a name at a place."""
        if isinstance(found, Today):
            return self.context.spell(found.symbol, use.scope, use.root)
        module, name = self._module_and_name(found)
        local = self._local(module)
        return f"{local}.{name}" if name else local

    def _module_and_name(self, found: Home) -> tuple[str, str]:
        if isinstance(found, Loop):
            return self.modules.loop, found.name
        if isinstance(found, Brought):
            name = "" if self.known.is_package(found.symbol) else None
            return self.modules.contrib, (
                self.known.brought_name(found.symbol) if name is None else name
            )
        assert isinstance(found, Installed)
        return found.module, found.name

    def _local(self, module: str) -> str:
        """The name under which a module is known in the file."""
        if module not in self.bound:
            last = module.rpartition(".")[2]
            name = _SHORT.get(module) or _SHORT.get(last, last)
            wanted, number = name, 2
            while name in self.taken:
                name, number = f"{wanted}_{number}", number + 1
            self.taken.add(name)
            self.bound[module] = name
            self.imports[module] = self._import_line(module, name)
        return self.bound[module]

    def _import_line(self, module: str, bound: str) -> str:
        if module in (self.modules.loop, self.modules.contrib):
            return self.modules.line(module, bound)
        parent, _, last = module.rpartition(".")
        if not parent:
            return f"import {module}" + (f" as {bound}" if bound != module else "")
        return f"from {parent} import {last}" + (
            f" as {bound}" if bound != last else ""
        )

    # -- imports ------------------------------------------------------------------

    def _import_items(self) -> Iterable[_Item]:
        for use in self.resolver.scopes.imports:
            node = use.node
            if isinstance(node.names, cst.ImportStar):
                continue
            if isinstance(node, cst.ImportFrom) and (node.relative or not node.module):
                continue
            base = import_path(node.module) if isinstance(node, cst.ImportFrom) else ""
            for alias in node.names:
                imported = import_path(alias.name)
                symbol = canonical(f"{base}.{imported}" if base else imported)
                if symbol is None or symbol == "tf":
                    continue
                found = self._home(symbol)
                unknown = isinstance(found, Stays) and _is_private_module(symbol)
                if unknown or (found is None and is_estimator_word(symbol)):
                    found = Loop("")  # a package, whose words are judged one by one
                if found is None:
                    continue
                yield _Item(use, alias, imported, symbol, found)

    def _rewrite_imports(self, items: list[_Item]) -> None:
        statements: dict[cst.CSTNode, list[_Item]] = {}
        for item in items:
            if isinstance(item.found, Stays) and not self._is_unused(item):
                if not self._is_package_of_words(item.symbol):
                    self._keep(item.use.node, item.symbol, item.found.why)
                continue
            statements.setdefault(item.use.node, []).append(item)
        for changed in statements.values():
            self._statement(changed[0].use, {i.alias: i for i in changed})

    def _is_unused(self, item: _Item) -> bool:
        """Nothing in the module reads what an import binds: it can go."""
        name = item.bound.partition(".")[0]
        read = (node.value == name for node in self.resolver.scopes.loads)
        return not self.hands_on and not any(read)

    def _is_package_of_words(self, symbol: str) -> bool:
        """An import of a package whose names are judged where they are used."""
        return (
            is_estimator_word(symbol)
            and symbol.count(".") <= 2
            and (symbol.rpartition(".")[2].islower())
        )

    def _statement(self, use: ImportUse, changed: dict[cst.ImportAlias, _Item]) -> None:
        node = use.node
        assert not isinstance(node.names, cst.ImportStar)
        kept: list[str] = []
        lines: dict[str, list[str]] = {}
        for alias in node.names:
            item = changed.get(alias)
            if item is None:
                kept.append(_alias_text(alias))
                continue
            line = self._moved(item, isinstance(node, cst.Import))
            if line is None:
                if isinstance(node, cst.Import) and alias.asname is None:
                    kept.append("tensorflow")  # which it bound as well
                continue
            head, name = line
            lines.setdefault(head, []).append(name)
        base = import_path(node.module) if isinstance(node, cst.ImportFrom) else ""
        text = []
        kept = list(dict.fromkeys(kept))
        if kept:
            names = ", ".join(kept)
            text.append(f"from {base} import {names}" if base else f"import {names}")
        for head, names_of in lines.items():
            text.append(head + ", ".join(dict.fromkeys(names_of)))
        self._put_statement(use, text)

    def _moved(self, item: _Item, plain: bool) -> tuple[str, str] | None:
        """Head and name of the import that takes an alias' place; None drops it."""
        found, bound = item.found, item.bound
        if isinstance(found, Stays):
            return None  # of what nobody uses
        self._note(found)
        if plain and item.alias.asname is None:
            return None  # its uses are spelled out
        if isinstance(found, Loop) and not found.name:
            self._check_spelled(item)
        if isinstance(found, Today):
            parent, _, name = found.symbol.rpartition(".")
            head = f"from tensorflow{parent[2:]} import "
            return head, name if name == bound else f"{name} as {bound}"
        module, name = self._module_and_name(found)
        ours = module in (self.modules.loop, self.modules.contrib)
        if not name:
            if isinstance(found, Loop):
                return None
            if isinstance(found, Brought) and (item.use.node, bound) not in self.needed:
                # No name of it is brought along: there may be no such module.
                self._check_spelled(item)
                return None
            line = self._import_line(module, bound)
            head, _, rest = line.rpartition("import ")
            return f"{head}import ", rest
        path = self.modules.path(module) if ours else module
        inner, _, last = name.rpartition(".")
        path = f"{path}.{inner}" if inner else path
        return f"from {path} import ", last if last == bound else f"{last} as {bound}"

    def _check_spelled(self, item: _Item) -> None:
        """An import that goes must not be what some other name hangs on."""
        for use in self.resolver.scopes.uses:
            if use.root is None or use.root in self.roots:
                continue
            bound = self.resolver.bindings(use.root)
            if any(one.node is item.use.node for one in bound) and (
                use.root.value == item.bound
            ):
                why = "is imported under a name that means something else as well"
                self._keep(use.node, item.symbol, why)

    def _put_statement(self, use: ImportUse, lines: list[str]) -> None:
        context = self.context
        start, end = context.span(use.node)
        line, _ = context.lines.place(start)
        own = context.lines.line_text(line)
        indent = own[: len(own) - len(own.lstrip())]
        statement = use.statement
        shares = isinstance(statement, cst.SimpleStatementLine) and (
            len(statement.body) > 1
        )
        if lines:
            joint = "; " if shares else context.module.default_newline + indent
            self.edits.append(Edit(start, end, joint.join(lines)))
        elif use.only or shares or not isinstance(statement, cst.SimpleStatementLine):
            self.edits.append(Edit(start, end, "pass"))
        else:
            self.edits.append(_whole_lines(start, end, context))

    def _import_edit(self) -> Edit:
        """The new imports, behind the first import of TensorFlow."""
        context = self.context
        newline = context.module.default_newline
        lines = list(self.imports.values())
        if "build_graphs_by_hand" in self.found.loop:
            lines += ["", f"{self._local(self.modules.loop)}.build_graphs_by_hand()"]
        text = "".join(f"{line}{newline}" for line in lines)
        scopes = self.resolver.scopes
        top = [
            use
            for use in scopes.imports
            if use.scope is scopes.module_scope and use.statement in context.module.body
        ]
        ours = [use for use in top if imports_tensorflow(use.node)]
        chosen = ours[0] if ours else (top[0] if top else None)
        starts = context.lines.starts
        if chosen is not None and chosen.statement is not None:
            future = [use for use in top if _is_future(use.node)]
            if _is_future(chosen.node):
                chosen = future[-1]
            assert chosen.statement is not None
            line, _ = context.lines.place(context.span(chosen.statement)[1])
            if line < len(starts):
                return Edit(starts[line], starts[line], text)
            end = len(context.text)
            return Edit(end, end, newline + text)
        for statement in context.module.body:
            if _is_docstring(statement):
                line, _ = context.lines.place(context.span(statement)[1])
                if line < len(starts):
                    return Edit(starts[line], starts[line], newline + text)
                continue
            line, _ = context.lines.place(context.span(statement)[0])
            return Edit(starts[line - 1], starts[line - 1], text)
        return Edit(0, 0, text)

    # -- iterators ---------------------------------------------------------------------

    def _open_iterators(self) -> None:
        """``data.make_one_shot_iterator()`` is a function, which knows where it is."""
        context = self.context
        found = [
            call
            for call in self.resolver.scopes.calls.values()
            if isinstance(call.func, cst.Attribute)
            and call.func.attr.value in METHODS
            and call.func.attr.value in self.known.loop_names
            and self.resolver.qualified(call.func) is None
            and not any(arg.star or arg.keyword is None for arg in call.args)
            and not (
                isinstance(call.func.value, cst.Name)
                and call.func.value.value in ("self", "cls")
            )
        ]
        for call in found:
            assert isinstance(call.func, cst.Attribute)
            owner = call.func.value
            context.want(call, call.func, owner, *owner.lpar, *owner.rpar)
        for call in found:
            assert isinstance(call.func, cst.Attribute)
            name = call.func.attr.value
            self.found.loop.add(name)
            start, end = context.outer_span(call.func.value)
            local = self._local(self.modules.loop)
            self.edits.append(Edit(start, start, f"{local}.{name}("))
            if call.args:
                opening = context.text.index("(", context.span(call.func)[1])
                self.edits.append(Edit(end, opening + 1, ", "))
            else:
                self.edits.append(Edit(end, context.span(call)[1], ")"))

    # -- switches ---------------------------------------------------------------------

    def _drop_switches(self) -> None:
        """Takes out calls that would turn eager execution off for the whole process."""
        calls = self.resolver.scopes.calls
        for use in self.resolver.scopes.uses:
            symbol = self.resolver.resolve(use.node)
            if symbol not in _SWITCHES:
                continue
            statement = use.statement
            self.context.want(statement)
            call = calls.get(use.node)
            if (
                call is None
                or not isinstance(statement, cst.SimpleStatementLine)
                or len(statement.body) != 1
                or not isinstance(statement.body[0], cst.Expr)
                or statement.body[0].value is not call
            ):
                self._keep(use.node, symbol, "turns eager execution off")
                continue
            start, end = self.context.span(statement.body[0])
            self.edits.append(Edit(start, end, "pass"))


_SWITCHES = ("tf.disable_v2_behavior", "tf.disable_eager_execution")
# Local names that say more than the last part of a path.
_SHORT = {"layers": "layers_v1", "rnn_cell": "rnn_cell_v1", KERAS_V1: "keras_v1"}


@dataclass(frozen=True, eq=False)
class _Item:
    """One imported name that has a new home."""

    use: ImportUse
    alias: cst.ImportAlias
    imported: str
    symbol: str
    found: Home

    @property
    def bound(self) -> str:
        """What the file calls it."""
        name = self.alias.asname
        if name is not None and isinstance(name.name, cst.Name):
            return name.name.value
        return self.imported.split(".")[0]


def _is_private_module(symbol: str) -> bool:
    """A module inside a package of tf.contrib, whose names are public elsewhere."""
    package, private, rest = symbol.partition(".python.")
    last = rest.rpartition(".")[2]
    return bool(private) and package.startswith("tf.contrib.") and last.islower()


def _alias_text(alias: cst.ImportAlias) -> str:
    name = import_path(alias.name)
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return f"{name} as {alias.asname.name.value}"
    return name


def _whole_lines(start: int, end: int, context: Context) -> Edit:
    """Deletes a statement with its line, unless a comment shares the line."""
    text = context.text
    _, column = context.lines.place(start)
    stop = end
    while stop < len(text) and text[stop] in " \t":
        stop += 1
    if stop < len(text) and text[stop] == "#":
        return Edit(start, stop, "")
    if text.startswith("\r\n", stop):
        stop += 2
    elif stop < len(text) and text[stop] in "\r\n":
        stop += 1
    return Edit(start - (column - 1), stop, "")


def _is_future(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.ImportFrom) and import_path(node.module) == "__future__"


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    return isinstance(first, cst.Expr) and isinstance(
        first.value, (cst.SimpleString, cst.ConcatenatedString)
    )
