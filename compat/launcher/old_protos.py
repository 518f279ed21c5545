"""Lets unedited programs import protocol buffers that an old protoc wrote.

Generated modules of before protoc 3.19 build each descriptor by hand, which the
protobuf of a current TensorFlow refuses ("Descriptors cannot be created directly").
They also hold the whole description as bytes: from these the module is made as a
current protoc would have written it. Modules that run are left as they are.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

__all__ = ["OldProtoFinder", "restore_old_protos"]

_REFUSED = "Descriptors cannot be created directly"


def restore_old_protos() -> None:
    """Answer for generated modules from here on."""
    if not any(isinstance(finder, OldProtoFinder) for finder in sys.meta_path):
        finder: Any = OldProtoFinder()
        sys.meta_path.insert(0, finder)


class OldProtoFinder:
    """Finds what others find, and looks after generated modules while they run."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Only names that protoc gives."""
        if not fullname.endswith("_pb2") or fullname.startswith("google.protobuf."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(
            spec.loader, importlib.machinery.SourceFileLoader
        ):
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs the module; makes it from its description where protobuf refuses it."""

    def exec_module(self, module: types.ModuleType) -> None:
        """As the usual loader does, once more from the bytes if need be."""
        try:
            super().exec_module(module)
        except (TypeError, ImportError) as error:
            # It may also ask for modules that protobuf has no more.
            if _REFUSED not in str(error) and "google.protobuf" not in str(error):
                raise
            tree = ast.parse(self.get_data(self.path))
            described = _description(tree)
            if described is None:
                raise
            _import_others(module, tree)
            _build(module, described)


def _description(tree: ast.Module) -> bytes | None:
    """What the module says that its file describes.

    It stands as bytes, or as a text that a helper of the module encodes.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "serialized_pb":
            for part in ast.walk(node.value):
                value = part.value if isinstance(part, ast.Constant) else None
                if isinstance(value, bytes):
                    return value
                if isinstance(value, str):
                    return value.encode("latin1")
    return None


def _import_others(module: types.ModuleType, tree: ast.Module) -> None:
    """What a description builds upon has to be known before."""
    others: list[ast.stmt] = [
        node
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        and any(alias.name.endswith("_pb2") for alias in node.names)
    ]
    code = compile(ast.Module(others, []), module.__file__ or "", "exec")
    exec(code, module.__dict__)


def _build(module: types.ModuleType, described: bytes) -> None:
    """Messages and enums of the file, under the names that protoc gives them."""
    descriptor_pool = importlib.import_module("google.protobuf.descriptor_pool")
    # What modules call that protoc writes today.
    builder = importlib.import_module("google.protobuf.internal.builder")
    # The file may be known: the module went so far, or another copy of it did.
    file = descriptor_pool.Default().AddSerializedFile(described)
    names = module.__dict__
    names["DESCRIPTOR"] = file
    builder.BuildMessageAndEnumDescriptors(file, names)
    builder.BuildTopDescriptorsAndMessages(file, module.__name__, names)
