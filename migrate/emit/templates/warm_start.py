"""Starting from a checkpoint of TF1."""


def init_from_checkpoint_function():
    """What tf.train.init_from_checkpoint did, for a model with TF1's names."""

    def init_from_checkpoint(model, path, assignment_map):
        """Loads variables of a TF1 checkpoint: {name there: name or variable here}."""
        reader = tf.train.load_checkpoint(path)
        variables = {v.name.partition(":")[0]: v for v in model.variables}
        for there, here in dict(assignment_map).items():
            if not isinstance(here, str):
                here = here.name.partition(":")[0]
            old, new = there.lstrip("/"), here.lstrip("/")
            names = [n for n in variables if n == new]
            # A name that ends in a slash stands for all variables below it.
            if here.endswith("/"):
                names = [n for n in variables if n.startswith(new)]
            if not names:
                raise ValueError(f"the model has no variable {here!r}")
            for name in names:
                variables[name].assign(reader.get_tensor(old + name[len(new) :]))
