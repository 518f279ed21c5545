"""What is known while the words of one file get new names, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ..project.facts import ParsedModule
from ..project.text import Edit
from ..rules.context import Context
from ..symbols.scopes import Use
from .homes import Home, Known
from .keras_v1 import KERAS_V1
from .vocabulary import Brought, Installed, Loop, Today

__all__ = ["Kept", "Modules", "Renamed", "Words"]

# Local names that say more than the last part of a path.
_SHORT = {"layers": "layers_v1", "rnn_cell": "rnn_cell_v1", KERAS_V1: "keras_v1"}


@dataclass(frozen=True)
class Modules:
    """How a file imports the modules that stand beside its program.

    ``package`` is what ``from ... import`` names, empty where plain ``import`` does.
    ``searched`` is whether Python looks for modules beside the file in any case.
    """

    loop: str
    contrib: str
    package: str = ""
    searched: bool = True

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


class Words:
    """New names, with the edits and imports that they ask for."""

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
        # First names of the chains that were looked at.
        self.roots: set[cst.Name] = set()
        # Homes that hold for this program only.
        self.more: dict[str, Home] = {}
        # Imports of packages, and the names they bind, on which brought names hang.
        self.needed: set[tuple[cst.CSTNode, str]] = set()

    def home(self, symbol: str) -> Home | None:
        """Where a symbol lives in what is rewritten, if that is known."""
        found = self.more.get(symbol)
        return found or self.known.home(
            symbol, for_tf2=self.for_tf2, keras_1=self.keras_1
        )

    def line(self, node: cst.CSTNode) -> int:
        """The line of a node."""
        line, _ = self.context.lines.place(self.context.span(node)[0])
        return line

    def is_package(self, found: Home) -> bool:
        """A home that holds other names and is no name itself."""
        if isinstance(found, Brought):
            return self.known.is_package(found.symbol)
        return isinstance(found, Loop) and not found.name

    def keep(self, node: cst.CSTNode, symbol: str, why: str) -> None:
        """Notes what keeps the program from the loop module."""
        self.found.kept.append(Kept(self.line(node), symbol, why))

    def note(self, found: Home) -> None:
        """Notes what the file takes from the modules beside it."""
        if isinstance(found, Loop) and found.name:
            self.found.loop.add(found.name)
        elif isinstance(found, Brought) and not self.known.is_package(found.symbol):
            self.found.contrib.add(found.symbol)

    def name_in(self, package: Home, found: Home) -> str | None:
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

    def replace(self, node: cst.CSTNode, text: str) -> None:
        """Puts another text in the place of a node."""
        start, end = self.context.span(node)
        if self.context.text[start:end] != text:
            self.edits.append(Edit(start, end, text))

    def spelled(self, found: Home, use: Use) -> str:
        """The text of a name at a place."""
        if isinstance(found, Today):
            return self.context.spell(found.symbol, use.scope, use.root)
        module, name = self.module_and_name(found)
        local = self.local(module)
        return f"{local}.{name}" if name else local

    def module_and_name(self, found: Home) -> tuple[str, str]:
        """The module that a home is in, and its name there."""
        if isinstance(found, Loop):
            return self.modules.loop, found.name
        if isinstance(found, Brought):
            name = "" if self.known.is_package(found.symbol) else None
            return self.modules.contrib, (
                self.known.brought_name(found.symbol) if name is None else name
            )
        assert isinstance(found, Installed)
        return found.module, found.name

    def local(self, module: str) -> str:
        """The name under which a module is known in the file."""
        if module not in self.bound:
            last = module.rpartition(".")[2]
            name = _SHORT.get(module) or _SHORT.get(last, last)
            wanted, number = name, 2
            while name in self.taken:
                name, number = f"{wanted}_{number}", number + 1
            self.taken.add(name)
            self.bound[module] = name
            self.imports[module] = self.import_line(module, name)
        return self.bound[module]

    def import_line(self, module: str, bound: str) -> str:
        """The statement that makes a module known as ``bound``."""
        if module in (self.modules.loop, self.modules.contrib):
            return self.modules.line(module, bound)
        parent, _, last = module.rpartition(".")
        if not parent:
            return f"import {module}" + (f" as {bound}" if bound != module else "")
        return f"from {parent} import {last}" + (
            f" as {bound}" if bound != last else ""
        )
