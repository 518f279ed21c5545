"""Which weight of one program is which of another's.

Two programs seldom call their weights alike, and make them in another order. What
decides is, in turn, each only among the weights that the ones before left open, and
only where both programs have as many weights of a kind:

* the shape;
* what a weight was drawn as: a constant (zeros, ones), or random numbers;
* the name, without numbers of scopes and what frameworks add to it;
* what the name ends with (kernel, bias, gamma, moving_mean ...);
* words that the names share, where each weight has its own best partner;
* the order in which the forward pass first uses the weights, else in which they were
  made, whichever pairs the more similar names.

Runs on the Pythons of TF 1.x, 3.6 among them.
"""

import collections
import re


class MatchError(Exception):
    """The two programs do not have the same weights."""


class Weight:
    """What is known of a weight: what no value tells stays None."""

    def __init__(self, name, shape, constant=None, used=None, trained=True):
        self.name = name
        self.shape = tuple(shape)
        # The number that every element was drawn as; None where they differ.
        self.constant = constant
        # Its place in the order of first use.
        self.used = used
        self.trained = trained


class Match:
    """Partners: for each weight of the first program its place in the second."""

    def __init__(self, count):
        self.places = [None] * count
        # How each partner was found.
        self.evidence = [""] * count
        # Groups that nothing but an order told apart: places in both programs.
        self.by_order = []

    def pair(self, group, evidence):
        for one, other in zip(*group):
            self.places[one] = other
            self.evidence[one] = evidence


# What contrib's layers called their scopes, and what else has two names.
_CONTRIB = {"BatchNorm": "batch_normalization", "LayerNorm": "layer_normalization"}
_ENDS = {
    "weights": "kernel",
    "biases": "bias",
    "bias_weights": "bias",
    "embedding_weights": "embeddings",
}


def plain_name(name):
    """A name without what generations and frameworks add to it.

    >>> plain_name("sequential_1/dense_2/kernel:0")
    'dense/kernel'
    >>> plain_name("encoder/LayerNorm/gamma")
    'layer_normalization/gamma'
    """
    name = re.sub(r":\d+$", "", name)
    name = re.sub(r"/\.ATTRIBUTES/VARIABLE_VALUE$", "", name)
    parts = [re.sub(r"_\d+$", "", part) for part in name.split("/")]
    parts = [_CONTRIB.get(part, part) for part in parts]
    return "/".join(parts[-2:])


def _end(name):
    last = plain_name(name).rpartition("/")[2]
    return _ENDS.get(last, last)


def _words(name):
    return {word for word in re.split(r"[^a-z]+", name.lower()) if word}


# How weights of one shape are told apart, before any order.
_EVIDENCE = (
    ("first value", lambda weight: weight.constant),
    ("name", lambda weight: plain_name(weight.name)),
    ("end of the name", lambda weight: _end(weight.name)),
)


def match_weights(first, second):
    """Partners of the weights of two programs; a MatchError where shapes differ.

    A weight that is not trained may be without partner.
    """
    match = Match(len(first))
    if [(w.name, w.shape) for w in first] == [(w.name, w.shape) for w in second]:
        match.pair((range(len(first)), range(len(second))), "name")
        return match
    for group in _of_one_shape(first, second):
        _split(first, second, group, _EVIDENCE, "shape", match)
    return match


def _of_one_shape(first, second):
    """Places of the weights of each shape in both programs."""
    groups = {}
    for side, weights in enumerate((first, second)):
        for place, weight in enumerate(weights):
            groups.setdefault(weight.shape, ([], []))[side].append(place)
    for group in groups.values():
        if len(group[0]) != len(group[1]):
            # What is not trained may belong to one program alone.
            group = tuple(
                [place for place in places if weights[place].trained]
                for places, weights in zip(group, (first, second))
            )
            if len(group[0]) != len(group[1]):
                raise MatchError(differing_shapes(first, second))
        yield group


def _split(first, second, group, evidence, told, match):
    if len(group[0]) == 1:
        match.pair(group, told)
        return
    for number, (name, key) in enumerate(evidence):
        sides = ({}, {})
        for side, places, weights in zip(sides, group, (first, second)):
            for place in places:
                side.setdefault(key(weights[place]), []).append(place)
        counts = [{k: len(v) for k, v in side.items()} for side in sides]
        if counts[0] == counts[1] and len(counts[0]) > 1:
            for value, mine in sides[0].items():
                smaller = (mine, sides[1][value])
                _split(first, second, smaller, evidence[number + 1 :], name, match)
            return
    by_words = _by_words(first, second, group)
    if by_words is not None:
        match.pair((group[0], by_words), "words of the names")
        return
    ordered = _in_order(first, second, group)
    match.pair(ordered, "order")
    match.by_order.append(ordered)


def _alike(first, second, one, other):
    return len(_words(first[one].name) & _words(second[other].name))


def _by_words(first, second, group):
    """Partners in the order of the first side, where each has a best one of its own."""
    ours, theirs = group
    table = [[_alike(first, second, one, other) for other in theirs] for one in ours]
    found = []
    for row in table:
        best = max(row)
        if row.count(best) > 1:
            return None
        found.append(row.index(best))
    if len(set(found)) < len(found):
        return None
    for column, row in zip(found, table):
        if [each[column] for each in table].count(row[column]) > 1:
            return None
    return [theirs[column] for column in found]


def _in_order(first, second, group):
    ours, theirs = group
    orders = [(list(ours), list(theirs))]
    used = [[weights[p].used for p in places] for weights, places in
            zip((first, second), group)]  # fmt: skip
    if all(place is not None for places in used for place in places):
        by_use = tuple(
            sorted(places, key=lambda place: weights[place].used)
            for places, weights in zip(group, (first, second))
        )
        orders.insert(0, by_use)
    return max(
        orders,
        key=lambda order: sum(_alike(first, second, *pair) for pair in zip(*order)),
    )


def differing_shapes(first, second):
    """What one program has and the other has not, in a sentence."""
    counts = [collections.Counter(w.shape for w in side) for side in (first, second)]
    only = [
        [w for w in side if counts[number][w.shape] > counts[1 - number][w.shape]]
        for number, side in enumerate((first, second))
    ]
    told = [
        ", ".join(f"{w.name} {list(w.shape)}" for w in side[:5]) or "-" for side in only
    ]
    return (
        f"the programs have different weights ({len(first)} and {len(second)}): "
        f"only or more often in the first: {told[0]}; in the second: {told[1]}"
    )
