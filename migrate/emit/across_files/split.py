"""The way back from a joined and rewritten module to the files it came from."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

import libcst as cst

from ...project.facts import ProjectFacts
from ...project.guard import undefined_names
from ...project.parsing import parse
from ...project.positions import spans
from ...project.text import Edit, apply_edits
from ...symbols.scope_builder import build_scopes
from ...symbols.scopes import BindingKind
from ..module.imports import add_imports
from .join import CannotJoin, Imported, Joined, Part, import_mark

__all__ = ["split"]

_MARK = re.compile(r'(?m)^"tfmigrate part (\d+)"\n')


@dataclass
class _Piece:
    """A part on its way back."""

    part: Part
    text: str
    defined: set[str]
    missing: set[str]
    # Names that the file needs from the place named in its imports.
    wanted: set[str] = field(default_factory=set)
    plain: list[Imported] = field(default_factory=list)
    members: dict[str, list[str]] = field(default_factory=dict)


def split(joined: Joined, code: str, facts: ProjectFacts) -> dict[Part, str]:
    """The new text of every part."""
    texts = _MARK.split(code)
    header_text, numbers, bodies = texts[0], texts[1::2], texts[2::2]
    if numbers != [str(part.index) for part in joined.parts]:
        raise CannotJoin("the rewrite moved code from one file to another")
    header = _header(header_text)
    pieces = [
        _piece(part, body) for part, body in zip(joined.parts, bodies, strict=True)
    ]
    owners = {
        name: piece for piece in pieces for name in sorted(piece.defined, reverse=True)
    }
    for piece in pieces:
        _resolve(piece, pieces, owners, header, facts)
    _check_cycles(pieces)
    return {piece.part: _restored(piece, joined, header) for piece in pieces}


def _header(text: str) -> dict[str, Imported]:
    found: dict[str, Imported] = {}
    for statement in parse(text).body:
        small = (
            statement.body[0]
            if isinstance(statement, cst.SimpleStatementLine)
            else statement
        )
        if not isinstance(small, (cst.Import, cst.ImportFrom)) or isinstance(
            small.names, cst.ImportStar
        ):
            raise CannotJoin("the rewrite put code above all files")
        base = None
        if isinstance(small, cst.ImportFrom) and small.module is not None:
            base = cst.Module([]).code_for_node(small.module)
        for alias in small.names:
            name = cst.Module([]).code_for_node(alias.name)
            asname = alias.evaluated_alias
            if base is not None:
                found[asname or name] = Imported(asname or name, base, name, asname)
            else:
                bound = asname or name.split(".")[0]
                found[bound] = Imported(bound, name, None, asname)
    return found


def _piece(part: Part, text: str) -> _Piece:
    scopes = build_scopes(parse(text))
    defined = {
        name
        for name, bindings in scopes.module_scope.bindings.items()
        if any(binding.kind is not BindingKind.IMPORT for binding in bindings)
    }
    return _Piece(part, text, defined, undefined_names(scopes))


def _resolve(
    piece: _Piece,
    pieces: list[_Piece],
    owners: dict[str, _Piece],
    header: dict[str, Imported],
    facts: ProjectFacts,
) -> None:
    """Find out where every name that a piece lacks is to come from."""
    part = piece.part
    own = {each.bound: each for names in part.names for each in names}
    scopes = part.parsed.resolver.scopes
    mistakes = undefined_names(scopes)
    respelled: dict[str, str] = {}
    for name in sorted(piece.missing):
        owner = owners.get(name)
        if name in part.spelled and owner is not None:
            spelled = part.spelled[name][0]
            piece.wanted.add(spelled.split(".")[0])
            if spelled != name:
                respelled[name] = spelled
        elif owner is not None and owner is not piece:
            holder = next(
                (
                    each.bound
                    for each in own.values()
                    if facts.locate(each.dotted, part.path) == owner.part.path
                ),
                None,
            )
            if holder is not None:
                piece.wanted.add(holder)
                respelled[name] = f"{holder}.{name}"
            else:
                piece.members.setdefault(str(owner.part.path), []).append(name)
        elif name in header:
            if name in own:
                piece.wanted.add(name)
            else:
                piece.plain.append(header[name])
        elif name in own:
            piece.wanted.add(name)
        elif name not in mistakes:
            raise CannotJoin(f"the rewrite of {part.path.name} lacks `{name}`")
    if respelled:
        piece.text = _respell(piece.text, respelled)


def _respell(text: str, respelled: dict[str, str]) -> str:
    module = parse(text)
    scopes = build_scopes(module)
    nodes = [
        node
        for node, (scope, _) in scopes.loads.items()
        if node.value in respelled and _unbound(node.value, scope)
    ]
    code, found = spans(module, nodes)
    return apply_edits(
        code, [Edit(*found[node], respelled[node.value]) for node in nodes]
    )


def _unbound(name: str, scope: object) -> bool:
    while scope is not None:
        if name in scope.bindings:  # type: ignore[attr-defined]
            return False
        scope = scope.parent  # type: ignore[attr-defined]
    return True


def _check_cycles(pieces: list[_Piece]) -> None:
    """A file may not come to need one that needs it."""
    paths = {str(piece.part.path): piece for piece in pieces}
    edges = {
        path: {str(module.path) for _, module in piece.part.spelled.values()}
        | set(piece.members)
        for path, piece in paths.items()
    }
    for path, piece in paths.items():
        for target in piece.members:
            seen, pending = set(), [target]
            while pending:
                at = pending.pop()
                if at == path:
                    raise CannotJoin(
                        f"{piece.part.path.name} would import a file that imports it"
                    )
                if at not in seen:
                    seen.add(at)
                    pending.extend(edges.get(at, ()))


def _restored(piece: _Piece, joined: Joined, header: dict[str, Imported]) -> str:
    """The piece with its imports back, without those it needs no more."""
    part, text = piece.part, piece.text
    paths = {str(other.path): other for other in joined.parts}
    members = dict(piece.members)
    last = 0
    for number, small in enumerate(part.imports):
        names = part.names[number]
        kept: list[cst.ImportAlias] = []
        moved: list[str] = []
        assert not isinstance(small.names, cst.ImportStar)
        for alias, imported in zip(small.names, names, strict=True):
            if imported.module == "__future__":
                kept.append(alias)
                continue
            used = imported.bound in piece.wanted
            if not used and imported.bound in _reads(part):
                continue
            now = header.get(imported.bound, imported)
            if imported.bound in joined.header and used and now != imported:
                moved.append(now.text())
            else:
                kept.append(alias)
        added: list[str] = []
        if isinstance(small, cst.ImportFrom) and names:
            for path in list(members):
                if paths[path].parsed.name == names[0].module:
                    added += members.pop(path)
        mark = import_mark(part.index, number)
        new = _statement(small, kept, added)
        code = "\n".join(([new] if new else []) + moved)
        if new is not None and len(kept) == len(small.names) and not added:
            code = part.parsed.module.code_for_node(small)
        at = text.find(mark)
        if at < 0:
            raise CannotJoin(f"the rewrite lost an import of {part.path.name}")
        if code:
            text = text.replace(mark, code)
            last = at + len(code)
        else:
            before, after = text[:at], text[text.index("\n", at) + 1 :]
            if before.endswith("\n\n") and after.startswith("\n"):
                before = before[:-1]  # blank lines of a group that is gone
            text = before + after
            last = len(before)
    for path, extra in sorted(members.items()):
        line = f"from {_module_path(part, paths[path])} import {', '.join(extra)}\n"
        end = text.index("\n", last) + 1 if last else 0
        text = text[:end] + line + text[end:]
    return _with_imports(text, piece.plain)


def _reads(part: Part) -> set[str]:
    """Names the original file read."""
    return {name.value for name in part.parsed.resolver.scopes.loads}


def _statement(
    small: cst.Import | cst.ImportFrom, kept: list[cst.ImportAlias], added: list[str]
) -> str | None:
    names = [*kept, *(cst.ImportAlias(cst.Name(name)) for name in sorted(set(added)))]
    if not names:
        return None
    names = [n.with_changes(comma=cst.MaybeSentinel.DEFAULT) for n in names]
    return cst.Module([]).code_for_node(small.with_changes(names=names))


def _module_path(part: Part, target: Part) -> str:
    """How a part imports another: relative if that is how its file does it."""
    relative = any(isinstance(s, cst.ImportFrom) and s.relative for s in part.imports)
    package, _, name = target.parsed.name.rpartition(".")
    if relative and package == part.parsed.name.rpartition(".")[0]:
        return f".{name}"
    return target.parsed.name


def _with_imports(text: str, plain: list[Imported]) -> str:
    if not plain:
        return text
    standard: list[str] = []
    other: list[str] = []
    for imported in plain:
        if imported.name is not None:
            first = parse(text)
            text = _after_imports(first, imported.text())
            continue
        alias = f" as {imported.asname}" if imported.asname else ""
        group = standard if _is_standard(imported.module) else other
        group.append(f"{imported.module}{alias}")
    return add_imports(parse(text), standard, other).code


def _is_standard(module: str) -> bool:
    return module.split(".")[0] in sys.stdlib_module_names


def _after_imports(module: cst.Module, line: str) -> str:
    body = list(module.body)
    place = 0
    for index, statement in enumerate(body):
        if isinstance(statement, cst.SimpleStatementLine) and isinstance(
            statement.body[0], (cst.Import, cst.ImportFrom)
        ):
            place = index + 1
    body.insert(place, parse(line + "\n").body[0])
    return module.with_changes(body=body).code
