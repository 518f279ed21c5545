"""Which definitions are needed for some names, and what each of them uses.

The walk starts at the wanted names and follows every name that a definition reads,
through the imports of the sources, until nothing new is found. Methods of classes
that stand on their own may wait: they are followed only once their name occurs
somewhere.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..symbols.nodes import walk
from ..symbols.scopes import BindingKind
from .homes import Defined, home_of, home_of_import, imported_modules
from .parts import CannotBundle, Imported, Item, Load, Part, read_part
from .sources import Sources

__all__ = ["Entity", "Reach", "Site", "Stays", "resolve"]

# A thing that has a name in the text: a definition by one of its names, or an import.
Entity = tuple[Item, str] | Imported

# What a class may do without: a method, or an assignment of one to another name.
Member = cst.FunctionDef | cst.SimpleStatementLine

# Bases that call no method of a class which is not a dunder.
_QUIET_BASES = frozenset(
    {
        "abc.ABC",
        "enum.Enum",
        "typing.Generic",
        "typing.NamedTuple",
        "typing.Protocol",
        "threading.local",
    }
)


class Stays(CannotBundle):
    """A definition is needed that may not be copied."""


@dataclass(eq=False)
class Site:
    """A node that will say an entity's name, and the names it must not be."""

    node: cst.Name | cst.Attribute
    entity: Entity
    hidden: frozenset[str]


@dataclass(eq=False)
class Kept:
    """An item of the text with what it uses."""

    item: Item
    sites: list[Site] = field(default_factory=list)
    # Methods, and other names for them, that are left out so far, by name.
    waiting: dict[str, list[Member]] = field(default_factory=dict)


class Reach:
    """The closure of the wanted names."""

    def __init__(
        self,
        sources: Sources,
        *,
        used: Collection[str] | None = None,
        given: Mapping[str, str] | None = None,
        instead: Mapping[str, str] | None = None,
        stay: Collection[str] = (),
    ) -> None:
        self.sources = sources
        self.given = dict(given or {})
        self.instead = dict(instead or {})
        self.stay = tuple(stay)
        self.reduces = used is not None
        self.mentioned = set(used or ())
        self.kept: dict[Item, Kept] = {}
        # Import statements in functions that name parts of ours: they go.
        self.dissolved: set[tuple[Part, cst.ImportFrom | cst.Import]] = set()
        self.builtins: dict[str, set[Part]] = {}
        self._queue: list[tuple[Kept, cst.CSTNode]] = []
        # Classes mixed into others that also have a base which may call any method.
        self._mixed: set[Item] = set()

    def want(self, module: str, name: str) -> Entity:
        """Ask for a name of a module; what it means is kept."""
        found = resolve(self.sources, module, name)
        if isinstance(found, str):
            raise CannotBundle(f"{module}.{name} is a module")
        if found is None:
            raise CannotBundle(f"there is no {name} in {module}")
        entity = self._entity(found)
        self._keep(entity)
        return entity

    def finish(self) -> None:
        """Follow everything that is needed."""
        while True:
            while self._queue:
                kept, node = self._queue.pop()
                self._follow(kept, node)
            awake = [
                (kept, kept.waiting.pop(name))
                for kept in list(self.kept.values())
                for name in sorted(kept.waiting.keys() & self.mentioned)
            ]
            if not awake and not self._keep_effects():
                return
            self._queue += [(kept, node) for kept, nodes in awake for node in nodes]

    def _keep_effects(self) -> bool:
        """Keep statements that do something to what is kept; whether there were any."""
        found = [
            item
            for part in {item.part for item in self.kept}
            for item in part.items
            if not item.names and item not in self.kept and self._concerns_kept(item)
        ]
        for item in found:
            kept = self.kept[item] = Kept(item)
            self._queue.append((kept, item.node))
        return bool(found)

    def _concerns_kept(self, item: Item) -> bool:
        """Whether the first name of a statement is that of a kept item."""
        loads = item.part.loads(item.node)
        if not loads or loads[0].name not in item.part.by_name:
            return False
        first = loads[0]
        return all(other in self.kept for other in item.part.by_name[first.name])

    def _entity(self, found: Entity) -> Entity:
        """The entity, or the import that another module of the user's has for it."""
        if isinstance(found, Imported):
            home, name = self.given.get(found.path), found.preferred
        else:
            item, name = found
            path = f"{item.part.name}.{name}"
            other = self.instead.get(path)
            if other is not None:
                there = resolve(self.sources, *other.rsplit(".", 1))
                assert isinstance(there, tuple), other
                return there
            home = self.given.get(path)
        if home is None:
            return found
        module, _, attribute = home.rpartition(".")
        return Imported(module, attribute, name)

    def _keep(self, entity: Entity) -> None:
        if isinstance(entity, Imported):
            return
        item, name = entity
        if any(
            item.part.name == module or item.part.name.startswith(module + ".")
            for module in self.stay
        ):
            raise Stays(f"it needs {item.part.name}.{name}")
        # A name bound by several statements means all of them.
        for other in item.part.by_name[name]:
            if other in self.kept:
                continue
            kept = self.kept[other] = Kept(other)
            self._queue.append((kept, other.node))

    def _follow(self, kept: Kept, node: cst.CSTNode) -> None:
        part = kept.item.part
        if self.reduces and isinstance(node, cst.ClassDef) and node is kept.item.node:
            kept.waiting = self._droppable(kept.item)
            self._mix_in(kept.item)
        left_out = {one for some in kept.waiting.values() for one in some}
        if node is not kept.item.node:
            left_out = set()  # they stand beside it
        if self.reduces:
            self.mentioned |= part.mentioned(node, left_out)
            if (
                isinstance(node, cst.SimpleStatementLine)
                and node is not kept.item.node
                and _field_name(node) is None
            ):
                # Another name for a method: the method is asked for by it.
                self.mentioned |= {
                    one.value for one in walk(node) if isinstance(one, cst.Name)
                }
        others = {load.chain[0] for one in left_out for load in part.loads(one)}
        for load in part.loads(node):
            if load.chain[0] in others:
                continue
            site = self._site(part, load)
            if site is not None:
                kept.sites.append(site)
                self._keep(site.entity)

    def _site(self, part: Part, load: Load) -> Site | None:
        if load.bound is None:
            self.builtins.setdefault(load.name, set()).add(part)
            if not part.has_stars:
                return None
        local = load.bound is not None and load.bound.scope.parent is not None
        found: Entity | str | None
        if load.bound is not None and load.bound.kind is BindingKind.IMPORT:
            imported = part.imported(load.bound)
            found = _through(self.sources, imported)
            if local and isinstance(found, Imported):
                return None
            if local:
                node = load.bound.node
                assert isinstance(node, (cst.Import, cst.ImportFrom))
                self.dissolved.add((part, node))
        else:
            found = resolve(self.sources, part.name, load.name)
        depth = 0
        while isinstance(found, str):
            depth += 1
            if depth == len(load.chain):
                raise CannotBundle(f"{part.name} uses the module {found} as a value")
            step = load.chain[depth]
            assert isinstance(step, cst.Attribute)
            module, found = found, resolve(self.sources, found, step.attr.value)
            if found is None:
                raise CannotBundle(f"there is no {step.attr.value} in {module}")
        if found is None:
            return None
        return Site(load.chain[depth], self._entity(found), load.hidden)

    def _mix_in(self, item: Item) -> None:
        """Keeps all of what is mixed into a class that others call methods of."""
        node = item.node
        if not isinstance(node, cst.ClassDef) or (
            item not in self._mixed and self._is_quiet(item.part, node)
        ):
            return
        for base in node.bases:
            loads = item.part.loads(base.value)
            site = self._site(item.part, loads[0]) if loads else None
            if site is None or isinstance(site.entity, Imported):
                continue
            other, _ = site.entity
            if other in self._mixed:
                continue
            self._mixed.add(other)
            self._mix_in(other)
            kept = self.kept.get(other)
            if kept is not None:
                waiting, kept.waiting = kept.waiting, {}
                self._queue += [
                    (kept, one) for some in waiting.values() for one in some
                ]

    def _droppable(self, item: Item) -> dict[str, list[Member]]:
        """Methods nobody can call whose name occurs nowhere, by all their names."""
        part, node = item.part, item.node
        assert isinstance(node, cst.ClassDef)
        if item in self._mixed or not self._is_quiet(part, node):
            return {}
        found: dict[str, list[Member]] = {}
        for statement in node.body.body:
            name = None
            if isinstance(statement, cst.FunctionDef):
                name = statement.name.value
            elif isinstance(statement, cst.SimpleStatementLine):
                name = _other_name(statement, found)
                if name is None and self._is_named_tuple(part, node):
                    name = _field_name(statement)
            if name and not (name.startswith("__") and name.endswith("__")):
                assert isinstance(statement, Member)
                found.setdefault(name, []).append(statement)
        return found

    def _is_named_tuple(self, part: Part, node: cst.ClassDef) -> bool:
        """Whether the class is a `typing.NamedTuple` that only others are made of.

        One that is made itself is given all of its fields, by name or by place.
        """
        if not any(
            isinstance(base.value, cst.Name) and base.value.value == node.name.value
            for item in part.items
            if isinstance(item.node, cst.ClassDef)
            for base in item.node.bases
        ):
            return False
        loads = [part.loads(base.value)[:1] for base in node.bases]
        sites = [self._site(part, load) for found in loads for load in found]
        return any(
            site is not None
            and isinstance(site.entity, Imported)
            and site.entity.path == "typing.NamedTuple"
            for site in sites
        )

    def _is_quiet(self, part: Part, node: cst.ClassDef) -> bool:
        """Whether only our own code and the user's call methods of the class."""
        for base in node.bases:
            value = base.value
            if isinstance(value, cst.Subscript):
                value = value.value
            loads = part.loads(value)
            if not loads:
                return False
            load = loads[0]
            if load.bound is None:
                kind = getattr(builtins, load.name, None)
                if not isinstance(kind, type) or base.star:
                    return False
                continue
            site = self._site(part, load)
            if site is None:
                return False
            if isinstance(site.entity, Imported):
                path = site.entity.path
                rest = load.chain[-1]
                if rest is not site.node:
                    assert isinstance(rest, cst.Attribute)
                    path += f".{rest.attr.value}"
                if path not in _QUIET_BASES:
                    return False
                continue
            item, _ = site.entity
            if not isinstance(item.node, cst.ClassDef) or not self._is_quiet(
                item.part, item.node
            ):
                return False
        return True

    def parts(self, order: Sequence[str] = ()) -> list[Part]:
        """The parts of the text, each after those it imports when it is loaded.

        ``order`` says, by stems, what comes first where that leaves a choice.
        """
        needed: dict[Part, set[Part]] = {}
        for kept in self.kept.values():
            needed.setdefault(kept.item.part, set())
        for part in needed:
            loaded = self._loaded(part.name)
            needed[part] = {o for o in needed if o.name in loaded and o is not part}
        ranks = {stem: rank for rank, stem in enumerate(order)}

        def rank(part: Part) -> tuple[int, str]:
            return ranks.get(part.stem, len(ranks)), part.name

        found: list[Part] = []
        while needed:
            ready = [part for part, first in needed.items() if first <= set(found)]
            if not ready:
                names = ", ".join(sorted(part.name for part in needed))
                raise CannotBundle(f"modules import each other: {names}")
            chosen = min(ready, key=rank)
            found.append(chosen)
            del needed[chosen]
        return found

    def _loaded(self, start: str) -> set[str]:
        """The names of the modules loaded before this one has been."""
        found: set[str] = set()
        pending = [start]
        while pending:
            for module in imported_modules(self.sources, pending.pop()):
                if module not in found:
                    found.add(module)
                    pending.append(module)
        return found


def _field_name(line: cst.SimpleStatementLine) -> str | None:
    """The name in ``name: type``."""
    only = line.body[0]
    if isinstance(only, cst.AnnAssign) and isinstance(only.target, cst.Name):
        return only.target.value
    return None


def _other_name(line: cst.SimpleStatementLine, methods: Collection[str]) -> str | None:
    """The name in ``name = method`` or ``name = Class.method``."""
    only = line.body[0]
    if not isinstance(only, cst.Assign) or len(line.body) > 1:
        return None
    target, value = only.targets[0].target, only.value
    if not isinstance(target, cst.Name) or len(only.targets) > 1:
        return None
    if isinstance(value, cst.Name) and value.value in methods:
        return target.value
    if isinstance(value, cst.Attribute) and isinstance(value.value, cst.Name):
        return target.value if value.attr.value == target.value else None
    return None


def _through(sources: Sources, imported: Imported) -> Entity | str | None:
    """What an import means: an entity, a module of ours by name, or nothing known."""
    return _taken_apart(home_of_import(sources, imported))


def resolve(sources: Sources, module: str, name: str) -> Entity | str | None:
    """What ``module.name`` is: a definition, something imported, or a module."""
    return _taken_apart(home_of(sources, module, name))


def _taken_apart(home: Defined | Imported | str | None) -> Entity | str | None:
    if not isinstance(home, Defined):
        return home
    part = read_part(home.module, home.file)
    return part.by_name[home.name][-1], home.name
