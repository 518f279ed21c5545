"""Objects whose methods are model functions keep what these compute in names."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from ...code.statements import assigned
from ...code.tree import walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .inlined import without_unread
from .objects import OneObject, line_of, methods_of


def with_own_objects_dissolved(
    parsed: ParsedModule, facts: ProjectFacts
) -> ParsedModule:
    """The file whose methods that are model functions store nothing in their object.

    ``self.loss = ...`` is a name, and the methods that set or read such attributes
    stand in the places of their calls.
    """
    functions = [one for one in parsed.each(cst.FunctionDef) if is_model_fn(one)]
    for number in range(len(functions)):
        found = _Own(parsed, facts, number)
        parsed = found.dissolved_in_place() or parsed
    return parsed


class _Own(OneObject):
    """The object of one model function."""

    name = "self"

    def dissolved_in_place(self) -> ParsedModule | None:
        """The file with names for attributes; None where nothing is to be done."""
        holder = self._read_methods()
        kinds = line_of(self.tree, holder.name) if holder is not None else []
        self.kinds = [one.name.value for one in kinds]
        if len(self.kinds) != 1 or self._is_extended():
            return None
        told = self._reached(self.defined)
        self.stored = {n for one in told for n in self._attributes(one, read=False)}
        if not self.stored:
            return None
        called = self._stating()
        if not self._says_calls():
            return None
        before = None
        while before is not self.parsed:
            # With a method go those that only it has called.
            before = self.parsed
            for name in called:
                self._take(without_unread(self.parsed, self.facts, name))
        self._read_methods()
        return self._without_attributes()

    def _read_methods(self) -> cst.ClassDef | None:
        """Reads the class around, which it gives, after changes."""
        holder = self.tree.parent(self.tree.parent(self.defined) or self.defined)
        if not isinstance(holder, cst.ClassDef):
            return None
        self.methods = {one.name.value: one for one in methods_of(holder)}
        # What all objects of the class have.
        self.common = {n for one in holder.body.body for n in assigned(one)}
        return holder

    def _attributes(
        self, method: cst.FunctionDef, *, read: bool | None = None
    ) -> set[str]:
        """Attributes of its object that a method names; that it reads, or stores."""
        return {
            one.attr.value
            for one in walk(method.body, cst.Attribute)
            if isinstance(one.value, cst.Name)
            and one.value.value == "self"
            and (read is None or read is not self._is_stored(one))
        }

    def _reached(self, method: cst.FunctionDef) -> list[cst.FunctionDef]:
        """A method, and those of the same object that it calls."""
        found = [method]
        for one in found:
            named = self._attributes(one)
            called = [self.methods[name] for name in named if name in self.methods]
            found += [other for other in called if other not in found]
        return found

    def _stating(self) -> list[str]:
        """Methods that set or read what the model function keeps."""
        return [
            name
            for name, method in self.methods.items()
            if method is not self.defined
            and any(
                self._attributes(one) & self.stored for one in self._reached(method)
            )
        ]

    def _calls(self) -> Iterator[cst.Call]:
        self._read_methods()
        stating = self._stating()
        for node in super()._calls():
            if isinstance(node.func, cst.Attribute) and node.func.attr.value in stating:
                yield node

    def _is_extended(self) -> bool:
        """Another class has its methods, or a function is given such an object."""
        extended = rf"class \w+\([^)]*\b{self.kinds[0]}\b"
        handed = rf"[(,=]\s*(?:{self._objects()})\s*[,)]"
        return any(re.search(f"{extended}|{handed}", one) for one in self._texts())

    def _objects(self) -> str:
        """Names of objects of the class, for an expression."""
        made = re.compile(rf"(\w+) = (?:\w+\.)*{self.kinds[0]}\(")
        found = {one for text in self._texts() for one in made.findall(text)}
        return "|".join(sorted(found)) or "_"

    def _texts(self) -> list[str]:
        """The file, and those that import it."""
        others = self.facts.importers(self.parsed.path)
        read = [one.read_text("utf-8", "replace") for one in others]
        return [self.parsed.source.text, *read]

    def _keeps(self, name: str) -> bool:
        """Other code reads an attribute, or the object brings it along."""
        if name in self.common or name not in self.stored:
            return True
        read = re.compile(rf"\b(?:{self._objects()})\.{name}\b")
        if any(map(read.search, self._texts())):
            return True
        words = {m: self._attributes(one) for m, one in self.methods.items()}
        said = [m for m, names in words.items() if name in names]
        said.remove(self.defined.name.value)
        return bool(said) and (said != ["__init__"] or self._brings(name))

    def _brings(self, name: str) -> bool:
        """The constructor reads it, or the model function may read what that set."""
        read = self._attributes(self.methods["__init__"], read=True)
        first, *more = (
            one
            for one in walk(self.defined.body, cst.Attribute)
            if self.tree.code(one) == f"self.{name}"
        )
        statement = self.tree.statement(first)
        return (
            name in read
            or not self._is_stored(first)
            or isinstance(self.tree.parent(first), cst.AugAssign)
            or self.tree.body(statement) is not self.defined.body
            or any(self.tree.statement(one) is statement for one in more)
        )
