"""Names that Python and NumPy dropped since programs for TF 1 were written.

TensorFlow 2 comes with a Python and a NumPy that lack them, so a program that
names one fails with an AttributeError whatever its TensorFlow code is like.
"""

from __future__ import annotations

import re

__all__ = ["ADVICE", "METHODS", "PACKAGES", "RENAMED", "may_name_bygone"]

# Old dotted name -> today's, which means the same wherever it is used.
RENAMED: dict[str, str] = {
    # They were Python's own types. NumPy 2 has a `bool` and a `long` again.
    **{
        f"numpy.{name}": f"builtins.{name}"
        for name in ("int", "float", "complex", "object", "str")
    },
    "numpy.unicode": "builtins.str",
    **{
        f"numpy.{old}": f"numpy.{new}"
        for old, new in {
            "bool8": "bool_",
            "int0": "intp",
            "uint0": "uintp",
            "str0": "str_",
            "bytes0": "bytes_",
            "object0": "object_",
            "void0": "void",
            "float_": "float64",
            "complex_": "complex128",
            "cfloat": "complex128",
            "singlecomplex": "complex64",
            "longfloat": "longdouble",
            "longcomplex": "clongdouble",
            "clongfloat": "clongdouble",
            "string_": "bytes_",
            "unicode_": "str_",
            "Inf": "inf",
            "Infinity": "inf",
            "infty": "inf",
            "PINF": "inf",
            "NaN": "nan",
            "NAN": "nan",
            "product": "prod",
            "cumproduct": "cumprod",
            "alltrue": "all",
            "sometrue": "any",
            "round_": "round",
            "typeDict": "sctypeDict",
            "mat": "asmatrix",
            "AxisError": "exceptions.AxisError",
            "ComplexWarning": "exceptions.ComplexWarning",
            "RankWarning": "exceptions.RankWarning",
            "TooHardError": "exceptions.TooHardError",
            "VisibleDeprecationWarning": "exceptions.VisibleDeprecationWarning",
            "format_parser": "rec.format_parser",
        }.items()
    },
    **{
        f"collections.{name}": f"collections.abc.{name}"
        for name in (
            *("AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable"),
            *("ByteString", "Callable", "Collection", "Container", "Coroutine"),
            *("Generator", "Hashable", "ItemsView", "Iterable", "Iterator"),
            *("KeysView", "Mapping", "MappingView", "MutableMapping"),
            *("MutableSequence", "MutableSet", "Reversible", "Sequence", "Set"),
            *("Sized", "ValuesView"),
        )
    },
    "base64.decodestring": "base64.decodebytes",
    "base64.encodestring": "base64.encodebytes",
    "cgi.escape": "html.escape",
    "fractions.gcd": "math.gcd",
    # What it measured on Unix.
    "time.clock": "time.process_time",
}

# Old dotted name -> what to write, where a name alone does not do.
ADVICE: dict[str, str] = {
    "numpy.NINF": "write `-np.inf`",
    "numpy.alen": "write `len(np.atleast_1d(a))`",
    "numpy.asfarray": "write `np.asarray(a, dtype=float)`",
    "numpy.asscalar": "write `a.item()`",
    "numpy.cast": "write `np.asarray(a, dtype)`",
    "numpy.find_common_type": "use `np.result_type` or `np.promote_types`",
    "numpy.in1d": "use `np.isin`, which keeps the shape of its first argument",
    "numpy.msort": "write `np.sort(a, axis=0)`",
    "numpy.rank": "use `np.ndim`",
    "numpy.sctypes": "name the types; NumPy no longer lists them",
    "numpy.trapz": "use `np.trapezoid` of NumPy 2, or `scipy.integrate.trapezoid`",
    "inspect.getargspec": "use `inspect.getfullargspec`, which has seven parts, or "
    "`inspect.signature`",
    "inspect.formatargspec": "use `str(inspect.signature(function))`",
    "platform.linux_distribution": "use the `distro` package",
    "string.letters": "use `string.ascii_letters`",
}

# Old method of arrays, called without arguments -> today's. Nothing but arrays (NumPy's
# and Python's own) had one of that name that takes nothing.
METHODS: dict[str, str] = {"tostring": "tobytes"}

# The packages that the names above are from.
PACKAGES: frozenset[str] = frozenset(
    name.partition(".")[0] for name in (*RENAMED, *ADVICE)
)

_NAMES = re.compile(
    rb"\b(?:"
    + "|".join(
        sorted({n.rpartition(".")[2] for n in (*RENAMED, *ADVICE, *METHODS)})
    ).encode()
    + rb")\b"
)
_IMPORTS = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+(?:%s)\b" % "|".join(sorted(PACKAGES)).encode(), re.M
)


def may_name_bygone(content: bytes) -> bool:
    """Whether a file can hold one of these names, told from its bytes."""
    return _IMPORTS.search(content) is not None and _NAMES.search(content) is not None
