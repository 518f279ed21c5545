"""Code that draws from a state which others draw from: what it says depends on when.

The next number of a generator, the next element of an iterator, the next count of a
function that counts. Such code cannot move from the call to the constructor: layers
would draw before variables that the file makes first.
"""

from __future__ import annotations

import libcst as cst

from ...code.tree import Tree, walk

_SOURCES = ("numpy.random.", "random.")
# Functions of these modules that make a generator, or draw nothing.
_MAKERS_NAMES = """
Generator MT19937 PCG64 Philox Random RandomState SeedSequence default_rng
"""
_MAKERS = frozenset(_MAKERS_NAMES.split())
# What generators of NumPy and of Python have; an object may come from anywhere.
_DRAWN_NAMES = """
beta betavariate binomial bytes chisquare choice choices dirichlet exponential
expovariate f gamma gammavariate gauss geometric getrandbits gumbel hypergeometric
integers laplace logistic lognormal lognormvariate logseries multinomial
multivariate_normal noncentral_chisquare noncentral_f normal normalvariate pareto
permutation permuted poisson power rand randint randn random random_integers
random_sample randrange ranf rayleigh sample shuffle standard_cauchy
standard_exponential standard_gamma standard_normal standard_t tomaxint triangular
uniform vonmises vonmisesvariate wald weibull weibullvariate zipf
"""
_DRAWN = frozenset(_DRAWN_NAMES.split())
_ITERATED = frozenset(("__next__", "next", "pop", "popitem", "popleft"))
_DEPTH = 6


def draws(tree: Tree, node: cst.CSTNode) -> bool:
    """The code asks for the next of something that outlives it."""
    return _draws(tree, node, None, 0)


def _draws(
    tree: Tree, node: cst.CSTNode, inside: cst.FunctionDef | None, depth: int
) -> bool:
    for one in walk(node):
        if isinstance(one, (cst.Global, cst.Nonlocal)) and inside is not None:
            return True
        if isinstance(one, cst.Call) and _is_draw(tree, one, depth):
            return True
    return False


def _is_draw(tree: Tree, call: cst.Call, depth: int) -> bool:
    function = call.func
    if tree.symbol(function) is not None:
        return False
    dotted = tree.resolver.qualified(function)
    if dotted is not None:
        return dotted.startswith(_SOURCES) and dotted.split(".")[-1] not in _MAKERS
    if isinstance(function, cst.Name):
        defined = tree.resolver.definition(function)
        if isinstance(defined, cst.FunctionDef):
            return depth < _DEPTH and _draws(tree, defined.body, defined, depth + 1)
        return function.value == "next" and not tree.resolver.bindings(function)
    if not isinstance(function, cst.Attribute):
        return False
    return function.attr.value in _DRAWN | _ITERATED
