"""What is computed as it is read: properties, of decorators of any kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from .evaluating import HEAD, evaluate, made, reasons

CACHED = """\
def {name}(function):
    attribute = {text}

    @property
    @functools.wraps(function)
    def read(self):
        if not hasattr(self, attribute):
            with tf.variable_scope(function.__name__):
                setattr(self, attribute, function(self))
        return getattr(self, attribute)

    return read


"""
NET = """\
class Net:
    def __init__(self, x):
        self.x = x
        self._net = None

    {decorator}
    def net(self):
        {body}

    {decorator}
    def out(self):
        return tf.layers.dense(self.net, 1)


def model_fn(features, labels, mode, params):
    net = Net(features)
    return net.out
"""
DENSE = "return tf.layers.dense(self.x, 3)"
LAZY = (
    "if self._net is None:\n            self._net = tf.layers.dense(self.x, 3)\n"
    "        return self._net"
)


@pytest.mark.parametrize("decorator", ["@their.lazy", "@print", "@their.make('x')"])
def test_what_other_decorators_give_is_not_guessed(
    decorator: str, tmp_path: Path
) -> None:
    code = "import their\n" + HEAD + NET.format(decorator=decorator, body=DENSE)
    assert not made(evaluate(tmp_path, code))


def test_a_method_that_is_not_read_makes_nothing(tmp_path: Path) -> None:
    code = HEAD + NET.format(decorator="@property", body=DENSE)
    found = evaluate(tmp_path, code.replace("return net.out", "return net.x"))
    assert not made(found)


@pytest.mark.parametrize("decorator", ["@property", "@functools.cached_property"])
@pytest.mark.parametrize("body", [DENSE, LAZY])
def test_a_property_is_called_as_it_is_read(
    decorator: str, body: str, tmp_path: Path
) -> None:
    found = evaluate(tmp_path, HEAD + NET.format(decorator=decorator, body=body))
    first = "if/Dense(3)" if body is LAZY else "Dense(3)"
    assert made(found) == [first, "Dense(1)"]
    assert not reasons(found)
    assert len(found.notes.staying) == 2


@pytest.mark.parametrize(
    "text",
    [
        "'_kept_' + function.__name__",
        "'_kept_%s' % function.__name__",
        "'_kept_{}'.format(function.__name__)",
        "f'_kept_{function.__name__}'",
    ],
)
def test_what_a_decorator_keeps_under_a_name(text: str, tmp_path: Path) -> None:
    cached = CACHED.format(name="lazy", text=text)
    found = evaluate(
        tmp_path, HEAD + cached + NET.format(decorator="@lazy", body=DENSE)
    )
    inner = "if/scope ?/if/scope ?/Dense(3)"
    assert made(found) == [inner, "if/scope ?/Dense(1)"]
    assert not reasons(found)


DOUBLE = """\
def double(decorator):
    def outer(*given, **options):
        if len(given) == 1 and {test} and callable(given[0]):
            return decorator(given[0])
        {rest}

    return outer


@double
def scoped(function, name=None, **options):
    def read(self):
        with tf.variable_scope(name or function.__name__, **options):
            return function(self)

    return property(read)


"""


@pytest.mark.parametrize("decorator", ["@scoped", "@scoped('a')", "@scoped(name='a')"])
def test_a_decorator_with_and_without_arguments_is_not_seen(
    decorator: str, tmp_path: Path
) -> None:
    rest = "return lambda function: decorator(function, *given, **options)"
    code = HEAD + DOUBLE.format(test="not options", rest=rest)
    found = evaluate(tmp_path, code + NET.format(decorator=decorator, body=DENSE))
    assert not made(found)
