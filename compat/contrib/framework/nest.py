"""``tf.contrib.framework.nest``: structures made of lists, tuples and dicts."""

from __future__ import annotations

import tensorflow.compat.v1 as tf
from tensorflow.python.util.nest import (
    assert_shallow_structure,
    flatten_dict_items,
    flatten_up_to,
    flatten_with_joined_string_paths,
    flatten_with_tuple_paths,
    flatten_with_tuple_paths_up_to,
    get_traverse_shallow_structure,
    map_structure_up_to,
    map_structure_with_paths,
    map_structure_with_tuple_paths,
    map_structure_with_tuple_paths_up_to,
    yield_flat_paths,
)

__all__ = [
    "assert_same_structure",
    "assert_shallow_structure",
    "flatten",
    "flatten_dict_items",
    "flatten_up_to",
    "flatten_with_joined_string_paths",
    "flatten_with_tuple_paths",
    "flatten_with_tuple_paths_up_to",
    "get_traverse_shallow_structure",
    "is_nested",
    "is_sequence",
    "map_structure",
    "map_structure_up_to",
    "map_structure_with_paths",
    "map_structure_with_tuple_paths",
    "map_structure_with_tuple_paths_up_to",
    "pack_sequence_as",
    "yield_flat_paths",
]

assert_same_structure = tf.nest.assert_same_structure
flatten = tf.nest.flatten
is_nested = tf.nest.is_nested
map_structure = tf.nest.map_structure
pack_sequence_as = tf.nest.pack_sequence_as
is_sequence = tf.nest.is_nested  # what it was called until TF 2.4
