"""Combines the listings of real TensorFlows into one table of TF1 symbols.

An entry says where a symbol of TF 1.15 lives on in TF 2.21:

``to``      the name to use today
``old``, ``new``, ``keywords``, ``differ``
            parameter names then and now, renamed keywords, and parameters whose
            default changed: the name alone is not enough
``else``    the name with exactly the old behaviour, when the arguments of a call
            do not fit ``to``

A symbol without an entry either needs nothing (it is in ``kept``) or has no home.
``still`` are the entries whose name TF 2.21 has too, with other arguments or another
meaning, and ``recent`` the names that no TF 1 had. ``until_2_15`` are names of TF 1
without a home today that TF 2.15 had as TF 1 did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..curated import CONTRIB, KEEP_V1, SAME

__all__ = ["build_table", "until_2_15"]

Listing = Mapping[str, Mapping[str, Any]]

# Packages of tf.contrib whose members moved to one place under their own name.
_HOMES = {
    "tf.contrib.data.": ("tf.data.experimental.",),
    "tf.contrib.cluster_resolver.": ("tf.distribute.cluster_resolver.",),
    "tf.contrib.framework.nest.": ("tf.nest.",),
    "tf.contrib.distribute.": ("tf.distribute.",),
    "tf.contrib.eager.": ("tf.",),
}


class _Builder:
    def __init__(
        self, old: Listing, new: Listing, tables: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.old = old
        self.new = new
        self.renames: Mapping[str, str] = tables["renames"]
        self.keywords: Mapping[str, Mapping[str, str]] = tables["keywords"]
        self.same: dict[int, list[str]] = {}
        for name, entry in old.items():
            if "same" in entry:
                self.same.setdefault(entry["same"], []).append(name)

    def compat(self, name: str) -> str | None:
        """The name under tf.compat.v1 of today, if it is there."""
        found = "tf.compat.v1." + name[3:]
        return found if found in self.new else None

    def identical(self, first: str, second: str) -> bool:
        """Whether two names of TF 1.15 are one object."""
        a, b = self.old.get(first), self.old.get(second)
        return (
            a is not None
            and b is not None
            and a.get("same") is not None
            and a.get("same") == b.get("same")
        )

    def entry(self, name: str) -> dict[str, Any] | None:
        """What to do with a symbol; {} for nothing, None for no home."""
        if name.startswith("tf.contrib."):
            return self.contrib(name)
        if name in SAME and name in self.new:
            return {}
        kind = self.old[name]["kind"]
        compat = self.compat(name)
        if name in KEEP_V1:
            return {"to": compat} if compat else None
        if name in self.new:
            if name.startswith("tf.keras."):
                return {}
            target = self.renames.get(name, name)
            if kind in ("module", "value"):
                return {}
            if target not in self.new:
                target = name
            if target.startswith("tf.compat.v1."):
                return {"to": target}
            if self.identical(name, "tf.compat.v2." + target[3:]):
                return {} if target == name else {"to": target}
            return self.changed(name, target, compat)
        target = self.renames.get(name, "")
        if target in self.new:
            if target.startswith("tf.compat.v1.") or kind in ("module", "value"):
                return {"to": target}
            if self.identical(name, "tf.compat.v2." + target[3:]):
                return {"to": target}
            if self.identical(name, target) or compat is not None:
                return self.changed(name, target, compat)
        return {"to": compat} if compat else None

    def changed(self, name: str, target: str, compat: str | None) -> dict[str, Any]:
        """An entry for a function whose parameters may not be the same."""
        before, after = self.old[name], self.new[target]
        exact = {"to": compat} if compat else {"to": target}
        if "args" not in before or "args" not in after or before["varargs"]:
            return exact
        keywords = dict(self.keywords.get(target, {}))
        keywords.update(self.keywords.get(name, {}))
        keywords = {
            old: new
            for old, new in keywords.items()
            if new is not None and old != new and old in before["args"]
        }
        accepted = {*after["args"], *after["kwonly"]}
        for parameter in before["args"]:
            renamed = keywords.get(parameter)
            if renamed is not None and renamed not in accepted:
                del keywords[parameter]
        differ = []
        for parameter, default in before["defaults"].items():
            today = keywords.get(parameter, parameter)
            if today not in accepted:
                continue
            if parameter != today and parameter in accepted:
                continue
            now = after["defaults"].get(today, "no default")
            # A second name for the same parameter (keep_dims) is None when unused,
            # None means False for flags, and a parameter that is required today
            # was required then under one of its names.
            unused = parameter != today and default is None
            if now in (default, "no default") or unused:
                continue
            if {now, default} != {None, False}:
                differ.append(parameter)
        if (
            before["args"] == after["args"]
            and not keywords
            and not differ
            and before["kwonly"] == after["kwonly"]
        ):
            return {} if target == name else {"to": target}
        result: dict[str, Any] = {
            "to": target,
            "old": before["args"],
            "new": after["args"],
        }
        if after["kwonly"]:
            result["newkw"] = after["kwonly"]
        if keywords:
            result["keywords"] = keywords
        if differ:
            result["differ"] = differ
        if compat:
            result["else"] = compat
        return result

    def contrib(self, name: str) -> dict[str, Any] | None:
        """The home of a tf.contrib symbol, if it has one."""
        if name in CONTRIB:
            target = CONTRIB[name]
            if not target or target not in self.new:
                return None
            return self._fitting(name, target)
        group = self.old[name].get("same")
        if group is not None and self.old[name]["kind"] != "module":
            homes = [n for n in self.same[group] if not n.startswith("tf.contrib.")]
            plain = [n for n in homes if not n.startswith("tf.compat.")]
            for home in sorted(plain, key=lambda n: (n.count("."), n)):
                found = self.entry(home)
                if found is None:
                    continue
                return found or {"to": home}
            for home in homes:
                today = home.replace("tf.compat.v2.", "tf.", 1)
                if today in self.new:
                    return {"to": today}
        target = self.renames.get(name, "")
        if target in self.new:
            return self._fitting(name, target)
        for prefix, places in _HOMES.items():
            if name.startswith(prefix):
                for place in places:
                    target = place + name[len(prefix) :]
                    if target in self.new and self._accepts(name, target):
                        return {"to": target}
        return None

    def _accepts(self, name: str, target: str) -> bool:
        before, after = self.old[name], self.new[target]
        if "args" not in before or "args" not in after:
            return bool(before["kind"] == after["kind"])
        count = len(before["args"])
        fits: bool = before["args"] == after["args"][:count]
        return fits

    def _fitting(self, name: str, target: str) -> dict[str, Any]:
        """A move, with the parameters when they are not the same."""
        if self._accepts(name, target):
            return {"to": target}
        found = self.changed(name, target, None)
        return found or {"to": target}


def build_table(
    old: Listing,
    new: Listing,
    tables: Mapping[str, Mapping[str, Any]],
    last: Listing,
) -> dict[str, Any]:
    """The symbol table: entries, names that need nothing, names without home.

    ``last`` is the listing of TF 2.15, the last release with Estimators and Keras 2.
    """
    builder = _Builder(old, new, tables)
    entries: dict[str, Any] = {}
    kept: list[str] = []
    none: list[str] = []
    for name in sorted(old):
        if name.startswith(("tf.compat.", "tf.raw_ops")):
            continue
        found = builder.entry(name)
        if found is None:
            if not name.startswith("tf.contrib."):
                none.append(name)
        elif found:
            entries[name] = found
        else:
            kept.append(name)
    compat = sorted(
        n[len("tf.compat.v1.") :] for n in new if n.startswith("tf.compat.v1.")
    )
    return {
        "symbols": entries,
        "kept": kept,
        "none": none,
        "compat_v1": compat,
        "still": [name for name in entries if name in new],
        "recent": sorted(
            name
            for name in new
            if name not in old and not name.startswith(("tf.compat.", "tf.raw_ops"))
        ),
        "until_2_15": until_2_15(old, new, last),
    }


def until_2_15(old: Listing, new: Listing, last: Listing) -> list[str]:
    """Names of TF 1 that TF 2.15 had, with the same parameters, and today has not."""
    return sorted(
        name
        for name in old
        if name in last
        and name not in new
        and not name.startswith(("tf.compat.", "tf.contrib."))
        and old[name].get("args") == last[name].get("args")
    )
