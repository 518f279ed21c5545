"""Variables of a TF 1 graph: their names, their values, and what they start from.

Reads and writes through the graph only, which is alike in every generation. Runs on
the Pythons of TF 1.x, 3.6 among them.
"""

import contextlib
import gc
import itertools
import re

_VARIABLE_OPS = ("VariableV2", "VarHandleOp")
_REPLICA = re.compile(r"/replica_\d+$")
# State of the optimizers that does not hang below a variable's name.
_OPTIMIZER_SCALAR = re.compile(
    r"(^|/)beta[12]_power(_\d+)?$|(^|/)(Keras)?iterations$|(^|/)OptimizeLoss/learning_rate$"
    # The settings of an optimizer that Keras made: training/Adam/beta_1.
    r"|^training(_\d+)?/\w+/\w+$"
)


def base_name(variable):
    return _REPLICA.sub("", variable.name.split(":")[0])


def variable_names(tf):
    """Names of the model's variables, and of what an optimizer keeps for each.

    Both in creation order: dense/kernel, and dense/kernel/Adam_1.
    """
    names = []
    for variable in tf.global_variables():
        name = base_name(variable)
        if name not in names:
            names.append(name)
    trainable = {base_name(variable) for variable in tf.trainable_variables()}
    step = tf.train.get_global_step()
    excluded = set() if step is None else {base_name(step)}
    slots = []
    for name in names:
        # Slots of canned models repeat a scope: dnn/dnn/logits/kernel/Adagrad.
        slot = any("/" + owner + "/" in "/" + name for owner in trainable)
        if name not in trainable and (slot or _OPTIMIZER_SCALAR.search(name)):
            excluded.add(name)
            if slot:
                slots.append(name)
    return [name for name in names if name not in excluded], slots


def _replica_operations(graph, name):
    """The variable's own operation and those of its copies on other replicas."""
    found = []
    with contextlib.suppress(KeyError):
        for index in itertools.count():
            copy = f"{name}/replica_{index}" if index else name
            operation = graph.get_operation_by_name(copy)
            if operation.type not in _VARIABLE_OPS:
                break
            found.append(operation)
    return found


def _reading(graph, operation):
    if operation.type == "VariableV2":
        return operation.outputs[0]
    # Not just any reader: one that follows a restore or an update would run it.
    for consumer in operation.outputs[0].consumers():
        if consumer.type == "ReadVariableOp" and not consumer.control_inputs:
            return consumer.outputs[0]
    raise SystemExit(f"nothing reads variable {operation.name}")


def read_weights(session, names):
    """Values of variables; of replicas' own ones (moving averages) their mean."""
    graph = session.graph
    tensors = [
        [_reading(graph, copy) for copy in _replica_operations(graph, name)]
        for name in names
    ]
    return [together(copies) for copies in session.run(tensors)]


def together(copies):
    """One value of the replicas' copies of a variable, as a checkpoint has it."""
    import numpy as np

    first = copies[0]
    if all(np.array_equal(copy, first) for copy in copies[1:]):
        return first
    return np.mean(copies, axis=0, dtype=first.dtype)


def write_weights(session, names, values):
    graph = session.graph
    for name, value in zip(names, values):
        for operation in _replica_operations(graph, name):
            # The operation that initialises a variable, and the tensor it writes.
            assign = graph.get_operation_by_name(operation.name + "/Assign")
            session.run(assign, feed_dict={assign.inputs[1]: value})


def first_uses(loss, names):
    """Places of the weights in the order in which what makes a loss first uses them.

    A Keras model that is called on features has been called before, on its inputs.
    """
    graph = loss.graph
    turns = {op.name: turn for turn, op in enumerate(graph.get_operations())}
    needed, waiting = set(), [loss.op]
    while waiting:
        operation = waiting.pop()
        if operation.name not in needed:
            needed.add(operation.name)
            waiting.extend(given.op for given in operation.inputs)
    found = []
    for place, name in enumerate(names):
        operations = _replica_operations(graph, name)
        users = [op.name for op in _users(operations[0])] if operations else []
        uses = [turns[one] for one in users if one in needed]
        if users:
            found.append((min(uses or [turns[one] for one in users]), place))
    return [place for _, place in sorted(found)]


def _users(operation):
    """Operations that compute with a variable, a regularizer's left out."""
    for reader in operation.outputs[0].consumers():
        if reader.type in ("Identity", "ReadVariableOp"):
            for output in reader.outputs:
                for user in output.consumers():
                    if "Regularizer" not in user.name and "Assign" not in user.type:
                        yield user
        elif "Assign" not in reader.type and "Initialized" not in reader.type:
            yield reader


def optimizer_constants(tf, graph):
    """Constants of the only optimizer that there is, as far as they are known.

    One that a model_fn does not keep is gone when its operations stand in the graph.
    """
    things = gc.get_objects()
    optimizers = (tf.train.Optimizer, tf.keras.optimizers.Optimizer)
    kinds = {kind for kind in set(map(type, things)) if issubclass(kind, optimizers)}
    found = set()
    for thing in things:
        if type(thing) in kinds:
            epsilon = getattr(thing, "epsilon", getattr(thing, "_epsilon", None))
            if isinstance(epsilon, (int, float)):
                found.add(float(epsilon))
    for operation in graph.get_operations():
        if "Apply" in operation.type:
            for argument, value in zip(operation.op_def.input_arg, operation.inputs):
                if argument.name == "epsilon" and value.op.type == "Const":
                    number = tf.make_ndarray(value.op.get_attr("value"))
                    found.add(float(str(number)))
    return {"epsilon": found.pop()} if len(found) == 1 else {}


def generated_weights(names, shapes, seed):
    """Plausible initial weights that depend on the shapes and the seed only."""
    import numpy as np

    draw = np.random.RandomState(seed)
    values = []
    for name, shape in zip(names, shapes):
        if len(shape) > 1:
            inputs = np.prod(shape[:-1])
            value = draw.normal(scale=(2.0 / inputs) ** 0.5, size=shape)
        elif name.endswith(("gamma", "moving_variance")):
            value = np.ones(shape)
        else:
            value = np.zeros(shape)
        values.append(value.astype(np.float32))
    return values


def drawn_weights(names, values):
    """Mean, spread and size of the weights that a program drew by itself."""
    import numpy as np

    return {
        name: [
            float(np.mean(value, dtype=np.float64)),
            float(np.std(value, dtype=np.float64)),
            int(np.size(value)),
        ]
        for name, value in zip(names, values)
    }
