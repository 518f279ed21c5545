"""The training loop of a Keras model, compiled once or lifted from a model_fn."""


def prepare():
    """What must be made under the strategy's scope, next to the model."""
    X_OPTIMIZER
    if X_BUILDS:
        optimizer.build(model.trainable_variables)
    X_OPTIMIZER_STATE
    if X_LOSS_OBJECT:
        loss_object = X_LOSS
    if X_EVALUATES:
        test_loss = tf.keras.metrics.Mean(name="loss")
        test_metrics = X_METRICS
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def manager():
    """Checkpoints: continue from the latest one, as the Estimator did."""
    if X_RESTORES:
        # Training goes on from the latest checkpoint in this directory, if any.
        manager = tf.train.CheckpointManager(
            checkpoint,
            X_MODEL_DIR,
            max_to_keep=X_KEEP_MAX,
            checkpoint_name="model.ckpt",
        )
        X_RESTORE
    else:
        manager = tf.train.CheckpointManager(
            checkpoint,
            X_MODEL_DIR,
            max_to_keep=X_KEEP_MAX,
            checkpoint_name="model.ckpt",
        )
    if X_WRITES_EVENTS:
        # What TensorBoard shows.
        train_writer = tf.summary.create_file_writer(manager.directory)
        if X_EVALUATES:
            test_writer = tf.summary.create_file_writer(f"{manager.directory}/eval")


def restore():
    """Goes on from the latest checkpoint, which must be one of such a loop."""
    latest = manager.latest_checkpoint
    if latest and tf.train.load_checkpoint(latest).has_tensor("global_step"):
        like = manager.checkpoint.write(f"{latest}.like")
        convert = f"checkpoint convert {latest} --like {like} -o {latest}.tf2"
        raise SystemExit(f"{latest} is of TensorFlow 1, see: tfmigrate {convert}")
    manager.restore_or_initialize()


def present_devices():
    """Stops where replicas are put on a device that is not there."""
    # Replicas on devices that are not there would wait for each other for ever.
    present = tuple(device.name for device in tf.config.list_logical_devices())
    devices = [d for d in strategy.extended.worker_devices if not d.endswith(present)]
    if devices and strategy.num_replicas_in_sync > 1:
        raise SystemExit(f"{devices[0]} is not on this machine, which has {present}")


def train_step():
    """One replica's part of a step."""

    def train_step(batch):
        """Trains on one replica's share of a step and returns its loss."""
        if X_UNLABELLED:
            # Labels, if the data set has them, are not needed here.
            features = batch[0] if isinstance(batch, tuple) else batch
        else:
            features, labels = batch
        with tf.GradientTape() as tape:
            X_FORWARD
            if X_PER_EXAMPLE_LOSS:
                if X_SHARED:
                    # Divided once, by the examples on all replicas.
                    examples = tf.cast(tf.size(losses), losses.dtype)
                    examples = tf.distribute.get_replica_context().all_reduce(
                        "SUM", examples
                    )
                    loss = tf.reduce_sum(losses) / examples
                else:
                    loss = tf.reduce_mean(losses)
            if X_REGULARIZED:
                if X_SHARED:
                    if model.losses:
                        loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
                else:
                    if model.losses:
                        loss += tf.add_n(model.losses)
            if X_MIXED_PRECISION:
                # Small gradients would be zero in float16.
                if X_KERAS3:
                    scaled_loss = optimizer.scale_loss(loss)
                else:
                    scaled_loss = optimizer.get_scaled_loss(loss)
        if X_MIXED_PRECISION:
            gradients = tape.gradient(scaled_loss, X_TRAINED)
            if X_UNSCALES:
                gradients = optimizer.get_unscaled_gradients(gradients)
        else:
            gradients = tape.gradient(loss, X_TRAINED)
        X_APPLY
        return loss


def train_functions():
    """One step, and as many as one call may run."""

    X_TRAIN_STEP
    if X_WRITES_EVENTS:

        def write_events(writer, step, figures):
            """Writes figures to event files, which TensorBoard shows."""
            values = [
                tf.compat.v1.Summary.Value(tag=name, simple_value=value)
                for name, value in figures.items()
            ]
            summary = tf.compat.v1.Summary(value=values)
            with writer.as_default(step):
                tf.summary.experimental.write_raw_pb(summary.SerializeToString())
            writer.flush()

    if X_CHUNKS:

        @tf.function
        def train_steps(iterator, steps):
            """Runs up to `steps` steps; returns the last loss and how many ran."""
            loss, done = tf.constant(0.0), tf.constant(0)
            for batch in iterator:
                losses = strategy.run(train_step, args=(batch,))
                loss = strategy.reduce("SUM", losses, axis=None)
                done += 1
                if done >= steps:
                    break
            return loss, done

    if X_STEPWISE:

        @tf.function
        def train_next(iterator):
            """Trains on the next batch; returns the loss and if there was a batch."""
            batch = iterator.get_next_as_optional()
            if not batch.has_value():
                return tf.constant(0.0), False
            losses = strategy.run(train_step, args=(batch.get_value(),))
            loss = strategy.reduce("SUM", losses, axis=None)
            return loss, True


def test_functions():
    """Evaluation: one replica's part, the pass over the data, the figures."""

    def test_step(batch):
        """Adds one replica's batch to the test metrics."""
        if X_UNLABELLED:
            # Labels, if the data set has them, are not needed here.
            features = batch[0] if isinstance(batch, tuple) else batch
        else:
            features, labels = batch
        if X_REPLICATED:
            # At the end of the data a replica may be left without examples.
            if X_UNLABELLED:
                if tf.size(tf.nest.flatten(features)[0]) > 0:
                    X_TEST_BODY
            else:
                if tf.size(X_COUNTED) > 0:
                    X_TEST_BODY
        else:
            X_TEST_BODY

    @tf.function
    def test_steps(iterator):
        """Runs the model over all batches."""
        for batch in iterator:
            if X_CENTRAL:
                test_step(batch)
            else:
                strategy.run(test_step, args=(batch,))

    def evaluate(dataset_fn):
        """Returns the figures of one pass over a data set, as Estimator.evaluate."""
        metrics = X_ALL_METRICS
        for metric in metrics:
            metric.reset_state()
        if X_MOVING_AVERAGES:
            # Each replica has its own moving averages; the Estimator evaluated with
            # their mean, which this writes to all of them.
            for variable in model.non_trainable_variables:
                if X_KERAS3:
                    # Read as one, a variable of Keras 3 is that of the first replica.
                    copies = strategy.experimental_local_results(variable.value)
                    if copies[0].dtype.is_floating:
                        variable.assign(tf.reduce_mean(copies, axis=0))
                else:
                    variable.assign(variable.read_value())
        if X_CENTRAL:
            # One device evaluates: with central variables all replicas would have
            # to take part in every update of a metric, also at the end of the data.
            test_steps(iter(dataset_fn(None)))
        else:
            test_steps(iter(strategy.distribute_datasets_from_function(dataset_fn)))
        results = {metric.name: float(metric.result()) for metric in metrics}
        X_MORE_RESULTS
        if X_WRITES_EVENTS:
            write_events(test_writer, int(optimizer.iterations.numpy()), results)
        return {**results, "global_step": int(optimizer.iterations.numpy())}


def predict_functions():
    """Predictions for one example after the other."""

    @tf.function
    def predict_step(features):
        """Returns the predictions for a batch."""
        X_PREDICT_BODY

    def predict(X_PREDICT_PARAMETERS):
        X_DOCSTRING
        for batch in dataset:
            # Labels, if the data set has them, are not needed here.
            features = batch[0] if isinstance(batch, tuple) else batch
            X_YIELD


def keras_loss():
    """The forward pass of a compiled model."""
    predictions = X_PREDICTIONS
    losses = X_PER_EXAMPLE(labels, predictions)


def scalar_loss():
    """A loss that model_fn had averaged itself."""
    # The replicas' losses are averaged, as the Estimator did.
    if X_RENAMED:
        loss = X_SCALAR_LOSS / strategy.num_replicas_in_sync
    else:
        loss /= strategy.num_replicas_in_sync


def keras_predictions():
    """Outputs under the names of the model's output layers."""
    outputs = tf.nest.flatten(model(features, training=False))
    return dict(zip(X_OUTPUT_NAMES, outputs))


def keras_test():
    """What a replica does with a batch of test data."""
    predictions = X_PREDICTIONS
    if X_REGULARIZED:
        loss = tf.reduce_mean(X_PER_EXAMPLE(labels, predictions))
        if model.losses:
            loss += tf.add_n(model.losses)
        # As in Estimator.evaluate, every batch weighs the same in the loss.
        test_loss.update_state(loss)
    else:
        # As in Estimator.evaluate, every batch weighs the same in the loss.
        test_loss.update_state(tf.reduce_mean(X_PER_EXAMPLE(labels, predictions)))
    if X_HAS_METRICS:
        for metric in test_metrics:
            metric.update_state(labels, predictions)


def make_variables():
    """The first call of a model, which makes its variables."""
    if X_KERAS3:
        model(
            tf.nest.map_structure(
                lambda spec: tf.keras.Input(
                    batch_shape=spec.shape, dtype=spec.dtype.name
                ),
                features_spec,
            )
        )
    else:
        model(
            tf.nest.map_structure(lambda s: tf.keras.Input(type_spec=s), features_spec)
        )


def lifted_setup():
    """The model, its optimizer and metrics, before the first train call."""
    if X_UNLABELLED:
        features_spec = X_DATASET.element_spec
        if isinstance(features_spec, tuple):
            features_spec = features_spec[0]
    else:
        features_spec, _ = X_DATASET.element_spec
    with strategy.scope():
        model = X_MODEL
        # Makes the variables, whose shapes follow from those of the data.
        X_VARIABLES
        X_OPTIMIZER
        optimizer.build(X_TRAINED)
        X_OPTIMIZER_STATE
        if X_EVALUATES:
            test_loss = tf.keras.metrics.Mean(name="loss")
            X_TEST_METRICS
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def train_data():
    """The batches of one train call on several replicas."""

    def train_batches(context):
        """Serves batches for one replica each; an incomplete set is left out."""
        if X_MADE:
            dataset = X_DATASET
        sets = dataset.window(strategy.num_replicas_in_sync, drop_remainder=True)
        return sets.flat_map(lambda *batch: tf.data.Dataset.zip(batch))


def train_loop():
    """One train call: the loop itself."""
    train_iterator = iter(strategy.distribute_datasets_from_function(X_SERVES))
    if X_PER_STEP:
        # Traced once, here: to look the trace up takes as long as a small step.
        run_step = train_next.get_concrete_function(train_iterator)
    step = int(optimizer.iterations.numpy())
    X_LIMIT
    if X_FRESH:
        manager.save(step)
    else:
        if not manager.latest_checkpoint:
            manager.save(step)
    if X_SAVES_BY_TIME:
        last_save = time.time()
    if X_SAVES_BY_STEP:
        last_save = step
    if X_EVALUATES:
        # The first checkpoint is evaluated at once, the others not too often.
        last_evaluation, evaluated = 0.0, step
    if X_WRITES_EVENTS:
        # What TensorBoard shows is of the first step, and of each so many after it.
        last_written, written = step + 1 - X_SUMMARY_STEPS, None
    if X_PROFILES:
        # The profiler looks at these steps; see them in TensorBoard's Profile tab.
        profile_from, profile_to = step + 10, step + 20
        profiling = False
        # A client may ask for a trace at any time: tf.profiler.experimental.client.
        if "PROFILER_PORT" in os.environ:
            tf.profiler.experimental.server.start(int(os.environ.pop("PROFILER_PORT")))
    X_BEGIN
    if X_PER_STEP:
        if X_RATED:
            rated, started = step, time.time()
    while X_CONDITION:
        if X_PROFILES:
            if step == profile_from:
                tf.profiler.experimental.start(X_PROFILE_DIR)
                profiling = True
        if X_PER_STEP:
            X_BEFORE_STEP
            X_RUN_STEPS
            if not done:
                break  # end of the data
            step += 1
            X_AFTER_STEP
            if step % X_LOG_STEPS == 0:
                if X_RATED:
                    rate = (step - rated) / (time.time() - started)
                    print(f"step {step}: loss = {float(loss):.6f} ({rate:.1f} steps/s)")
                    rated, started = step, time.time()
                else:
                    print(f"step {step}: loss = {float(loss):.6f}")
        else:
            steps = X_CHUNK
            if X_LIMIT_OPTIONAL:
                if last_step is not None:
                    steps = min(steps, last_step - step)
            if X_PROFILES:
                if step < profile_to:
                    edge = profile_from if step < profile_from else profile_to
                    steps = min(steps, edge - step)
            if X_RATED:
                started = time.time()
            X_RUN_STEPS
            step += int(done)
            if done > 0:
                if X_RATED:
                    rate = int(done) / (time.time() - started)
                    print(f"step {step}: loss = {float(loss):.6f} ({rate:.1f} steps/s)")
                else:
                    print(f"step {step}: loss = {float(loss):.6f}")
        if X_WRITES_EVENTS:
            if step - last_written >= X_SUMMARY_STEPS:
                figures = {"loss": float(loss)}
                if written is not None:
                    per_second = (step - last_written) / (time.time() - written)
                    figures["global_step/sec"] = per_second
                write_events(train_writer, step, figures)
                last_written, written = step, time.time()
        if X_PROFILES:
            if profiling and step == profile_to:
                tf.profiler.experimental.stop()
                profiling = False
        if X_SAVES_BY_TIME:
            if time.time() - last_save >= X_SAVE_SECONDS:
                manager.save(step)
                last_save = time.time()
                if X_EVALUATES:
                    if time.time() - last_evaluation >= X_THROTTLE:
                        last_evaluation, evaluated = time.time(), step
                        X_EVALUATE
        if X_SAVES_BY_STEP:
            if step - last_save >= X_SAVE_STEPS:
                manager.save(step)
                last_save = step
                if X_EVALUATES:
                    if time.time() - last_evaluation >= X_THROTTLE:
                        last_evaluation, evaluated = time.time(), step
                        X_EVALUATE
        X_STOP
        if X_CHUNKED:
            if done < steps:
                break  # end of the data
    if X_PROFILES:
        if profiling:
            tf.profiler.experimental.stop()
    X_END
    manager.save(step)
    if X_EVALUATES:
        if evaluated != step:
            X_EVALUATE


def plain_apply():
    """The update of a compiled model."""
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
