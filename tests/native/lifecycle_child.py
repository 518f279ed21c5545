"""Runs the given programs in this process and prints what each one printed."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
import traceback
from pathlib import Path


def printed(program: str) -> str:
    """Standard output of a program, which runs as ``__main__``."""
    out = io.StringIO()
    sys.argv = [program]
    sys.path.insert(0, str(Path(program).parent))
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(program, run_name="__main__")
    except SystemExit:
        pass
    except BaseException:
        out.write(traceback.format_exc())
    finally:
        sys.path.pop(0)
    return out.getvalue()


if __name__ == "__main__":
    names = sys.argv[1:]
    found = {Path(name).name: printed(name) for name in names}
    print("RESULTS" + json.dumps(found))
