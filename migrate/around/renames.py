"""The words of one file renamed: no statement moves, no shape is recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from ..emit import SWITCHES
from ..plan.code.tree import Tree
from ..project.facts import ParsedModule
from ..project.text import Edit, apply_edits
from ..rules.dataset_iterator import METHODS
from ..symbols.dotted import dotted_name
from ..symbols.scopes import BindingKind, Use
from ..symbols.table import lookup, needs_nothing
from .by_hand import gives_data, handed_about
from .given_themselves import given_themselves
from .homes import Home, Known
from .imports import Imports
from .keras_twins import Twins
from .local_graphs import local_graph
from .vocabulary import GRAPH_WORDS, QUEUE_WORDS, STAYING_ARGUMENTS, Loop, Stays, Today
from .words import Kept, Modules, Renamed, Words

__all__ = ["renamed"]

_METHODS_OF_LAYERS = ("get_losses_for", "get_updates_for")
_UPDATES = "updates_of"
_QUEUES = "read_through_queues"
_PACKAGES = ("tf.initializers", "tf.losses", "tf.metrics", "tf.nn", "tf.train")
_STRATEGIES = ("MirroredStrategy", "OneDeviceStrategy")


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
    local_graphs: bool = False,
    twins: Twins | None = None,
) -> Renamed:
    """The file with every word under its new name.

    ``for_tf2`` says that it was written for TF 2, whose names mean what they say;
    ``keras_1`` that its ``tf.keras`` is TF 1's; ``placeholders`` that some may be made
    outside of a graph; ``shared_columns`` that columns may share an embedding as they
    did in TF 1, which only TF 1's function for a parsing spec knows; ``by_hand`` that
    the program is to go on building graphs around its models; ``local_graphs`` that
    lines which look at data in a session get a graph of their own; ``twins`` what
    stands in for layers of TF 1's Keras. ``beside`` are the other files of the program.
    """
    renamer = _Renamer(parsed, Words(parsed, modules, known, for_tf2, keras_1))
    renamer.beside = beside
    renamer.local_graphs = local_graphs
    if twins is not None:
        renamer.words.more.update(twins.homes)
        renamer.added = twins.added
    if by_hand:
        renamer.words.more["tf.reset_default_graph"] = Loop("reset_default_graph")
        renamer.starts_graph = True
    elif placeholders:
        renamer.words.more["tf.placeholder"] = Loop("placeholder")
    if "compat.v1" in parsed.source.text:
        # Replicas of its own strategies lack what the loop asks of them.
        for name in _STRATEGIES:
            renamer.words.more[f"tf.distribute.{name}"] = Loop(name)
    if shared_columns:
        name = "feature_column.make_parse_example_spec"
        renamer.words.more[f"tf.{name}"] = Today(f"tf.compat.v1.{name}")
    return renamer.result()


class _Renamer:
    def __init__(self, parsed: ParsedModule, words: Words) -> None:
        self.words = words
        self.parsed = parsed
        self.local_graphs = False
        # What such a module binds, others import from it.
        self.hands_on = parsed.is_package
        self._tree: Tree | None = None
        # The other files of the program.
        self.beside: Sequence[Tree] = ()
        # Arguments that calls get, behind their own.
        self.added: Mapping[cst.Call, str] = {}
        # The file says that the program builds graphs by hand, if it does.
        self.starts_graph = False

    def result(self) -> Renamed:
        importing = Imports(self.words, hands_on=self.hands_on)
        places = [place for use in self._uses() if (place := self._place(use))]
        imports = list(importing.items())
        self.words.context.want(*(node for _, node, _, _ in places))
        self.words.context.want(*(item.use.node for item in imports))
        self.words.context.want(*(item.use.statement for item in imports))
        for use, node, symbol, found in places:
            self._rename(use, node, symbol, found)
        importing.rewrite(imports)
        self._add_arguments()
        self._write_methods_as_functions()
        self._drop_switches()
        self._leave_out_self()
        if self.starts_graph and self.words.found.by_hand is not None:
            self.words.found.loop.add("build_graphs_by_hand")
            self.words.local(self.words.modules.loop)
        if self.words.imports:
            self.words.edits[:0] = importing.added()
        if self.words.context.needs_tf is not None:
            from ..rules.import_line import import_edit

            self.words.edits.insert(
                0, import_edit(self.words.context.needs_tf, self.words.context)
            )
        self.words.found.text = apply_edits(self.words.context.text, self.words.edits)
        return self.words.found

    @property
    def tree(self) -> Tree:
        """Parents of nodes, which few files are asked for."""
        if self._tree is None:
            self._tree = Tree(self.words.context.module, self.words.resolver)
        return self._tree

    def _uses(self) -> Iterator[Use]:
        yield from self.words.resolver.scopes.uses

    def _place(self, use: Use) -> tuple[Use, cst.CSTNode, str, Home] | None:
        """The longest part of a chain that has a home, and which."""
        node: cst.BaseExpression = use.node
        inside = False
        kept: tuple[Use, cst.CSTNode, str, Home] | None = None
        while True:
            symbol = self.words.resolver.resolve(node)
            if symbol is None or symbol == "tf":
                return kept
            found = self.words.home(symbol)
            if found is None and not inside and symbol in _PACKAGES:
                found = self._package(node, symbol)
            if found is None and symbol in GRAPH_WORDS and self._has_own_graph(use):
                return kept
            if found is None and symbol in GRAPH_WORDS and self._is_by_hand(use):
                found = self._by_hand(use, symbol)
            if symbol in STAYING_ARGUMENTS and not inside:
                found = self._staying_argument(use, symbol) or found
            if isinstance(found, Stays):
                kept = kept or (use, node, symbol, found)
            elif found is not None:
                if self.words.is_package(found) and inside:
                    # A word below a known package that nothing offers.
                    lost = Stays("has no counterpart in a training loop")
                    whole = self.words.resolver.resolve(use.node) or symbol
                    return kept or (use, use.node, whole, lost)
                return use, node, symbol, found
            elif lookup(symbol) is not None or needs_nothing(symbol):
                return kept  # the symbol rules know it
            if not isinstance(node, cst.Attribute):
                return kept
            inside = True
            node = node.value

    def _package(self, node: cst.BaseExpression, symbol: str) -> Today | None:
        """TF 1's package where a program looks in it for a name that it computes."""
        if self.words.for_tf2 or not isinstance(node, cst.Attribute):
            return None
        return Today(f"tf.compat.v1.{symbol.removeprefix('tf.')}")

    def _has_own_graph(self, use: Use) -> bool:
        """A session whose graph can stand around it; it does so from now on."""
        call = self.tree.resolver.scopes.calls.get(use.node)
        found = None
        if self.local_graphs and call is not None and self._is_by_hand(use):
            found = local_graph(self.tree, call)
        if found is None:
            return False
        lines = (self.tree.line(one) for one in found.statements)
        if len({self.parsed.source.locate(line)[0] for line in lines}) > 1:
            return False  # cells of a notebook
        self.words.edits += found.edits(self.tree)
        return True

    def _is_by_hand(self, use: Use) -> bool:
        """A word of graphs and sessions where there is no graph around it."""
        tree = self.tree
        call = tree.resolver.scopes.calls.get(use.node)
        if call is None:
            return False
        session = not str(self.words.resolver.resolve(use.node)).startswith(
            "tf.placeholder"
        )
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

    def _staying_argument(self, use: Use, symbol: str) -> Stays | None:
        """A call that gives what the loop module's namesake cannot take."""
        name, place, why = STAYING_ARGUMENTS[symbol]
        call = self.tree.resolver.scopes.calls.get(use.node)
        for index, arg in enumerate(call.args if call is not None else ()):
            given = (
                arg.keyword.value == name if arg.keyword is not None else index == place
            )
            nothing = isinstance(arg.value, cst.Name) and arg.value.value == "None"
            if arg.star or (given and not nothing):
                return Stays(why)
        return None

    def _by_hand(self, use: Use, symbol: str) -> Stays | None:
        """A place outside of all graphs; what is called with a model cannot be one."""
        why = GRAPH_WORDS[symbol]
        node = use.node
        name = handed_about(self.tree, node, self.beside)
        queues = symbol in QUEUE_WORDS and _QUEUES in self.words.known.loop_names
        if queues and gives_data(self.tree, node, self.beside):
            self.words.found.loop.add(_QUEUES)
            return None
        if name is not None:
            return Stays(f"{why}, in `{name}`, which is handed about")
        self.words.context.want(node)
        if self.words.found.by_hand is None:
            self.words.found.by_hand = Kept(self.words.line(node), symbol, why)
        return None

    def _rename(self, use: Use, node: cst.CSTNode, symbol: str, found: Home) -> None:
        if use.root is not None:
            self.words.roots.add(use.root)
        if isinstance(found, Stays):
            self.words.keep(node, symbol, found.why)
            return
        self.words.note(found)
        assert isinstance(node, (cst.Name, cst.Attribute))
        if isinstance(node, cst.Name):
            if bound := self.words.resolver.bindings(node):
                self.words.needed.add((bound[0].node, node.value))
                return  # its import or its assignment is renamed
        elif self._follows(use, node, found):
            return
        if self.words.is_package(found):
            self.words.found.as_value = symbol
        self.words.replace(node, self.words.spelled(found, use))

    def _follows(self, use: Use, node: cst.Attribute, found: Home) -> bool:
        """The chain hangs on a name whose own statement is renamed: it stays so."""
        if use.root is None:
            return False
        bound = self.words.resolver.bindings(use.root)
        if not bound:
            return False
        package = self.words.resolver.resolve(use.root)
        if package is None or package == "tf":
            return False
        home = self.words.home(package)
        if home is None or isinstance(home, (Stays, Today)):
            return False
        if bound[0].kind is BindingKind.IMPORT and isinstance(home, Loop):
            return False  # the import goes, its uses are spelled
        inside = dotted_name(node)
        assert inside is not None
        inside = inside.partition(".")[2]
        if self.words.is_package(found):
            return False  # a copy of packages has no packages in it
        if self.words.name_in(home, found) != inside:
            return False
        self.words.needed.add((bound[0].node, use.root.value))
        return True

    def _add_arguments(self) -> None:
        context = self.words.context
        calls = {
            call: text
            for call, text in self.added.items()
            if text and self.words.resolver.resolve(call.func) in self.words.more
        }
        context.want(*(call.args[-1] for call in calls))
        for call, text in calls.items():
            _, end = context.span(call.args[-1])
            self.words.edits.append(Edit(end, end, f", {text}"))

    def _leave_out_self(self) -> None:
        context = self.words.context
        if "super" not in context.text:
            return
        given = list(given_themselves(context.module, self.words.resolver))
        context.want(*given)
        for node in given:
            self.words.edits.append(Edit(*context.span(node), "True"))

    # -- methods that nothing has any more ---------------------------------------------

    def _write_methods_as_functions(self) -> None:
        """``data.make_one_shot_iterator()`` is a function, which knows where it is.

        So is what a layer said of itself: ``layer.get_updates_for(x)``.
        """
        context = self.words.context
        found = [
            call
            for call in self.words.resolver.scopes.calls.values()
            if isinstance(call.func, cst.Attribute)
            and call.func.attr.value in (*METHODS, *_METHODS_OF_LAYERS)
            and call.func.attr.value in self.words.known.loop_names
            and self._is_of_no_module(call.func)
            and not any(
                arg.star or (arg.keyword is None and call.func.attr.value in METHODS)
                for arg in call.args
            )
        ]
        lists = self._lists_of_updates()
        for node in (*(call.func for call in found), *lists):
            assert isinstance(node, cst.Attribute)
            owner = node.value
            context.want(node, owner, *owner.lpar, *owner.rpar)
        context.want(*found)
        for call in found:
            assert isinstance(call.func, cst.Attribute)
            end = self._begin_call(call.func, call.func.attr.value)
            if call.args:
                opening = context.text.index("(", context.span(call.func)[1])
                self.words.edits.append(Edit(end, opening + 1, ", "))
            else:
                self.words.edits.append(Edit(end, context.span(call)[1], ")"))
        for node in lists:
            end = self._begin_call(node, _UPDATES)
            self.words.edits.append(Edit(end, context.span(node)[1], ")"))
        for call in self._asked_for_methods():
            # What the functions do, they do for layers of any kind.
            context.want(call)
            self.words.edits.append(Edit(*context.span(call), "True"))

    def _asked_for_methods(self) -> list[cst.Call]:
        """``hasattr(layer, "get_updates_for")``: layers of TF 1 had these methods."""
        return [
            node
            for node in self.words.resolver.scopes.calls.values()
            if isinstance(node.func, cst.Name)
            and node.func.value == "hasattr"
            and len(node.args) == 2
            and isinstance(node.args[1].value, cst.SimpleString)
            and node.args[1].value.evaluated_value in _METHODS_OF_LAYERS
            and node.args[1].value.evaluated_value in self.words.known.loop_names
        ]

    def _begin_call(self, node: cst.Attribute, name: str) -> int:
        """Puts a function before the owner of a method; returns the owner's end."""
        self.words.found.loop.add(name)
        start, end = self.words.context.outer_span(node.value)
        local = self.words.local(self.words.modules.loop)
        self.words.edits.append(Edit(start, start, f"{local}.{name}("))
        return end

    def _is_of_no_module(self, node: cst.Attribute) -> bool:
        """An attribute of a value, and of none that the program makes a class for."""
        return self.words.resolver.qualified(node) is None and not (
            isinstance(node.value, cst.Name) and node.value.value in ("self", "cls")
        )

    def _lists_of_updates(self) -> list[cst.Attribute]:
        """Places that read ``layer.updates``, which of Keras is an empty list today."""
        if ".updates" not in self.words.context.text:
            return []
        # The innermost last: what is read of it is written first.
        return [
            node
            for node in self.words.context.nodes
            if isinstance(node, cst.Attribute)
            and node.attr.value == "updates"
            and self._is_of_no_module(node)
            and self._is_read(node)
        ]

    def _is_read(self, node: cst.Attribute) -> bool:
        parent = self.tree.parent(node)
        if isinstance(parent, cst.Call):
            return parent.func is not node
        return not isinstance(
            parent, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Del)
        )

    # -- switches ---------------------------------------------------------------------

    def _drop_switches(self) -> None:
        """Takes out calls that would turn eager execution off for the whole process."""
        calls = self.words.resolver.scopes.calls
        gone: list[cst.SimpleStatementLine] = []
        for use in self.words.resolver.scopes.uses:
            symbol = self.words.resolver.resolve(use.node)
            if symbol not in SWITCHES:
                continue
            statement = use.statement
            self.words.context.want(statement)
            call = calls.get(use.node)
            if (
                call is None
                or not isinstance(statement, cst.SimpleStatementLine)
                or len(statement.body) != 1
                or not isinstance(statement.body[0], cst.Expr)
                or statement.body[0].value is not call
            ):
                self.words.keep(use.node, symbol, "turns eager execution off")
                continue
            gone.append(statement)
        for statement in gone:
            self.words.edits.append(self._without(statement, gone))

    def _without(
        self, statement: cst.SimpleStatementLine, gone: list[cst.SimpleStatementLine]
    ) -> Edit:
        """Takes a statement out, with its line where others of its block stay."""
        text = self.words.context.text
        start, end = self.words.context.span(statement.body[0])
        holder = self.tree.parent(statement)
        body = (
            holder.body if isinstance(holder, (cst.Module, cst.IndentedBlock)) else ()
        )
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end) + 1
        alone = not text[line_start:start].strip() and not text[end:line_end].strip()
        if alone and line_end and any(other not in gone for other in body):
            # Blank lines around it become those of one side.
            if text[:line_start].endswith(("\n\n", "\r\n\r\n")) or not line_start:
                while text[line_end : line_end + 1] in ("\n", "\r"):
                    line_end += 1
            return Edit(line_start, line_end, "")
        return Edit(start, end, "pass")
