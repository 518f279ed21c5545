"""First file of the process that ``tfmigrate run`` starts.

Started by path, not with ``-m``, so that nothing in the user's folder can
shadow a module before the program itself runs.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run what the command line names: ``script|module|notebook TARGET ARGS``."""
    # Python put this file's folder first; a script expects its own there.
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]

    from tfmigrate.compat.launcher import children, execute, python2, tracebacks
    from tfmigrate.compat.launcher.bygone import restore_python_names
    from tfmigrate.compat.launcher.old_protos import restore_old_protos
    from tfmigrate.compat.launcher.settings import Settings
    from tfmigrate.compat.launcher.trigger import arm

    settings = Settings.from_environment()
    children.prepare()
    arm(settings)
    restore_python_names()
    restore_old_protos()
    if not settings.full_traceback:
        tracebacks.install_hooks()
    kind, target, args = sys.argv[1], sys.argv[2], sys.argv[3:]
    try:
        if kind == "module":
            execute.run_module(target, args)
        elif kind == "notebook":
            from tfmigrate.compat.launcher import notebook

            notebook.run_notebook(target, args, shell_lines=settings.shell_lines)
        else:
            execute.run_path(target, args)
    except execute.LaunchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except SyntaxError as error:
        message = python2.python2_message(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
