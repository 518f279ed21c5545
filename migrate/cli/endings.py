"""How every command ends: what it said is out, or one line says why not."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn

import click

from ..errors import UserError
from ..report.printable import printable

_TRACEBACK = "TFMIGRATE_TRACEBACK"
_SAYABLE = "tfmigrate-sayable"
_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def run_to_the_end(command: Callable[[], object]) -> NoReturn:
    """Run a command; any failure is one line on stderr and exit status 2."""
    _have_streams()
    _say_anything()
    status: object = 0
    try:
        _be_somewhere()
        command()
    except SystemExit as ending:
        status = ending.code
    except UserError as error:
        status = _failed(error.message, error.hint)
    except OSError as error:
        status = _failed(_words(error))
    except MemoryError:
        status = _failed("out of memory")
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        status = _failed(
            f"internal error: {type(error).__name__}: {' '.join(str(error).split())}",
            f"this is a mistake of tfmigrate's; {_TRACEBACK}=1 shows where it is made",
        )
    try:
        sys.stdout.flush()
    except OSError as error:
        status = _failed(f"cannot write to standard output: {error.strerror}")
        # Python would try once more when it ends, and complain in its own way.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)  # type: ignore[arg-type]


def _failed(message: str, hint: str | None = None) -> int:
    with contextlib.suppress(OSError):
        click.echo(f"error: {printable(message)}", err=True)
        if hint:
            click.echo(f"hint: {printable(hint)}", err=True)
    return 2


def _words(error: OSError) -> str:
    what = error.strerror or str(error)
    return f"{error.filename}: {what}" if error.filename is not None else what


def _have_streams() -> None:
    """Open what the caller closed (`>&-`): the next file would get its number.

    What is written there is written nowhere, as was asked for.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)


def _be_somewhere() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UserError(
            "the folder you are in does not exist any more",
            hint="change to another folder",
        ) from None


def _say_anything() -> None:
    """Let stdout take any text: names of files are bytes, terminals have encodings.

    A name that is not text goes out as the bytes it is; what the terminal's encoding
    lacks goes out escaped.
    """
    escape = codecs.lookup_error("surrogateescape")
    spell = codecs.lookup_error("backslashreplace")

    def sayable(error: UnicodeError) -> tuple[str | bytes, int]:
        try:
            return escape(error)
        except UnicodeError:
            return spell(error)

    codecs.register_error(_SAYABLE, sayable)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_SAYABLE)
