"""Today's names for functions in lifted code, where they mean exactly the same."""

from __future__ import annotations

import libcst as cst

from ..program import TF

__all__ = ["modern_call"]

_CASTS = {
    "tf.to_double": "float64",
    "tf.to_float": "float32",
    "tf.to_int32": "int32",
    "tf.to_int64": "int64",
}
_RENAMED = {
    # Of one table, and without max_norm, a look-up is nothing else.
    "tf.nn.embedding_lookup": ("gather", ()),
}
# Parameters that changed their order: named here, where lines are still fitted.
_NAMED = {"tf.nn.in_top_k": ("predictions", "targets", "k")}


def modern_call(symbol: str | None, call: cst.Call) -> cst.BaseExpression | None:
    """The call under its name of today, or None to leave it to the symbol rules."""
    if symbol in _CASTS and len(call.args) == 1:
        kind = cst.Arg(cst.parse_expression(f"{TF}.{_CASTS[symbol]}"))
        return call.with_changes(
            func=cst.parse_expression(f"{TF}.cast"),
            args=[call.args[0].with_changes(keyword=None, equal=_EQUAL), kind],
        )
    if symbol in _NAMED and len(call.args) == len(_NAMED[symbol]):
        named = [
            argument
            if argument.keyword is not None
            else argument.with_changes(keyword=cst.Name(name), equal=_PLAIN_EQUAL)
            for name, argument in zip(_NAMED[symbol], call.args, strict=True)
        ]
        return call.with_changes(args=named)
    if symbol in _RENAMED:
        name, parameters = _RENAMED[symbol]
        keywords = [a.keyword.value for a in call.args if a.keyword is not None]
        if len(call.args) == 2 and set(keywords) <= set(parameters):
            return call.with_changes(func=cst.parse_expression(f"{TF}.{name}"))
    return None


_EQUAL = cst.MaybeSentinel.DEFAULT
_NOTHING = cst.SimpleWhitespace("")
_PLAIN_EQUAL = cst.AssignEqual(_NOTHING, _NOTHING)
