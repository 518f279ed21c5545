"""Runs at the start of each Python child of a program under ``tfmigrate run``.

The child may be any Python, even Python 2, and must start whatever happens
here: so this file keeps to syntax that every Python reads, and gives way when
tfmigrate is not installed for it.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _arm():
    # type: () -> None
    if "TFMIGRATE_RUN" not in os.environ or sys.version_info < (3, 10):
        return
    try:
        from tfmigrate.compat.launcher.settings import Settings
        from tfmigrate.compat.launcher.trigger import arm
    except ImportError:
        return
    arm(Settings.from_environment())


def _run_hidden_sitecustomize():
    # type: () -> None
    """The sitecustomize that ours hides (distributions ship one) runs as well."""
    for folder in sys.path:
        path = os.path.join(folder or os.curdir, "sitecustomize.py")
        if os.path.abspath(folder or os.curdir) != _here and os.path.isfile(path):
            with open(path) as stream:
                code = compile(stream.read(), path, "exec")
            exec(code, {"__name__": "sitecustomize", "__file__": path})
            return


_arm()
_run_hidden_sitecustomize()
