"""Print TensorFlow's own rename tables as JSON, run by TF 2.15's interpreter.

Only the tables of facts are taken: which name became which, and which keyword
became which. They are part of TensorFlow (Apache-2.0).
"""

from __future__ import annotations

import json
import sys

from tensorflow.tools.compatibility import tf_upgrade_v2


def main() -> None:
    """Write the tables to stdout."""
    spec = tf_upgrade_v2.TFAPIChangeSpec()
    tables = {
        "renames": spec.symbol_renames,
        "keywords": spec.function_keyword_renames,
    }
    json.dump(tables, sys.stdout, default=str)


if __name__ == "__main__":
    main()
