"""A loop around a whole model_fn, which goes on building graphs of TensorFlow 1."""


def graph_class():
    """The class that calls the model_fn and holds what it makes."""

    class ModelGraphs:
        """Runs a model_fn as it is, in a graph of TensorFlow 1 for each mode."""

        # The graphs share variables by name, as they did through checkpoints. As in
        # a session, only what a step returns or waits for is computed.

        def __init__(X_PARAMETERS):
            self.model_fn = model_fn
            if X_HAS_PARAMS:
                self.params = params
            self.strategy = strategy
            with strategy.scope():
                self.global_step = tf.Variable(
                    0,
                    trainable=False,
                    dtype=tf.int64,
                    name="global_step",
                    aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
                )
            # All variables, by the names that TensorFlow 1 gave them.
            self.checkpoint = tf.train.Checkpoint(variables={})
            self.variables = self.checkpoint.variables
            self.variables["global_step"] = self.global_step
            self.graphs = {}
            # A checkpoint of TensorFlow 1 that training goes on from.
            self.saved = None
            # Names of the graph that is being built; its metrics' variables.
            self.names, self.local_variables = set(), []
            if X_REPLICATED:
                self.copying = False

        def variable(self, next_creator, **kwargs):
            """Makes a variable, or gives the one that another graph made."""
            if X_REPLICATED:
                if self.copying:
                    return next_creator(**kwargs)
            graph = tf.compat.v1.get_default_graph()
            collections = kwargs.pop("collections", None) or ["variables"]
            with tf.compat.v1.name_scope(kwargs["name"] or "Variable") as scope:
                name = first = scope.rstrip("/")
            number = 1
            while name in self.names:
                name, number = f"{first}_{number}", number + 1
            self.names.add(name)
            local = "local_variables" in collections
            variable = None if local else self.variables.get(name)
            if variable is None:
                trained = graph.get_collection("trainable_variables")
                if self.saved is not None and not local:
                    kwargs["initial_value"] = self.saved.get_tensor(name)
                kwargs["initial_value"] = self.computed(kwargs["initial_value"])
                kwargs.update(name=f"{name}/", collections=["made"])
                if X_REPLICATED:
                    if local or tf.distribute.has_strategy():
                        variable = next_creator(**kwargs)
                    else:
                        # Made by an evaluation, but for all replicas.
                        self.copying = True
                        with self.strategy.scope():
                            variable = tf.compat.v1.Variable(**kwargs)
                        self.copying = False
                else:
                    variable = next_creator(**kwargs)
                graph.get_collection_ref("trainable_variables")[:] = trained
                if local:
                    self.local_variables.append(variable)
                else:
                    self.variables[name] = variable
            if variable.trainable:
                collections = [*collections, "trainable_variables"]
            for collection in dict.fromkeys(collections):
                graph.add_to_collection(collection, variable)
            return variable

        def restore(self, path):
            """Goes on from a checkpoint of this program, or of TensorFlow 1."""
            if path is None:
                return
            self.saved = tf.train.load_checkpoint(path)
            if self.saved.has_tensor("global_step"):
                self.global_step.assign(self.saved.get_tensor("global_step"))
            else:
                self.saved = None
                self.checkpoint.restore(path)

        def computed(self, initial_value):
            """An initial value that may be a tensor of the graph, outside of it."""
            if not tf.is_symbolic_tensor(initial_value):
                return initial_value
            name = initial_value.name
            graph = initial_value.graph.as_graph_def()
            for node in graph.node:
                # It waits for nothing: it is computed once, before all else.
                inputs = [one for one in node.input if not one.startswith("^")]
                node.ClearField("input")
                node.input.extend(inputs)
            graph = tf.compat.v1.graph_util.extract_sub_graph(
                graph, [name.partition(":")[0]]
            )
            with tf.init_scope():
                return tf.compat.v1.wrap_function(
                    lambda: tf.import_graph_def(graph, return_elements=[name], name=""),
                    [],
                )()[0]

        def spec(self, batch, mode):
            """What the model_fn gives for a batch, in the graph being built."""
            if X_LABELS:
                features, labels = batch if isinstance(batch, tuple) else (batch, None)
            else:
                features = batch[0] if isinstance(batch, tuple) else batch
            return X_SPEC

        def graph(self, step, batch_spec):
            """A graph of TensorFlow 1 that runs `step` on batches of one kind."""

            def build(*tensors):
                batch = tf.nest.pack_sequence_as(
                    batch_spec, tensors, expand_composites=True
                )
                with tf.compat.v1.variable_creator_scope(self.variable):
                    tf.compat.v1.train.get_or_create_global_step()
                    result = step(batch)
                # A call is over when its results are there: the next may begin.
                graph = tf.compat.v1.get_default_graph()
                graph.control_outputs.extend(t.op for t in tf.nest.flatten(result))
                return result

            self.names, self.local_variables = set(), []
            tensors = tf.nest.flatten(batch_spec, expand_composites=True)
            if X_LOADS:
                known = set(self.variables)
                graph = tf.compat.v1.wrap_function(build, tensors)
                self.initialize(graph, set(self.variables) - known)
                return graph
            else:
                return tf.compat.v1.wrap_function(build, tensors)

        if X_LOADS:

            def initialize(self, graph, names):
                """Starts new variables as `init_from_checkpoint` said in a graph."""
                if self.saved is not None or self.checkpoint.save_counter.numpy() > 0:
                    return  # What was trained already wins.
                for name in sorted(names):
                    # Nothing but `init_from_checkpoint` sets it today.
                    load = getattr(self.variables[name], "_initializer_op", None)
                    if load is not None:
                        graph.prune([], load)()

        def make_train_step(self, batch_spec):
            """Makes variables, and the `train_step` for batches of one kind."""

            def replica_step(batch):
                spec = self.spec(batch, "train")
                with tf.control_dependencies([spec.train_op]):
                    return tf.identity(spec.loss)

            if X_REPLICATED:

                def step(batches):
                    # One batch for each replica.
                    spread = self.strategy.experimental_distribute_values_from_function
                    batch = spread(lambda c: batches[c.replica_id_in_sync_group])
                    losses = self.strategy.run(replica_step, args=(batch,))
                    # As reported before: the mean, if an optimizer took the mean too.
                    graph = tf.compat.v1.get_default_graph()
                    scaled = getattr(graph, "_is_loss_scaled_by_optimizer", False)
                    reduction = "MEAN" if scaled else "SUM"
                    return self.strategy.reduce(reduction, losses, axis=None)

            else:

                def step(batch):
                    return self.strategy.run(replica_step, args=(batch,))

            key = f"train {batch_spec}"
            if key not in self.graphs:
                if X_REPLICATED:
                    # In this scope optimizers of TensorFlow 1 average over replicas.
                    averaged = self.strategy._scale_loss_for_estimator_enabled()
                    with self.strategy.scope(), averaged:
                        self.graphs[key] = self.graph(step, batch_spec)
                else:
                    self.graphs[key] = self.graph(step, batch_spec)
            self.train_graph = self.graphs[key]

        def train_step(self, batch):
            if X_REPLICATED:
                """Trains on batches, one for each replica, and returns the loss."""
            else:
                """Trains on a batch and returns the loss."""
            return self.train_graph(*tf.nest.flatten(batch, expand_composites=True))

        if X_EVALUATES:

            def test_graph(self, batch_spec):
                """Returns functions for an evaluation: start, batches, figures."""
                key = f"eval {batch_spec}"
                if key in self.graphs:
                    return self.graphs[key]
                values = {}

                def step(batch):
                    spec = self.spec(batch, "eval")
                    if X_HAS_METRICS:
                        metrics = spec.eval_metric_ops or {}
                        for name, (value, _) in metrics.items():
                            values[name] = tf.convert_to_tensor(value)
                        updates = [update for _, update in metrics.values()]
                        with tf.control_dependencies(updates):
                            return tf.identity(spec.loss)
                    else:
                        return tf.identity(spec.loss)

                graph = self.graph(step, batch_spec)
                initial = [(v, v.numpy()) for v in self.local_variables]

                def reset():
                    for variable, value in initial:
                        variable.assign(value)

                @tf.function
                def run_all(iterator):
                    """Runs the graph over all batches; returns the mean loss."""
                    total, batches = tf.constant(0.0), tf.constant(0.0)
                    for batch in iterator:
                        total += graph(*tf.nest.flatten(batch, expand_composites=True))
                        batches += 1.0
                    return total / batches

                figures = graph.prune([], values) if values else dict
                self.graphs[key] = reset, run_all, figures
                return self.graphs[key]

        if X_PREDICTS:

            def predict_graph(self, batch_spec):
                """Returns a function that gives the predictions for a batch."""
                if isinstance(batch_spec, tuple):
                    batch_spec = batch_spec[0]
                key = f"infer {batch_spec}"
                if key not in self.graphs:
                    self.graphs[key] = self.graph(
                        lambda features: self.spec(features, "infer").predictions,
                        batch_spec,
                    )
                graph = self.graphs[key]
                return lambda batch: graph(
                    *tf.nest.flatten(batch, expand_composites=True)
                )


def graph_setup():
    """What stands before the first train call."""
    model = X_MODEL


def graph_test_functions():
    """The figures of an evaluation."""

    def evaluate(X_EVALUATE_PARAMETERS):
        """Returns the figures of one pass over a data set, as Estimator.evaluate."""
        # On one device, as the Estimator did unless it was told otherwise.
        dataset = X_TEST_DATASET
        reset, run_all, figures = model.test_graph(dataset.element_spec)
        reset()
        # As in Estimator.evaluate, every batch weighs the same in the loss.
        loss = run_all(iter(dataset))
        results = {name: value.numpy() for name, value in figures().items()}
        results["loss"] = float(loss)
        if X_WRITES_EVENTS:
            write_events(test_writer, int(optimizer.iterations.numpy()), results)
        results["global_step"] = int(optimizer.iterations.numpy())
        return results


def graph_trainer():
    """The members of a class around a kept model_fn."""
    X_MEMBERS
    model = X_MODEL


def layer_norm():
    """tf.contrib.layers.layer_norm, for the arguments that models give it."""

    def layer_norm(
        inputs,
        begin_norm_axis=1,
        begin_params_axis=-1,
        center=True,
        scale=True,
        scope=None,
    ):
        """tf.contrib.layers.layer_norm, whose variables have the same names."""
        shape = inputs.shape[begin_params_axis:]
        axes = list(range(inputs.shape.rank))[begin_norm_axis:]
        with tf.compat.v1.variable_scope(scope, "LayerNorm", [inputs]):
            beta, gamma = None, None
            if center:
                beta = tf.compat.v1.get_variable(
                    "beta", shape, initializer=tf.compat.v1.zeros_initializer()
                )
            if scale:
                gamma = tf.compat.v1.get_variable(
                    "gamma", shape, initializer=tf.compat.v1.ones_initializer()
                )
            mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
            return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, 1e-12)
