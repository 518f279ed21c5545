"""Loads SavedModels, tells their signatures and what they answer.

A standalone script: it needs Python 3.6, numpy and the TensorFlow it runs under,
which may be the real 1.15.

    python saved_models.py --out DIR [--inputs FILE] MODEL...

The first run makes inputs from the signatures that all models have and keeps them in
DIR/inputs.npz; a later run is given them. What each model is called and answers goes
to DIR/described.json and DIR/outputs-N.npz.
"""

import argparse
import base64
import json
import os
import re
import sys

BATCH = 4
# An unknown length that is not the batch's.
LENGTH = 4
# Indices stay inside any vocabulary; of two values both stay inside any choice.
LARGEST_INDEX = 2
WORDS = ("the", "a", "cat", "sat")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--inputs", help="inputs that an earlier run made")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import numpy as np
    import tensorflow as tf

    models = [Model(tf, path) for path in options.models]
    if options.inputs:
        with np.load(options.inputs) as stored:
            inputs = {key: unpacked(stored[key]) for key in stored.files}
    else:
        inputs = made_inputs(tf, models)
        packed = {key: packed_array(value) for key, value in inputs.items()}
        np.savez(os.path.join(options.out, "inputs.npz"), **packed)
    described = []
    for number, model in enumerate(models):
        outputs, problems = answers(model, inputs)
        np.savez(os.path.join(options.out, "outputs-%d.npz" % number), **outputs)
        described.append(
            {
                "error": model.error,
                "signatures": model.signatures,
                "problems": problems,
                "tensorflow": tf.__version__,
            }
        )
    with open(os.path.join(options.out, "described.json"), "w") as stream:
        json.dump(described, stream, indent=1, sort_keys=True)


def packed_array(value):
    """Bytes as base64: numpy's own strings lose zeros at their end."""
    import numpy as np

    if value.dtype != object:
        return value
    flat = [base64.b64encode(each) for each in value.reshape(-1)]
    return np.array(flat, dtype="S").reshape(value.shape)


def unpacked(value):
    import numpy as np

    if value.dtype.kind != "S":
        return value
    flat = np.empty(value.size, dtype=object)
    flat[:] = [base64.b64decode(each) for each in value.reshape(-1)]
    return flat.reshape(value.shape)


# --- models: their signatures, and a way to call them ---


def told(error):
    """The first sentence of what TensorFlow says; the rest is advice."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return re.split(r"(?<=[^.])[.;] ", lines[0])[0][:300]


def spec(tf, info):
    """A tensor's type and shape; unknown dimensions are None, an unknown rank too."""
    shape = info.tensor_shape
    dims = [None if dim.size < 0 else dim.size for dim in shape.dim]
    return {
        "dtype": tf.as_dtype(info.dtype).name,
        "shape": None if shape.unknown_rank else dims,
    }


class Model:
    """A SavedModel of either generation, loaded in a session as a server does."""

    def __init__(self, tf, path):
        self.path = path
        # What a loader says of a file is a result.
        self.error = None
        self.signatures = {}
        v1 = getattr(tf.compat, "v1", tf)
        self._session = v1.Session(graph=tf.Graph())
        self._names = {}
        try:
            with self._session.graph.as_default():
                meta = v1.saved_model.loader.load(self._session, ["serve"], path)
        except Exception as error:
            self.error = told(error)
            return
        for name, found in sorted(meta.signature_def.items()):
            # Outputs of sparse parts are not what a client is given by name.
            named = all(info.name for info in found.outputs.values())
            if named and not name.startswith("__"):
                sides = {"inputs": found.inputs, "outputs": found.outputs}
                self.signatures[name] = {
                    part: {key: spec(tf, info) for key, info in side.items()}
                    for part, side in sides.items()
                }
                self._names[name] = [
                    {key: info.name for key, info in side.items()}
                    for side in sides.values()
                ]

    def call(self, name, values):
        inputs, outputs = self._names[name]
        feeds = {inputs[key]: value for key, value in values.items()}
        return self._session.run(outputs, feeds)


# --- inputs ---


def made_inputs(tf, models):
    """Values ("signature/input") for the signatures that all models have."""
    import numpy as np

    loaded = [model for model in models if model.error is None]
    if not loaded:
        return {}
    shared = set(loaded[0].signatures).intersection(*(m.signatures for m in loaded))
    features = {}
    for model in models:
        features.update(parsed_features(model.path))
    result = {}
    for name in sorted(shared):
        wanted = [model.signatures[name]["inputs"] for model in loaded]
        keys = sorted(set(wanted[0]).intersection(*wanted[1:]))
        for key in keys:
            specs = [each[key] for each in wanted]
            seed = sum(map(ord, name + "/" + key))
            draw = np.random.RandomState(seed)
            alone = len(keys) == 1 and specs[0]["dtype"] == "string"
            if alone and features:
                value = examples(tf, features, draw)
            else:
                value = drawn(specs[0]["dtype"], shape_of(specs), draw)
            result[name + "/" + key] = value
    return result


def shape_of(specs):
    """A shape that all of them take: a known dimension wins over an unknown one."""
    known = [each["shape"] for each in specs if each["shape"] is not None]
    if not known:
        return [BATCH]
    dims = []
    for place in range(max(len(shape) for shape in known)):
        given = [s[place] for s in known if len(s) > place and s[place] is not None]
        dims.append(given[0] if given else (LENGTH if place else BATCH))
    return dims


def drawn(dtype, shape, draw):
    if dtype == "string":
        return draw.choice(WORDS, size=shape).astype("S").astype(object)
    if dtype == "bool":
        return draw.randint(0, 2, size=shape).astype(bool)
    if "int" in dtype:
        return draw.randint(0, LARGEST_INDEX, size=shape).astype(dtype)
    return draw.normal(size=shape).astype("f4" if dtype == "bfloat16" else dtype)


def examples(tf, features, draw):
    """Serialized tf.Examples with the features that a signature parses."""
    import numpy as np

    made = []
    for _ in range(BATCH):
        example = tf.train.Example()
        for name in sorted(features):
            dtype, size = features[name]
            feature = example.features.feature[name]
            value = drawn(dtype, [size], draw)
            if dtype == "string":
                feature.bytes_list.value.extend(value.tolist())
            elif dtype == "int64":
                feature.int64_list.value.extend(value.tolist())
            else:
                feature.float_list.value.extend(value.tolist())
        made.append(example.SerializeToString())
    return np.array(made, dtype=object)


def parsed_features(path):
    """Type and size of each feature that the model's graphs parse, by name."""
    from tensorflow.core.protobuf import saved_model_pb2

    model = saved_model_pb2.SavedModel()
    file = os.path.join(path, "saved_model.pb")
    if not os.path.exists(file):
        return {}
    with open(file, "rb") as stream:
        model.ParseFromString(stream.read())
    found = {}
    for meta in model.meta_graphs:
        bodies = [meta.graph_def.node]
        bodies += [function.node_def for function in meta.graph_def.library.function]
        for nodes in bodies:
            by_name = {node.name: node for node in nodes}
            for node in nodes:
                if node.op in ("ParseExample", "ParseExampleV2"):
                    found.update(features_of(node, by_name))
    return found


def features_of(node, by_name):
    from tensorflow.python.framework import dtypes, tensor_util

    def names_in(places):
        names = []
        for place in places:
            constant = by_name.get(place.split(":")[0].lstrip("^"))
            if constant is None or "value" not in constant.attr:
                return []
            array = tensor_util.MakeNdarray(constant.attr["value"].tensor)
            names += [each.decode("utf-8") for each in array.reshape(-1).tolist()]
        return names

    def types(name):
        return [dtypes.as_dtype(each).name for each in node.attr[name].list.type]

    sparse_types, dense_types = types("sparse_types"), types("Tdense")
    if node.op == "ParseExampleV2":
        sparse, dense = names_in(node.input[2:3]), names_in(node.input[3:4])
    else:
        first = 2 + len(sparse_types)
        sparse = names_in(node.input[2:first])
        dense = names_in(node.input[first : first + len(dense_types)])
    found = {name: (dtype, 2) for name, dtype in zip(sparse, sparse_types)}
    given = node.attr["dense_shapes"].list.shape
    for name, dtype, shape in zip(dense, dense_types, given):
        size = 1
        for dim in shape.dim:
            size *= dim.size if dim.size > 0 else 2
        found[name] = (dtype, size)
    return found


def answers(model, inputs):
    """Outputs ("signature/output") and what went wrong, by signature."""
    import numpy as np

    outputs, problems = {}, {}
    for name, signature in model.signatures.items():
        keys = {key: name + "/" + key for key in signature["inputs"]}
        if not set(keys.values()) <= set(inputs):
            continue
        try:
            found = model.call(name, {key: inputs[of] for key, of in keys.items()})
        except Exception as error:
            problems[name] = told(error)
            continue
        for key, value in found.items():
            value = np.asarray(value)
            strings = value.dtype == object
            outputs[name + "/" + key] = value.astype("S") if strings else value
    return outputs, problems


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
