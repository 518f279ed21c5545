"""One symbol, many doors: the resolver gives the same answer for all of them."""

from __future__ import annotations

import libcst as cst
import pytest
from tfmigrate.names.names import Door
from tfmigrate.names.resolver import Resolver

# Each module ends in an expression statement that means tf.estimator.RunConfig.
DOORS = {
    "plain": "import tensorflow as tf\ntf.estimator.RunConfig\n",
    "unaliased": "import tensorflow\ntensorflow.estimator.RunConfig\n",
    "odd alias": "import tensorflow as flow\nflow.estimator.RunConfig\n",
    "from package": "from tensorflow import estimator\nestimator.RunConfig\n",
    "from package as": "from tensorflow import estimator as est\nest.RunConfig\n",
    "from module": "from tensorflow.estimator import RunConfig\nRunConfig\n",
    "from module as": "from tensorflow.estimator import RunConfig as C\nC\n",
    "submodule": "import tensorflow.estimator as e\ne.RunConfig\n",
    "compat.v1": "import tensorflow.compat.v1 as tf\ntf.estimator.RunConfig\n",
    "through compat": "import tensorflow as tf\ntf.compat.v1.estimator.RunConfig\n",
    "from compat": "from tensorflow.compat import v1\nv1.estimator.RunConfig\n",
    "private": "from tensorflow.python.estimator.run_config import RunConfig\nRunConfig\n",
    "private module": "from tensorflow.python.estimator import run_config\nrun_config.RunConfig\n",
    "estimator package": "from tensorflow_estimator import estimator\nestimator.RunConfig\n",
    "estimator private": "from tensorflow_estimator.python.estimator.run_config import RunConfig\nRunConfig\n",
    "core package": "import tensorflow_core as tf\ntf.estimator.RunConfig\n",
    "api package": "from tensorflow._api.v1 import estimator\nestimator.RunConfig\n",
    "assignment": "import tensorflow as tf\nest = tf.estimator\nest.RunConfig\n",
    "assignment chain": "import tensorflow as tf\na = tf.estimator\nb = a\nC = b.RunConfig\nC\n",
    "tuple assignment": "import tensorflow as tf\na, b = tf.layers, tf.estimator\nb.RunConfig\n",
    "annotated": "import tensorflow as tf\nest: object = tf.estimator\nest.RunConfig\n",
    "walrus": "import tensorflow as tf\n(est := tf.estimator).RunConfig\n",
    "getattr": "import tensorflow as tf\ngetattr(tf, 'estimator').RunConfig\n",
    "getattr default": "import tensorflow as tf\ngetattr(tf, 'estimator', None).RunConfig\n",
    "import_module": "import importlib\nimportlib.import_module('tensorflow.estimator').RunConfig\n",
    "__import__": "__import__('tensorflow').estimator.RunConfig\n",
    "star": "from tensorflow import *\nestimator.RunConfig\n",
    "try": "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\ntf.estimator.RunConfig\n",
    "try none": "try:\n    from tensorflow import estimator\nexcept ImportError:\n    estimator = None\nestimator.RunConfig\n",
    "if else": "if x:\n    import tensorflow.compat.v1 as tf\nelse:\n    import tensorflow as tf\ntf.estimator.RunConfig\n",
    "local": "def f():\n    import tensorflow as tf\n    tf.estimator.RunConfig\n",
    "local alias": "import tensorflow as tf\ndef f():\n    est = tf.estimator\n    est.RunConfig\n",
    "global": "def g():\n    global tf\n    import tensorflow as tf\ndef f():\n    tf.estimator.RunConfig\n",
    "method": "import tensorflow as tf\nclass A:\n    tf = 1\n    def m(self):\n        tf.estimator.RunConfig\n",
    "comprehension": "import tensorflow as tf\n[tf.estimator.RunConfig for i in x]\n",
    "lambda": "import tensorflow as tf\nlambda: tf.estimator.RunConfig\n",
    "default": "import tensorflow as tf\ndef f(tf=tf.estimator.RunConfig): pass\n",
    "decorator": "import tensorflow as tf\n@tf.estimator.RunConfig\ndef f(): pass\n",
    "f-string": "import tensorflow as tf\nf'{tf.estimator.RunConfig}'\n",
    "match": "import tensorflow as tf\nmatch x:\n    case 1:\n        tf.estimator.RunConfig\n",
}

# Nothing here means TensorFlow, however much it looks like it.
LOOKALIKES = {
    "other package": "import numpy as tf\ntf.estimator.RunConfig\n",
    "longer name": "import tensorflowjs as tf\ntf.estimator.RunConfig\n",
    "relative": "from .tensorflow import estimator\nestimator.RunConfig\n",
    "parameter": "import tensorflow as tf\ndef f(tf):\n    tf.estimator.RunConfig\n",
    "lambda parameter": "import tensorflow as tf\nlambda tf: tf.estimator.RunConfig\n",
    "loop variable": "import tensorflow as tf\n[tf.estimator.RunConfig for tf in x]\n",
    "rebound": "import tensorflow as tf\ntf = make()\ntf.estimator.RunConfig\n",
    "with": "with open() as tf:\n    tf.estimator.RunConfig\n",
    "except": "try:\n    pass\nexcept E as tf:\n    tf.estimator.RunConfig\n",
    "class": "class tf:\n    pass\ntf.estimator.RunConfig\n",
    "attribute": "import tensorflow as tf\nself.tf.estimator.RunConfig\n",
    "own getattr": "import tensorflow as tf\ndef getattr(*a): pass\ngetattr(tf, 'estimator').RunConfig\n",
    "computed getattr": "import tensorflow as tf\ngetattr(tf, name).RunConfig\n",
    "string": "x = 'tf.estimator.RunConfig'\n",
    "cycle": "a = b\nb = a\na.estimator.RunConfig\n",
    "nowhere": "tf.estimator.RunConfig\n",
}


def meanings(code: str) -> set[str | None]:
    """What every name and attribute of a module means."""
    module = cst.parse_module(code)
    resolver = Resolver(module)
    return {resolver.resolve(use.node) for use in resolver.scopes.uses}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_leads_to_the_symbol(door: str) -> None:
    assert "tf.estimator.RunConfig" in meanings(DOORS[door])


@pytest.mark.parametrize("case", LOOKALIKES)
def test_lookalikes_mean_nothing(case: str) -> None:
    found = meanings(LOOKALIKES[case])
    assert not any(name and name.startswith("tf.estimator") for name in found)


@pytest.mark.parametrize(
    ("code", "door"),
    [
        ("import tensorflow as tf\ntf.Session\n", Door.PUBLIC),
        ("import tensorflow.compat.v1 as tf\ntf.Session\n", Door.COMPAT_V1),
        ("import tensorflow as tf\ntf.compat.v2.where\n", Door.COMPAT_V2),
        (
            "from tensorflow.python.client import session\nsession.Session\n",
            Door.PRIVATE,
        ),
        (
            "import tensorflow_estimator as e\ne.estimator.RunConfig\n",
            Door.ESTIMATOR_PACKAGE,
        ),
    ],
)
def test_the_door_is_remembered(code: str, door: Door) -> None:
    resolver = Resolver(cst.parse_module(code))
    assert resolver.door(resolver.scopes.uses[-1].node) is door


def test_the_last_binding_before_a_use_counts_in_one_scope() -> None:
    code = "import tensorflow as tf\nopt = tf.train.AdamOptimizer\nopt\nopt = opt(1)\nopt\n"
    resolver = Resolver(cst.parse_module(code))
    loads = [u.node for u in resolver.scopes.uses if isinstance(u.node, cst.Name)]
    named = [resolver.resolve(n) for n in loads if n.value == "opt"]
    assert named == ["tf.train.AdamOptimizer", "tf.train.AdamOptimizer", None]


def test_definitions_are_followed_through_aliases() -> None:
    module = cst.parse_module("def model_fn(): pass\nfn = model_fn\nfn\n")
    resolver = Resolver(module)
    definition = resolver.definition(resolver.scopes.uses[-1].node)
    assert definition is module.body[0]


def test_a_project_module_may_reexport() -> None:
    def exports(module: str, name: str) -> str | None:
        return {("pkg.common", "tf"): "tensorflow"}.get((module, name))

    for code in (
        "from .common import tf\ntf.estimator.RunConfig\n",
        "from pkg.common import tf as t\nt.estimator.RunConfig\n",
        "import pkg.common\npkg.common.tf.estimator.RunConfig\n",
        "from pkg import common\ncommon.tf.estimator.RunConfig\n",
        "from pkg.common import *\ntf.estimator.RunConfig\n",
    ):
        resolver = Resolver(
            cst.parse_module(code), module_name="pkg.train", exports=exports
        )
        names = {resolver.resolve(use.node) for use in resolver.scopes.uses}
        assert "tf.estimator.RunConfig" in names, code
