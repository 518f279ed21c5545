"""Writing a model for serving."""


def export_function():
    """One export, as an Estimator or an exporter made it."""

    def export(directory, keep=None):
        """Exports into a new folder of `directory`, of which the last `keep` stay."""
        names = tf.io.gfile.listdir(directory) if tf.io.gfile.exists(directory) else []
        names = [name.rstrip("/") for name in names]
        numbers = sorted(int(name) for name in names if name.isdigit())
        # The time, but never less than what an earlier export has.
        number = max([int(time.time()), *(last + 1 for last in numbers[-1:])])
        # Servers that watch the directory must not see half an export.
        unfinished = os.path.join(directory, f"temp-{number}")
        tf.saved_model.save(model, unfinished, signatures=X_SIGNATURES)
        path = os.path.join(directory, str(number))
        tf.io.gfile.rename(unfinished, path)
        if keep:
            for old in [*numbers, number][:-keep]:
                tf.io.gfile.rmtree(os.path.join(directory, str(old)))
        return path


def exporters():
    """What the exporters of an EvalSpec did."""
    if X_BEST:
        best_results = {}

    def export_evaluated(results):
        """Exports the evaluated model, as the exporters of the EvalSpec did."""
        exports = os.path.join(manager.directory, "export")
        if X_LISTED:
            paths = []
        X_EXPORTERS
        X_RETURN
