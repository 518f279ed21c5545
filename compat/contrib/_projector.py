"""What TensorBoard's embedding projector is told: a file beside the summaries."""

from __future__ import annotations

import os
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    text_format,
)

__all__ = [
    "EmbeddingInfo",
    "ProjectorConfig",
    "SpriteMetadata",
    "visualize_embeddings",
]

# Message -> its fields in their order: a name, and a type where it is not a string.
_FIELDS = {
    "SpriteMetadata": ("image_path", "*single_image_dim uint32"),
    "EmbeddingInfo": (
        "tensor_name",
        "metadata_path",
        "bookmarks_path",
        "*tensor_shape uint32",
        "sprite SpriteMetadata",
        "tensor_path",
    ),
    "ProjectorConfig": (
        "model_checkpoint_path",
        "*embeddings EmbeddingInfo",
        "model_checkpoint_dir",
    ),
}
_PACKAGE = "tfmigrate.projector"


def _described() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="tfmigrate/projector.proto", package=_PACKAGE, syntax="proto3"
    )
    kinds = descriptor_pb2.FieldDescriptorProto
    for message, fields in _FIELDS.items():
        made = file.message_type.add(name=message)
        for number, text in enumerate(fields, 1):
            name, _, kind = text.lstrip("*").partition(" ")
            field = made.field.add(name=name, number=number)
            field.label = (
                kinds.LABEL_REPEATED if text[0] == "*" else kinds.LABEL_OPTIONAL
            )
            if kind in _FIELDS:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                field.type = kinds.TYPE_UINT32 if kind else kinds.TYPE_STRING
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_described())


def _message(name: str) -> Any:
    found = _pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return message_factory.GetMessageClass(found)


EmbeddingInfo = _message("EmbeddingInfo")
ProjectorConfig = _message("ProjectorConfig")
SpriteMetadata = _message("SpriteMetadata")


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes the configuration where TensorBoard looks for it."""
    folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    path = os.path.join(folder, "projector_config.pbtxt")
    with tf.gfile.GFile(path, "w") as stream:
        stream.write(text_format.MessageToString(config))
