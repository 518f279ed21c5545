"""What the files of a project know about each other.

Facts are looked up lazily: a module is found on disk and parsed when something
asks for a name in it, so memory follows the import chain, not the tree. Parsed
modules are cached by the hash of their content.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar, cast

import libcst as cst
from tfmigrate.compat.bygone_names import may_name_bygone
from tfmigrate.compat.notebooks import Notebook, NotebookError

from ..names.nodes import Kind, everything
from ..names.resolver import Resolver
from ..names.scopes import BindingKind, ScopeTree
from .files import is_ours, mentions_legacy, project_root
from .import_lines import (
    import_lines,
    relative_files,
    searched_below,
    searched_by_text,
)
from .kept import Modules, Recent
from .reached import reached
from .reading import digest, exists, is_file, read_file, read_or_nothing, sources_in
from .search_path import added_directories
from .sources import Source, SourceError, load_source

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class ParsedModule:
    """A module of the project: its source, name and resolver."""

    name: str
    is_package: bool
    source: Source
    resolver: Resolver

    @property
    def path(self) -> Path:
        """Where the module lies."""
        return self.source.path

    @property
    def module(self) -> cst.Module:
        """The parsed module."""
        return self.source.module

    @property
    def nodes(self) -> tuple[cst.CSTNode, ...]:
        """All code of the module, in source order."""
        return self.resolver.about(everything)

    def each(self, *kinds: type[Kind]) -> Sequence[Kind]:
        """The nodes of some kinds, in source order."""
        return self.resolver.each(*kinds)


@dataclass(frozen=True, eq=False)
class Definition:
    """A function, class or value of a project module, and where it is."""

    module: ParsedModule
    name: str
    node: cst.FunctionDef | cst.ClassDef | cst.BaseExpression


@dataclass(eq=False)
class ProjectFacts:
    """Cross-file questions about one project.

    ``files`` are the sources a command was given; ``importers`` only knows
    about those. Everything else is found on disk along the import roots.
    """

    files: tuple[Path, ...] = ()
    # Makes Python 3 of a file of Python 2, where a run was asked to.
    converter: Callable[[Path, bytes], bytes] | None = None
    _parsed: Modules[ParsedModule] = field(default_factory=Modules)
    _busy: set[tuple[str, str]] = field(default_factory=set)
    _reaches: dict[str, bool] = field(default_factory=dict)
    _edges: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # What was worked out about the project, by those who asked.
    answers: dict[object, object] = field(default_factory=dict)
    # The same for what holds the trees of files.
    recent: Recent = field(default_factory=Recent)

    def once(self, key: object, make: Callable[[], Answer]) -> Answer:
        """What a function says of the project, under a key: it is asked once."""
        if key not in self.answers:
            self.answers[key] = make()
        return cast("Answer", self.answers[key])

    # -- names of files ------------------------------------------------------

    def module_name(self, path: Path) -> tuple[str, bool]:
        """The dotted name a file is imported by, and whether it is a package.

        The package chain is followed upwards through ``__init__.py`` files;
        what lies outside any package is imported by its own name.
        """
        return self.once(("name", path), lambda: _module_name(path))

    def import_roots(self, path: Path) -> tuple[str, ...]:
        """Directories that absolute imports of a file may start from."""
        directory = os.path.dirname(os.path.abspath(path))
        return self.once(("roots", directory), lambda: self._import_roots(directory))

    def _import_roots(self, directory: str) -> tuple[str, ...]:
        top = Path(directory)
        chain: list[str] = []
        while exists(top / "__init__.py") and top.parent != top:
            chain.append(str(top))
            top = top.parent
        roots = [str(top), directory]
        # A script may lie in a folder that looks like a package as well.
        roots += [one for one in chain[1:] if self._has_scripts(one)]
        # Namespace packages (no __init__.py) start higher up, at the
        # project's own directory or its ``src``.
        markers = (".git", "pyproject.toml", "setup.py", "setup.cfg")
        for parent in (top, *top.parents):
            if any(exists(parent / marker) for marker in markers):
                roots += [str(parent), str(parent / "src")]
                break
        return tuple(dict.fromkeys([*roots, *self.added_roots(directory)]))

    def _has_scripts(self, directory: str) -> bool:
        """A program starts in a directory, which is on its search path then."""
        texts = (os.path.join(directory, one) for one in sources_in(directory))
        return self.once(
            ("scripts", directory),
            lambda: any(b"__main__" in read_or_nothing(one) for one in texts),
        )

    def added_roots(self, directory: str) -> tuple[str, ...]:
        """Directories that files of one put on their search path."""

        def added() -> tuple[str, ...]:
            paths = (os.path.join(directory, name) for name in sources_in(directory))
            found = (added_directories(one, read_or_nothing(one)) for one in paths)
            return tuple(dict.fromkeys(itertools.chain.from_iterable(found)))

        return self.once(("added", directory), added)

    def locate(self, dotted: str, origin: Path) -> Path | None:
        """The file of a project module imported from ``origin``, if there is one."""
        roots = self.import_roots(origin)
        return self.once(("module", dotted, roots), lambda: _file_of(dotted, roots))

    # -- parsed modules ---------------------------------------------------------

    def parsed(self, path: Path) -> ParsedModule | None:
        """The parsed file, or None when it cannot be read as Python."""
        try:
            raw = read_file(path)
        except OSError:
            return None
        return self.parse(path, self.as_python3(path, raw))

    def as_python3(self, path: Path, raw: bytes) -> bytes:
        """What is worked on of a file: its content, converted if that is Python 2."""
        convert = self.converter
        if convert is None or self.parse(path, raw) is not None:
            return raw

        def python3() -> bytes:
            try:
                return convert(path, raw)
            except SourceError:
                return raw

        return self.once(("Python 3", str(path), digest(raw)), python3)

    def parse(self, path: Path, raw: bytes) -> ParsedModule | None:
        """Like ``parsed``, for content that is at hand."""
        try:
            return self.load(path, raw)
        except SourceError:
            return None

    def load(self, path: Path, raw: bytes) -> ParsedModule:
        """Like ``parse``; raises SourceError for what cannot be read as Python."""
        path = self.as_given(path)
        key = (str(path), digest(raw))
        found = self._parsed.get(key)
        if found is None:
            try:
                found = self.module_of(load_source(path, raw))
            except SourceError as error:
                found = error
            self._parsed.keep(key, found)
        if isinstance(found, SourceError):
            raise found
        return found

    def as_given(self, path: Path) -> Path:
        """The same file by the name that the command was given, if it was.

        What is found on disk has an absolute one, and would be read a second time.
        """
        return self.given.get(os.path.abspath(path), path)

    @property
    def given(self) -> Mapping[str, Path]:
        """The given files by their absolute paths."""
        return self.once(
            "given", lambda: {os.path.abspath(one): one for one in self.files}
        )

    def keep(self, parsed: ParsedModule, raw: bytes) -> None:
        """Remember a module for content that it was made of: it is not read again."""
        source = replace(parsed.source, raw=raw)
        kept = ParsedModule(parsed.name, parsed.is_package, source, parsed.resolver)
        self._parsed.keep((str(self.as_given(parsed.path)), digest(raw)), kept)

    def module_of(
        self, source: Source, scopes: ScopeTree | None = None
    ) -> ParsedModule:
        """Wrap a loaded source with its name and a resolver that sees the project."""
        name, is_package = self.module_name(source.path)

        def exports(module: str, attribute: str) -> str | None:
            return self.export(module, attribute, source.path)

        def makes(module: str, attribute: str) -> bool:
            return self.makes(module, attribute, source.path)

        resolver = Resolver(
            source.module,
            module_name=name,
            is_package=is_package,
            exports=exports,
            makes=makes,
            scopes=scopes,
        )
        return ParsedModule(name, is_package, source, resolver)

    def module(self, dotted: str, origin: Path) -> ParsedModule | None:
        """The project module of that name, imported from the file ``origin``."""
        path = self.locate(dotted, origin)
        return self.parsed(path) if path is not None else None

    # -- questions across files ---------------------------------------------------

    def export(self, module: str, name: str, origin: Path) -> str | None:
        """The dotted path that ``name`` of a project module was imported as."""
        path = self.locate(module, origin)
        if path is None:
            return None
        if not self._reaches_tensorflow(os.path.abspath(path)):
            return None
        key = (str(path), name)
        # Import cycles are legal; a name that only leads to itself is no one's.
        if key in self._busy:
            return None
        self._busy.add(key)
        try:
            return self.once(("export", *key), lambda: self._exported(path, name))
        finally:
            self._busy.discard(key)

    def makes(self, module: str, name: str, origin: Path) -> bool:
        """Whether a project module has a function, class or value of that name."""
        path = self.locate(module, origin)
        if path is None or os.path.abspath(path) == os.path.abspath(origin):
            return False
        parsed = self.parsed(path)
        # The names of a module that a rewrite added are TensorFlow's.
        if parsed is None or is_ours(parsed.source.text):
            return False
        bound = parsed.resolver.scopes.module_scope.bindings.get(name, [])
        return any(one.kind is not BindingKind.IMPORT for one in bound)

    def _exported(self, path: Path, name: str) -> str | None:
        parsed = self.parsed(path)
        # A module that a rewrite added has what TensorFlow has not: its own names.
        if parsed is None or is_ours(parsed.source.text):
            return None
        return parsed.resolver.exported(name)

    def _reaches_tensorflow(self, path: str) -> bool:
        """Whether a file names TensorFlow or imports one that does, however far.

        Told from the bytes: most modules need no parse to know that they pass
        nothing of TensorFlow's on.
        """
        seen, pending, found = {path}, [path], False
        while pending and not found:
            current = pending.pop()
            known = self._reaches.get(current)
            if known is None:
                known = b"tensorflow" in read_or_nothing(current)
                if not known:
                    new = [t for t in self.imports(current) if t not in seen]
                    seen.update(new)
                    pending.extend(new)
            found = known
        if found:
            self._reaches[path] = True
        else:
            self._reaches.update(dict.fromkeys(seen, False))
        return found

    def definition(
        self, node: cst.CSTNode | None, origin: ParsedModule
    ) -> Definition | None:
        """The function, class or value an expression names, in whatever file.

        Follows imports between project modules and ``alias = name``.
        """
        local = origin.resolver.definition(node)
        if local is not None:
            return Definition(origin, local.name.value, local)
        dotted = origin.resolver.qualified(node)
        if dotted is None:
            return None
        return self.find(dotted, origin.path)

    def is_name_of(
        self, node: cst.CSTNode, origin: ParsedModule, name: str, home: ParsedModule
    ) -> bool:
        """An expression, in whatever file, is what a module has under ``name``."""
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return False
        if origin.path == home.path and isinstance(node, cst.Name):
            return node.value == name
        found = self.definition(node, origin)
        return (
            found is not None
            and found.name == name
            and os.path.abspath(found.module.path) == os.path.abspath(home.path)
        )

    def find(self, dotted: str, origin: Path) -> Definition | None:
        """The definition behind a dotted path such as ``package.models.build``."""
        for _ in range(12):
            module_path, _, name = dotted.rpartition(".")
            if not module_path:
                return None
            parsed = self.module(module_path, origin)
            if parsed is None:
                return None
            bound = parsed.resolver.scopes.module_scope.bindings.get(name, [])
            if len(bound) != 1:
                return None
            binding = bound[0]
            if isinstance(binding.node, (cst.FunctionDef, cst.ClassDef)):
                return Definition(parsed, name, binding.node)
            if binding.kind is BindingKind.ASSIGN and binding.value is not None:
                inner = parsed.resolver.definition(binding.value)
                if inner is not None:
                    return Definition(parsed, name, inner)
                onward = parsed.resolver.qualified(binding.value)
                if onward is None:
                    return Definition(parsed, name, binding.value)
            elif binding.kind is BindingKind.IMPORT and binding.target is not None:
                onward = parsed.resolver.absolute(binding.target, binding.relative)
                if onward is None:
                    return None
            else:
                return None
            dotted, origin = onward, parsed.path
        return None

    def importers(self, path: Path) -> tuple[Path, ...]:
        """The given files that import the module at ``path``, by name."""
        return tuple(
            sorted(self.once("importers", self._index).get(os.path.abspath(path), ()))
        )

    def texts_of_importers(
        self, path: Path, besides: Collection[str] = ()
    ) -> Iterator[str]:
        """What the files say that import the module at ``path``.

        ``besides`` are absolute paths of those that are at hand in a newer form.
        """
        for one in self.importers(path):
            if os.path.abspath(one) not in besides:
                yield one.read_text("utf-8", "replace")

    def importers_besides(self, path: Path) -> Iterator[Path]:
        """Files that were not given, beside or above one, and import it by name."""
        own = os.path.abspath(path)
        root = project_root([path])
        for folder in Path(own).parents if own in self.given else ():
            for name in sources_in(folder):
                other = os.path.join(folder, name)
                if other not in self.given and own in self.imports(other):
                    yield Path(other)
            if folder == root or root not in folder.parents:
                break

    def users(self, *paths: Path) -> Iterator[Path]:
        """The given files that import one of these, however far; each of them once."""
        given = {os.path.abspath(path) for path in paths}

        def importers(path: str) -> Iterable[str]:
            return map(os.path.abspath, self.importers(Path(path)))

        found = reached(sorted(given), importers)
        return (self.given.get(one, Path(one)) for one in found if one not in given)

    def imports(self, path: str) -> tuple[str, ...]:
        """Project files (absolute paths) that a file (so too) on disk imports."""
        if path not in self._edges:
            self._edges[path] = self.imported(path, read_or_nothing(path))
        return self._edges[path]

    def _index(self) -> dict[str, set[Path]]:
        index: dict[str, set[Path]] = {}
        for path, importer in self.given.items():
            for target in self.imports(path):
                index.setdefault(target, set()).add(importer)
        return index

    def imported_files(self, path: Path, raw: bytes) -> set[Path]:
        """Project files that a file imports, found without parsing it."""
        found: set[Path] = set()
        for dots, stem, names in import_lines(raw):
            if dots:
                found |= relative_files(path, dots, stem, names)
                continue
            for target in (stem, *(f"{stem}.{name}" for name in names if name)):
                if target and all(p.isidentifier() for p in target.split(".")):
                    located = self.locate(target, path)
                    if located is not None:
                        found.add(located)
        found |= searched_by_text(path, raw, self.locate)
        return found | searched_below(path, raw, self.given)

    def concerns_legacy(self, path: Path, raw: bytes) -> bool:
        """Whether a file has legacy words, or imports a project file that has.

        A main program that only says ``from model import build`` can hold the
        training calls of an Estimator without naming TensorFlow. Two steps of
        imports are followed; more would make every file of a large tree count.
        """
        if mentions_legacy(raw):
            return True
        own = os.path.abspath(path)
        if own not in self.given:
            self._edges[own] = self.imported(own, raw)
        near = self.imports(own)
        return any(self._mentions(target) for target in near) or any(
            self._mentions(further)
            for target in near
            for further in self._edges.get(target, ())
        )

    def helps_legacy(self, path: Path, raw: bytes) -> bool:
        """Whether a program's own module may name what NumPy or Python dropped.

        It names no TensorFlow; a file that does imports it, however far.
        """
        if path.suffix != ".py" or mentions_legacy(raw) or not may_name_bygone(raw):
            return False
        return any(self._mentions(os.path.abspath(user)) for user in self.users(path))

    def _mentions(self, path: str) -> bool:
        """Whether a project file has legacy words; remembers what it imports."""
        return self.once(("legacy", path), lambda: self._looks_legacy(path))

    def _looks_legacy(self, path: str) -> bool:
        self.imports(path)
        return mentions_legacy(read_or_nothing(path))

    def imported(self, path: str, raw: bytes) -> tuple[str, ...]:
        """Project files (absolute paths) that a file or a notebook imports."""
        if not path.endswith((".py", ".ipynb")) or b"import" not in raw:
            return ()
        if path.endswith(".ipynb"):
            try:
                raw = Notebook.parse(raw).text.encode()
            except NotebookError:
                return ()
        found = self.imported_files(Path(path), raw)
        return tuple(sorted(os.path.abspath(target) for target in found))


def _module_name(path: Path) -> tuple[str, bool]:
    full = Path(os.path.abspath(path))
    is_package = full.name == "__init__.py"
    parts = [] if is_package else [full.stem]
    directory = full.parent
    while exists(directory / "__init__.py") and directory.parent != directory:
        parts.append(directory.name)
        directory = directory.parent
    return ".".join(reversed(parts)) or full.stem, is_package


def _file_of(dotted: str, roots: tuple[str, ...]) -> Path | None:
    """The file of a module or a package in the first directory that has it."""
    for root in roots:
        base = os.path.join(root, *dotted.split("."))
        for place in (f"{base}.py", os.path.join(base, "__init__.py")):
            if is_file(place):
                return Path(place)
    return None
