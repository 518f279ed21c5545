"""``tf.contrib.image``: projective transformations of pictures."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "angles_to_projective_transforms",
    "compose_transforms",
    "rotate",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]


def _rows(values: Any, rank: int, what: str) -> Any:
    """``[rows, ...]`` of one row or of several."""
    if values.get_shape().ndims == rank - 1:
        return values[None]
    if values.get_shape().ndims != rank:
        raise ValueError(f"{what} should have rank {rank - 1} or {rank}")
    return values


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Any:
    """Pictures turned counterclockwise by angles in radians, about their centers."""
    with tf.name_scope(name, "rotate"):
        pictures = _four_dimensions(tf.convert_to_tensor(images))
        height, width = (
            tf.cast(tf.shape(pictures)[axis], tf.float32) for axis in (1, 2)
        )
        turns = angles_to_projective_transforms(angles, height, width)
        return transform(images, turns, interpolation=interpolation)


def translate(
    images: Any,
    translations: Any,
    interpolation: str = "NEAREST",
    name: str | None = None,
) -> Any:
    """Pictures moved by ``[dx, dy]``, right and down."""
    with tf.name_scope(name, "translate"):
        moves = translations_to_projective_transforms(translations)
        return transform(images, moves, interpolation=interpolation)


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> Any:
    """The transformations that turn pictures of a size about their centers."""
    with tf.name_scope(name, "angles_to_projective_transforms"):
        angles = _rows(tf.convert_to_tensor(angles, tf.float32), 1, "Angles")
        right = tf.cast(image_width, tf.float32) - 1
        down = tf.cast(image_height, tf.float32) - 1
        cosine, sine = tf.cos(angles), tf.sin(angles)
        zeros = tf.zeros_like(angles)
        x = (right - (cosine * right - sine * down)) / 2
        y = (down - (sine * right + cosine * down)) / 2
        return tf.stack([cosine, -sine, x, sine, cosine, y, zeros, zeros], axis=1)


def translations_to_projective_transforms(
    translations: Any, name: str | None = None
) -> Any:
    """The transformations that move pictures by ``[dx, dy]``."""
    with tf.name_scope(name, "translations_to_projective_transforms"):
        moves = tf.convert_to_tensor(translations, tf.float32)
        moves = _rows(moves, 2, "Translations")
        ones, zeros = tf.ones_like(moves[:, 0]), tf.zeros_like(moves[:, 0])
        parts = (ones, zeros, -moves[:, 0], zeros, ones, -moves[:, 1], zeros, zeros)
        return tf.stack(parts, axis=1)


def compose_transforms(*transforms: Any) -> Any:
    """One transformation that does several, the first of them first."""
    assert transforms, "transforms cannot be empty"
    with tf.name_scope("compose_transforms"):
        composed = _matrices(transforms[0])
        for following in transforms[1:]:
            composed = tf.matmul(composed, _matrices(following))
        flat = tf.reshape(composed, [-1, 9])
        return (flat / flat[:, 8:])[:, :8]


def _matrices(transforms: Any) -> Any:
    rows = _rows(tf.convert_to_tensor(transforms), 2, "Transforms")
    ones = tf.ones_like(rows[:, :1])
    return tf.reshape(tf.concat([rows, ones], 1), [-1, 3, 3])


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> Any:
    """Pictures whose point (x, y) shows what was at the transformed point.

    ``transforms`` are rows ``[a0, a1, a2, b0, b1, b2, c0, c1]``, one for all pictures
    or one for each; what lies outside of the picture is 0.
    """
    with tf.name_scope(name, "transform"):
        images = tf.convert_to_tensor(images)
        pictures = _four_dimensions(images)
        if output_shape is None:
            size = tf.shape(pictures)[1:3]
            static = pictures.get_shape()[1:3]
        else:
            size = tf.convert_to_tensor(output_shape, tf.int32)
            value = tf.get_static_value(size)
            static = tf.TensorShape([None, None] if value is None else value.tolist())
        rows = _rows(tf.convert_to_tensor(transforms, tf.float32), 2, "Transforms")
        made = tf.raw_ops.ImageProjectiveTransformV2(
            images=pictures,
            transforms=rows,
            output_shape=size,
            interpolation=interpolation.upper(),
        )
        shape = pictures.get_shape()
        made.set_shape([shape[0], *static.as_list(), shape[3]])
        rank = images.get_shape().ndims
        if rank == 2:
            return made[0, :, :, 0]
        return made[0] if rank == 3 else made


def _four_dimensions(images: Any) -> Any:
    rank = images.get_shape().ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None]
    if rank == 3:
        return images[None]
    if rank == 4:
        return images
    raise TypeError("Images should have rank between 2 and 4.")
