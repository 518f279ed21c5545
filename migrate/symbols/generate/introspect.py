# ruff: noqa: UP006, UP035, UP045
"""Print what one installed TensorFlow offers, as JSON. Runs on Python 3.6 too.

Executed by an interpreter that has the TensorFlow in question, never imported
by the tool: ``python introspect.py > api.json``.
"""

import inspect
import json
import os
import pkgutil
import sys
import warnings
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

SKIP = {
    "absolute_import",
    "division",
    "print_function",
    "unicode_literals",
    "python",
    "core",
    "tools",
    "compiler",
}
# Whole copies of the tree inside the tree.
REPEATED: Tuple[str, ...] = (
    "tf.compat.v1.compat",
    "tf.compat.v2.compat",
    "tf.compat.v1.keras",
    "tf.keras.src",
)
# Private modules that the public tree shows under these names on purpose.
PUBLIC = (
    "tf.flags",
    "tf.app.flags",
    "tf.compat.v1.flags",
    "tf.compat.v1.app.flags",
    "tf.contrib.framework.nest",
    "tf.nest",
)
MAX_DEPTH = 7


def signature_of(obj: Any) -> Optional[Dict[str, Any]]:
    """Parameter names of a callable: {"args": [...], "varargs", "varkw"}."""
    try:
        target = obj
        if inspect.isclass(obj):
            target = obj.__init__
        wrapped = getattr(target, "__wrapped__", None)
        parameters = inspect.signature(wrapped or target).parameters.values()
    except (TypeError, ValueError):
        return None
    names, keyword_only, varargs, varkw, required = [], [], False, False, 0
    for index, parameter in enumerate(parameters):
        if index == 0 and parameter.name in ("self", "cls"):
            continue
        if parameter.kind == parameter.VAR_POSITIONAL:
            varargs = True
        elif parameter.kind == parameter.VAR_KEYWORD:
            varkw = True
        elif parameter.kind == parameter.KEYWORD_ONLY:
            keyword_only.append(parameter.name)
        else:
            names.append(parameter.name)
            required += parameter.default is parameter.empty
    return {
        "args": names,
        "kwonly": keyword_only,
        "varargs": varargs,
        "varkw": varkw,
        "required": required,
    }


def defaults_of(obj: Any) -> Dict[str, Any]:
    """Literal defaults (numbers, strings, booleans, None) of a callable."""
    try:
        target = obj.__init__ if inspect.isclass(obj) else obj
        wrapped = getattr(target, "__wrapped__", None)
        parameters = inspect.signature(wrapped or target).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if isinstance(parameter.default, (bool, int, float, str, type(None)))
        and parameter.default == parameter.default
        and parameter.default not in (float("inf"), float("-inf"))
    }


def kind_of(obj: Any) -> str:
    """One word for what a symbol is."""
    if inspect.ismodule(obj):
        return "module"
    if inspect.isclass(obj):
        return "class"
    if callable(obj):
        return "function"
    return "value"


def children(module: Any) -> Iterator[Tuple[str, Any]]:
    """Public attributes of a module, forcing lazily loaded ones."""
    names = set(dir(module)) | set(getattr(module, "__all__", ()))
    for name in sorted(names):
        if name.startswith("_") or name in SKIP:
            continue
        try:
            yield name, getattr(module, name)
        except Exception:  # a lazy symbol that cannot load is not offered
            continue


def is_tensorflow_module(obj: Any) -> bool:
    """Whether a module object belongs to TensorFlow's API tree."""
    name = getattr(obj, "__name__", "")
    root = name.split(".")[0]
    if root not in (
        "tensorflow",
        "tensorflow_core",
        "tensorflow_estimator",
        "keras",
        "tf_keras",
    ):
        return False
    return root != "keras" or "src" not in name.split(".")


def walk(
    module: Any, path: str, found: Dict[str, Any], seen: Set[int], depth: int
) -> None:
    """Record every public symbol below ``module``."""
    for name, obj in children(module):
        full = path + "." + name
        if full.startswith(REPEATED):
            continue
        if inspect.ismodule(obj):
            if not is_tensorflow_module(obj) or depth >= MAX_DEPTH:
                continue
            private = ".python." in obj.__name__ and "api" not in obj.__name__
            if private and ".contrib." not in obj.__name__ and full not in PUBLIC:
                # ``tf.contrib.foo.array_ops``: an import that leaked.
                continue
            if private and full not in PUBLIC and obj.__name__.split(".")[-1] != name:
                continue
            if id(obj) in seen:
                continue
            found[full] = obj
            walk(obj, full, found, seen | {id(obj)}, depth + 1)
        else:
            found[full] = obj


def private_paths(found: Dict[str, Any]) -> Dict[str, str]:
    """Definition path below the package -> preferred public name."""
    by_id: Dict[int, List[str]] = {}
    for name, obj in found.items():
        if inspect.isclass(obj) or inspect.isroutine(obj):
            by_id.setdefault(id(obj), []).append(name)

    def preference(name: str) -> Tuple[Any, ...]:
        return (
            name.startswith("tf.compat."),
            name.startswith("tf.contrib."),
            name.startswith("tf.initializers."),
            name.startswith("tf.estimator.") and name.endswith("Hook"),
            name.count("."),
            name,
        )

    best = {key: min(names, key=preference) for key, names in by_id.items()}
    table = {}
    for module_name, module in sorted(sys.modules.items()):
        parts = module_name.split(".")
        if parts[0] in ("tensorflow", "tensorflow_core"):
            below = ".".join(parts[1:])
        elif parts[0] == "tensorflow_estimator":
            below = module_name
        else:
            continue
        if ".api." in below or "_api." in below:
            continue
        if "python" not in parts and "contrib" not in parts:
            continue
        mirrors = below.startswith(("python.keras", "python.estimator"))
        package = hasattr(module, "__path__")
        for name in sorted(vars(module)):
            obj = vars(module)[name]
            if name.startswith("_") or id(obj) not in best:
                continue
            if not (inspect.isclass(obj) or inspect.isroutine(obj)):
                continue
            home = getattr(obj, "__module__", "") or ""
            home = home.replace("tensorflow_core.", "tensorflow.", 1)
            here = module_name.replace("tensorflow_core.", "tensorflow.", 1)
            public = best[id(obj)]
            # A public name of its own stays what it is, even when TensorFlow has
            # the same object elsewhere: tf.contrib.x must not pass for tf.x.
            itself = "tf." + below + "." + name in found
            if (home == here or mirrors or package) and not itself:
                table[below + "." + name] = public
    return table


def import_all(package_name: str) -> None:
    """Import every submodule of a package that can be imported."""
    try:
        package = __import__(package_name, fromlist=["_"])
    except Exception:
        return
    for info in pkgutil.walk_packages(package.__path__, package_name + "."):
        if "test" in info[1]:
            continue
        try:
            __import__(info[1])
        except BaseException:
            continue


def main() -> None:
    import tensorflow as tf

    version = tf.__version__
    found: Dict[str, Any] = {}
    global REPEATED
    if version.startswith("1."):
        import tensorflow.contrib

        REPEATED += ("tf.compat.v1",)

        import_all("tensorflow.python.estimator")
        import_all("tensorflow_estimator.python.estimator")
        assert tensorflow.contrib is not None
    walk(tf, "tf", found, {id(tf)}, 0)
    symbols = {}
    groups: Dict[int, int] = {}
    for name, obj in sorted(found.items()):
        kind = kind_of(obj)
        entry: Dict[str, Any] = {"kind": kind}
        if kind in ("class", "function"):
            signature = signature_of(obj)
            if signature is not None:
                entry.update(signature)
                entry["defaults"] = defaults_of(obj)
            entry["same"] = groups.setdefault(id(obj), len(groups))
            text = inspect.getdoc(obj) or ""
            if "deprecated" in text.lower() or "THIS FUNCTION IS" in text:
                entry["doc"] = text[:700]
        symbols[name] = entry
    result = {"version": version, "symbols": symbols}
    if version.startswith("1."):
        result["private"] = private_paths(found)
    json.dump(result, sys.stdout, indent=0, sort_keys=True)


if __name__ == "__main__":
    main()
