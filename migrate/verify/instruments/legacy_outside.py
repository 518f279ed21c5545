"""What a program does outside the folders in which its files are kept apart.

Runs on the Pythons of TF 1.x, 3.6 among them.
"""

import contextlib
import os
import sys


class Outside:
    def __init__(self, kept):
        self.opened = set()
        # Also what the program, or a library, asked a name for.
        self.passing = {os.path.realpath(str(kept)), "/proc", "/dev"}
        self.made = []
        if hasattr(sys, "addaudithook"):  # since 3.8
            sys.addaudithook(self.heard)

    def heard(self, event, args):
        if event in ("tempfile.mkstemp", "tempfile.mkdtemp"):
            self.passing.add(os.path.realpath(args[0]))
        elif event == "open" and isinstance(args[0], str):
            flags = args[2] or 0
            if flags & (os.O_WRONLY | os.O_RDWR):
                self.opened.add(os.path.realpath(args[0]))

    def written(self):
        """Files that were written and are there still; caches are no concern."""
        return sorted(
            name
            for name in filter(os.path.isfile, list(self.opened))
            if not any(part.startswith((".", "__")) for part in name.split(os.sep))
            and not any((name + os.sep).startswith(t + os.sep) for t in self.passing)
        )

    def make(self, folder):
        """A folder whose files are kept apart: the program may write beside them."""
        folder = str(folder)
        if folder and "://" not in folder and not os.path.isdir(folder):
            os.makedirs(folder)
            self.made.append(folder)
        return folder

    def leave(self):
        """Take away the folders that were made, where nothing was written there."""
        for folder in self.made:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
