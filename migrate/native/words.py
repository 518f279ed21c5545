from dataclasses import dataclass


@dataclass(frozen=True)
class Reworded:
    text: str
    words: frozenset = frozenset()
    notes: tuple = ()


def reworded(parsed, *, module, package, for_tf2, beside):
    return Reworded(parsed.source.text)
