"""``slim.tfexample_decoder``: items made of the features of one example."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "BackupHandler",
    "BoundingBox",
    "Image",
    "ItemHandler",
    "ItemHandlerCallback",
    "LookupTensor",
    "SparseTensor",
    "TFExampleDecoder",
    "Tensor",
]

Keys = str | Sequence[str]


class ItemHandler(abc.ABC):
    """Makes an item of the features with certain keys."""

    def __init__(self, keys: Keys) -> None:
        self._keys = list(keys) if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Sequence[Any]:
        """The features it wants."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item, from the features by key."""


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes of the features."""

    def __init__(self, keys: Keys, func: Callable[[Mapping[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """What the function makes."""
        return self._func(keys_to_tensors)


class Tensor(ItemHandler):
    """A feature, dense, in a shape that is given or read from other features."""

    def __init__(
        self,
        tensor_key: str,
        shape_keys: Keys | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if isinstance(shape_keys, str):
            shape_keys = [shape_keys]
        super().__init__([tensor_key, *(shape_keys or ())])
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The feature in its shape."""
        tensor = keys_to_tensors[self._tensor_key]
        shape: Any = self._shape
        if self._shape_keys:
            sizes = []
            for key in self._shape_keys:
                size = keys_to_tensors[key]
                if isinstance(size, tf.SparseTensor):
                    size = tf.sparse_tensor_to_dense(size)
                sizes.append(size)
            shape = tf.cast(tf.reshape(tf.stack(sizes), [-1]), tf.int32)
        if isinstance(tensor, tf.SparseTensor):
            if shape is not None:
                tensor = tf.sparse_reshape(tensor, shape)
            return tf.sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else tf.reshape(tensor, shape)


class LookupTensor(Tensor):
    """A feature whose values a table translates."""

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Keys | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """What the table has for the feature."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """One handler's item, another's where the first finds nothing."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for given in (handler, backup):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"it is of type {type(given)} instead of ItemHandler")
        super().__init__([*handler.keys, *backup.keys])
        self._handler = handler
        self._backup = backup

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The first handler's item unless that is empty."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(
            tf.equal(tf.reduce_prod(tf.shape(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class Image(ItemHandler):
    """A picture, decoded."""

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Sequence[int] | None = None,
        channels: int = 3,
        dtype: Any = tf.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The picture, or the list of pictures."""
        encoded = keys_to_tensors[self._image_key]
        kind = keys_to_tensors[self._format_key]
        if self._repeated:
            if isinstance(encoded, tf.SparseTensor):
                encoded = tf.sparse_tensor_to_dense(encoded, "")
            return tf.map_fn(
                lambda one: self._decoded(one, kind), encoded, dtype=self._dtype
            )
        return self._decoded(encoded, kind)

    def _decoded(self, encoded: Any, kind: Any) -> Any:
        def picture() -> Any:
            # decode_image would say more than the one shape that all branches have.
            made = tf.image.decode_image(encoded, channels=self._channels)
            return tf.cast(made, self._dtype)

        def jpeg() -> Any:
            made = tf.image.decode_jpeg(
                encoded, channels=self._channels, dct_method=self._dct_method
            )
            return tf.cast(made, self._dtype)

        def raw() -> Any:
            return tf.decode_raw(encoded, out_type=self._dtype)

        def one_of(*names: str) -> Any:
            return tf.reduce_any([tf.equal(kind, name) for name in names])

        image = tf.case(
            [
                (one_of("jpeg", "JPEG", "jpg", "JPG"), jpeg),
                (one_of("raw", "RAW"), raw),
            ],
            default=picture,
            exclusive=True,
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else tf.reshape(image, self._shape)


class BoundingBox(ItemHandler):
    """Boxes ``[count, 4]`` from a feature for each side."""

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        sides = list(keys) if keys is not None else ["ymin", "xmin", "ymax", "xmax"]
        if len(sides) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(sides)}")
        self._full_keys = [prefix + side for side in sides]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The boxes."""
        sides = []
        for key in self._full_keys:
            side = keys_to_tensors[key]
            if isinstance(side, tf.SparseTensor):
                side = side.values
            sides.append(tf.expand_dims(side, 0))
        return tf.transpose(tf.concat(sides, 0))


class SparseTensor(ItemHandler):
    """A sparse row from a feature of places and one of values."""

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "ids"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        keys = [self._indices_key, self._values_key]
        super().__init__(keys if shape_key is None else [*keys, shape_key])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The row, sparse or dense."""
        indices = keys_to_tensors[self._indices_key]
        values = keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = keys_to_tensors[self._shape_key]
            if isinstance(shape, tf.SparseTensor):
                shape = tf.sparse_tensor_to_dense(shape)
        elif self._shape is not None:
            shape = self._shape
        else:
            shape = indices.dense_shape
        count = tf.size(indices.values, out_type=tf.int64)
        rows = tf.concat(
            [
                tf.expand_dims(indices.values, 1),
                tf.zeros([count, tf.size(shape) - 1], tf.int64),
            ],
            1,
        )
        made = tf.SparseTensor(rows, values.values, tf.cast(shape, tf.int64))
        if self._densify:
            return tf.sparse_tensor_to_dense(made, self._default_value)
        return made


class TFExampleDecoder:
    """Parses an example and makes items of its features."""

    def __init__(
        self,
        keys_to_features: Mapping[str, Any],
        items_to_handlers: Mapping[str, ItemHandler],
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The names of all items."""
        return list(self._items_to_handlers)

    def decode(
        self, serialized_example: Any, items: Sequence[str] | None = None
    ) -> list[Any]:
        """The items asked for, all of them unless told otherwise."""
        found = tf.parse_single_example(serialized_example, self._keys_to_features)
        # TF 1 kept the shape of features that have one only this way.
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, tf.FixedLenFeature):
                found[key] = tf.reshape(found[key], feature.shape)
        wanted = items or list(self._items_to_handlers)
        outputs = []
        for item in wanted:
            handler = self._items_to_handlers[item]
            outputs.append(
                handler.tensors_to_item({key: found[key] for key in handler.keys})
            )
        return outputs
