"""What a loop that is a class has besides: its members, and how it begins."""


def trainer_init_keras():
    """The members of a class around a compiled model."""
    X_MEMBERS
    if X_SCOPED:
        with strategy.scope():
            if X_LOSS_OBJECT:
                loss_object = X_LOSS
            if X_EVALUATES:
                test_loss = tf.keras.metrics.Mean(name="loss")
                test_metrics = X_METRICS
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def trainer_site_keras():
    """What must be made under the strategy's scope, next to the model."""
    X_OPTIMIZER
    if X_BUILDS:
        optimizer.build(model.trainable_variables)
    X_OPTIMIZER_STATE


def trainer_init_lifted():
    """The members of a class around a lifted model."""
    X_MEMBERS
    with strategy.scope():
        model = X_MODEL
        X_OPTIMIZER
        if X_EVALUATES:
            test_loss = tf.keras.metrics.Mean(name="loss")
            X_TEST_METRICS
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def trainer_build():
    """Variables are made when data is seen first."""

    def build(self, dataset):
        """Makes the variables, whose shapes follow from those of the data."""
        if model.built:
            return
        spec = dataset.element_spec
        features_spec = spec[0] if isinstance(spec, tuple) else spec
        with strategy.scope():
            X_VARIABLES
            optimizer.build(X_TRAINED)
            X_OPTIMIZER_STATE
        # Training goes on from the latest checkpoint in the directory, if any.
        X_RESTORE
