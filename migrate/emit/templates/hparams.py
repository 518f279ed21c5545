"""What stands in for tf.contrib.training.HParams."""


def hparams():
    """As much of the class as the program uses."""

    class HParams(types.SimpleNamespace):
        """Settings by name."""

        if X_CONTAINS:

            def __contains__(self, name):
                return name in vars(self)

        if X_VALUES:

            def values(self):
                """The settings as a dict."""
                return dict(vars(self))

        if X_GET:

            def get(self, name, default=None):
                """A setting, or the default where there is none of that name."""
                return getattr(self, name, default)

        if X_ADD_HPARAM:

            def add_hparam(self, name, value):
                """Adds a setting."""
                if hasattr(self, name):
                    raise ValueError(f"there is a setting `{name}` already")
                setattr(self, name, value)

        if X_TO_JSON:

            def to_json(self, **style):
                """The settings as JSON, without functions."""
                plain = {k: v for k, v in vars(self).items() if not callable(v)}
                return json.dumps(plain, **style)

        if X_PARSE:

            def parse(self, values):
                """Sets what a string such as `rate=0.1,units=[8,4]` says."""
                pair = re.compile(r"(\w+)\s*=\s*(?:\[([^\]]*)\]|([^,\[]*))(?:$|,\s*)")
                flags = {"true": True, "True": True, "1": True}
                flags.update({"false": False, "False": False, "0": False})
                place = 0
                while place < len(values):
                    found = pair.match(values, place)
                    if found is None or not hasattr(self, found[1]):
                        raise ValueError(f"cannot set {values[place:]!r}")
                    place = found.end()
                    name, several, one = found.groups()
                    old = getattr(self, name)
                    if isinstance(old, list) != (several is not None):
                        raise ValueError(f"`{name}` is {old!r}: one value or a list?")
                    # A value keeps its type.
                    kind = type(old[0]) if several is not None else type(old)
                    read = flags.__getitem__ if kind is bool else kind
                    if several is not None:
                        texts = filter(None, re.split("[ ,]", several))
                        setattr(self, name, [read(text) for text in texts])
                    else:
                        setattr(self, name, read(one))
                return self
