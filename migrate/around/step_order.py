"""What happens within one step of a model_fn, and in which order.

Graphs of TensorFlow 1 read variables by reference: what is read without an order
may be the value before an update or behind it, and which one is the same in every
run. Variables of today are read where the graph says so, and a loop counts its own
steps. Where the two could part, a model_fn keeps its session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from ..lift.updates import GLOBAL_STEPS
from ..plan.code.arguments import is_none
from ..plan.code.reach import reachable
from ..plan.code.tree import Tree, walk
from ..symbols.scopes import BindingKind
from .exclusive import exclusive
from .keras_inputs import over_tensors
from .vain import is_returned_in_vain

__all__ = [
    "counted_by_hand",
    "counted_by_several",
    "unordered_model_fn",
    "unordered_step",
]

_MAKERS = ("tf.get_variable", "tf.Variable")
_GRADIENTS = ("minimize", "compute_gradients")
_BRANCHES = ("tf.cond", "tf.case", "tf.switch_case", "tf.while_loop")
_COUNTS = {"minimize": 1, "apply_gradients": 1}
_TRAINS = ("minimize", "apply_gradients")
_ASSIGNS = ("assign", "scatter_")
_ROWS = ("tf.gather", "tf.nn.embedding_lookup")


def unordered_step(
    tree: Tree,
    model_fn: cst.FunctionDef,
    nodes: Iterable[cst.CSTNode],
    *,
    by_graph: bool = False,
    copied: bool = True,
) -> tuple[cst.CSTNode, str] | None:
    """Where a step of kept code could mean something else in a loop, and why.

    ``nodes`` are all nodes that the model_fn reaches; ``by_graph`` says that what
    counts the step is kept, so that the loop reads the step and counts none itself;
    ``copied`` that some of its variables may be such as are copied when they are read.
    """
    nodes = list(nodes)
    calls = [node for node in nodes if isinstance(node, cst.Call)]
    for call in calls:
        problem = _of_start(call) or _of_count(tree, call)
        problem = problem or (_of_gradients(tree, call) if copied else None)
        problem = problem or _of_variable(tree, call) or _of_branches(tree, call)
        problem = problem or over_tensors(tree, call)
        if problem is not None:
            return call, problem
    twice = _counted_twice(tree, model_fn, nodes)
    if twice is not None and not (by_graph and _is_only_counted(tree, calls)):
        return twice, "the global step is counted more than once in a step"
    return None


def unordered_model_fn(tree: Tree, *, copied: bool = True) -> str | None:
    """The same of all functions of a module that look like a model_fn."""
    for node in tree.nodes:
        if not isinstance(node, cst.FunctionDef):
            continue
        if _is_model_fn(node):
            inside = reachable(tree, [node])
            found = unordered_step(tree, node, inside, by_graph=True, copied=copied)
            if found is not None:
                return f"model_fn: {found[1]} (line {tree.line(found[0])})"
    return None


def _is_model_fn(node: cst.FunctionDef) -> bool:
    given = (*node.params.params, *node.params.kwonly_params)
    return {"features", "mode"} <= {one.name.value for one in given}


def _method(call: cst.Call) -> str:
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def _of_start(call: cst.Call) -> str | None:
    if _method(call) == "initialized_value":
        return "`initialized_value` belongs to the start of a session"
    return None


# -- the global step ------------------------------------------------------------


def _is_step(tree: Tree, node: cst.BaseExpression) -> bool:
    """The global step; a name that the function was given tells by itself."""
    value = tree.value(node)
    if isinstance(value, cst.Call):
        return tree.symbol(value.func) in GLOBAL_STEPS
    return isinstance(value, cst.Name) and "step" in value.value


def _assigned(tree: Tree, call: cst.Call) -> tuple[cst.BaseExpression, str] | None:
    """What a call assigns to, and the name of the function that does."""
    symbol = tree.symbol(call.func)
    name = _method(call) if symbol is None else symbol.rpartition(".")[2]
    if not name.startswith(("assign", "scatter_")):
        return None
    if symbol is None:
        assert isinstance(call.func, cst.Attribute)
        return call.func.value, name
    named = [a for a in call.args if a.keyword is not None and a.keyword.value == "ref"]
    given = named or [a for a in call.args[:1] if a.keyword is None]
    return (given[0].value, name) if given else None


def counted_by_several(tree: Tree) -> list[cst.CSTNode]:
    """Where model functions of a module count the step once more in the same pass."""
    found = (
        _counted_twice(tree, node, list(reachable(tree, [node])))
        for node in tree.nodes
        if isinstance(node, cst.FunctionDef) and _is_model_fn(node)
    )
    return [node for node in found if node is not None]


def counted_by_hand(tree: Tree) -> list[cst.Call]:
    """Where a module counts the global step itself, which something else reads too."""
    return [
        node
        for node in tree.nodes
        if isinstance(node, cst.Call) and _is_read_besides(tree, node)
    ]


def _is_read_besides(tree: Tree, call: cst.Call) -> bool:
    target = _assigned(tree, call)
    if target is None or not _is_step(tree, target[0]):
        return False
    own = _made_of(tree, call)
    binding = tree.assigned(target[0])
    reads: Iterable[cst.CSTNode] = (
        tree.uses(binding)
        if binding is not None
        else (n for n in tree.nodes if _is_step_call(tree, n))
    )
    return any(read not in own for read in reads)


def _is_step_call(tree: Tree, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and tree.symbol(node.func) in GLOBAL_STEPS


def _counts(tree: Tree, call: cst.Call) -> bool:
    """The call makes an operation that counts the global step."""
    symbol, name = tree.symbol(call.func), _method(call)
    place = _COUNTS.get(name) if symbol is None and not _is_own(tree, call) else None
    if symbol is not None and symbol.endswith(".optimize_loss"):
        place = 1
        for argument in call.args:
            named = argument.keyword is not None
            if named and argument.keyword.value == "increment_global_step":  # type: ignore[union-attr]
                return tree.code(argument.value) != "False"
    if place is not None:
        given = [
            a.value
            for number, a in enumerate(call.args)
            if (a.keyword is None and number == place)
            or (a.keyword is not None and a.keyword.value == "global_step")
        ]
        return bool(given) and not is_none(given[0])
    target = _assigned(tree, call)
    return target is not None and _is_step(tree, target[0])


def _is_own(tree: Tree, call: cst.Call) -> bool:
    """A method that a class of the program defines, whose code is looked at itself."""
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    made = tree.value(owner)
    defined = (
        tree.resolver.definition(made.func) if isinstance(made, cst.Call) else None
    )
    return isinstance(defined, cst.ClassDef) and any(
        isinstance(node, cst.FunctionDef) and node.name.value == _method(call)
        for node in defined.body.body
    )


def _of_count(tree: Tree, call: cst.Call) -> str | None:
    """The global step moves by something else than one."""
    target = _assigned(tree, call)
    if target is None or not _is_step(tree, target[0]):
        return None
    given = [a.value for a in call.args if a.value is not target[0]]
    by = tree.value(given[0]) if given else None
    if target[1] == "assign":
        if isinstance(by, cst.BinaryOperation) and isinstance(by.operator, cst.Add):
            by = by.right
        elif isinstance(by, cst.Call) and len(by.args) == 2:  # tf.add(step, 1)
            by = by.args[1].value
    elif target[1] != "assign_add":
        by = None
    if by is None and not given and target[1] == "assign_add":
        return None
    if by is not None and tree.code(by) in ("1", "tf.constant(1)"):
        return None
    return "the global step moves by something else than one"


def _counted_twice(
    tree: Tree, model_fn: cst.FunctionDef, nodes: Sequence[cst.CSTNode]
) -> cst.CSTNode | None:
    """A second place that counts the step in the same pass, if there is one."""
    defined = [n for n in nodes if isinstance(n, cst.FunctionDef)]
    places: dict[cst.CSTNode, list[cst.CSTNode]] = {}
    for node in nodes:
        if isinstance(node, cst.Call) and _counts(tree, node):
            function = tree.function(node)
            if function is not None:
                places.setdefault(function, []).append(node)
    # A call of a helper that counts, counts.
    pending = [one for one in places if isinstance(one, cst.FunctionDef)]
    seen = set(pending)
    while pending:
        helper = pending.pop()
        if helper is model_fn or helper not in defined:
            continue
        for load in tree.loads_of(helper):
            call, function = tree.parent(load), tree.function(load)
            if not isinstance(call, cst.Call) or call.func is not load:
                continue
            if isinstance(function, cst.FunctionDef) and function in (
                model_fn,
                *defined,
            ):
                places.setdefault(function, []).append(call)
                if function not in seen:
                    seen.add(function)
                    pending.append(function)
    for found in places.values():
        for number, later in enumerate(found):
            if any(not exclusive(tree, one, later) for one in found[:number]):
                return later
    return None


def _is_only_counted(tree: Tree, calls: Sequence[cst.Call]) -> bool:
    """Optimizers count the step, and nothing in the graph reads it.

    Then each of them adds one, in whatever order, as in a session.
    """
    for call in calls:
        if _counts(tree, call):
            if _method(call) not in _COUNTS or tree.symbol(call.func) is not None:
                return False
        elif tree.symbol(call.func) in GLOBAL_STEPS and not all(
            _is_for_counting(tree, use) for use in _named(tree, call)
        ):
            return False
    return True


def _named(tree: Tree, call: cst.Call) -> list[cst.BaseExpression]:
    """A value where it is used: under its only name, or in its own place."""
    parent = tree.parent(call)
    if not isinstance(parent, cst.Assign) or len(parent.targets) > 1:
        return [call]
    target = parent.targets[0].target
    if not isinstance(target, cst.Name):
        return [call]
    own = tree.function(call)
    loads = [n for n in tree.loads(target.value) if tree.function(n) is own]
    return [*loads] if all(tree.value(n) is call for n in loads) else [call]


def _is_for_counting(tree: Tree, node: cst.CSTNode) -> bool:
    argument = tree.parent(node)
    call = tree.parent(argument) if isinstance(argument, cst.Arg) else None
    return isinstance(call, cst.Call) and _counts(tree, call)


# -- reads and updates ------------------------------------------------------------


def _of_gradients(tree: Tree, call: cst.Call) -> str | None:
    """Gradients are taken behind an update of what they may read."""
    taken = _method(call) in _GRADIENTS and tree.symbol(call.func) is None
    if not taken and tree.symbol(call.func) != "tf.gradients":
        return None
    inner: cst.CSTNode = call
    for holder in tree.ancestors(call):
        if isinstance(holder, cst.FunctionDef):
            break
        below, inner = inner, holder
        if not isinstance(holder, cst.With):
            continue
        for item in holder.items:
            if item is below:
                # What is waited for comes before the wait, as items behind it do.
                break
            waits = item.item
            if (
                isinstance(waits, cst.Call)
                and tree.symbol(waits.func) == "tf.control_dependencies"
                and any(_moved(tree, a.value, set()) for a in waits.args)
            ):
                return "gradients are taken behind another update of variables"
    return None


def _of_branches(tree: Tree, call: cst.Call) -> str | None:
    """A branch of the graph takes gradients of what is computed outside of it.

    Branches were parts of one graph; they are functions of their own today, in which
    nothing leads from what they were given back to the variables.
    """
    if tree.symbol(call.func) not in _BRANCHES:
        return None
    for branch in walk(call):
        if isinstance(branch, cst.Name) and branch in tree.resolver.scopes.loads:
            branch = tree.resolver.definition(branch) or branch
        if not isinstance(branch, (cst.Lambda, cst.FunctionDef)):
            continue
        inside = set(reachable(tree, [branch]))
        for node in inside:
            if isinstance(node, cst.Call) and _takes_gradients(tree, node):
                of = node.args[0].value if node.args else None
                if of is not None and _is_from_outside(tree, of, inside):
                    return (
                        f"`{tree.code(call.func)}` takes the gradients of "
                        f"`{tree.code(of)}`, which is computed outside of it: compute "
                        "it in the branch, or the gradients before it"
                    )
    return None


def _takes_gradients(tree: Tree, call: cst.Call) -> bool:
    symbol = tree.symbol(call.func)
    if symbol is None:
        return _method(call) in _GRADIENTS
    return symbol == "tf.gradients" or symbol.endswith(".optimize_loss")


def _is_from_outside(
    tree: Tree, node: cst.BaseExpression, inside: set[cst.CSTNode]
) -> bool:
    """A value that the branch finds, and does not compute: a name or an attribute."""
    while isinstance(node, cst.Attribute):
        node = node.value
    if not isinstance(node, cst.Name):
        return False
    bindings = tree.resolver.bindings(node)
    if any(b.kind is BindingKind.PARAMETER and b.node in inside for b in bindings):
        # Of a function that the branch calls: it may be what that is given.
        helper = tree.function(node)
        return any(
            _is_from_outside(tree, argument.value, inside)
            for call in inside
            if isinstance(call, cst.Call)
            and tree.resolver.definition(call.func) is helper
            for argument in call.args
        )
    return bool(bindings) and not any(b.node in inside for b in bindings)


def _moved(tree: Tree, node: cst.CSTNode, seen: set[cst.CSTNode]) -> bool:
    """An update of variables is among what a node is made of."""
    for inner in walk(node):
        if inner in seen:
            continue
        seen.add(inner)
        if isinstance(inner, cst.Call):
            if _is_update_collection(tree, inner):
                continue
            if _moves_variables(tree, inner) and not _is_beside_gradients(tree, inner):
                return True
        if isinstance(inner, cst.Name) and inner in tree.resolver.scopes.loads:
            for binding in tree.resolver.bindings(inner):
                if binding.value is not None and _moved(tree, binding.value, seen):
                    return True
    return False


def _is_beside_gradients(tree: Tree, call: cst.Call) -> bool:
    """What the call changes is a variable that no gradient reads: it is not trained.

    Others take rows of it at most, which are copies, or read it where another mode
    ends, in a graph of its own.
    """
    target = _assigned(tree, call)
    binding = None if target is None else tree.assigned(target[0])
    made = None if binding is None else binding.value
    if binding is None or not isinstance(made, cst.Call):
        return False
    fixed = any(
        one.keyword is not None
        and one.keyword.value == "trainable"
        and tree.code(one.value) == "False"
        for one in made.args
    )
    if not fixed or tree.symbol(made.func) not in _MAKERS:
        return False
    for load in tree.uses(binding):
        if exclusive(tree, call, load):
            continue
        around = next(
            (n for n in tree.ancestors(load) if isinstance(n, cst.Call)), None
        )
        if around is None or not around.args or around.args[0].value is not load:
            return False
        if tree.symbol(around.func) not in _ROWS and _assigned(tree, around) is None:
            return False
    return True


def _made_of(tree: Tree, call: cst.Call) -> set[cst.CSTNode]:
    """All nodes that what a call is given is made of: these come before it."""
    found: set[cst.CSTNode] = set()
    pending: list[cst.CSTNode] = [call]
    while pending:
        for node in walk(pending.pop()):
            if node in found:
                continue
            found.add(node)
            if isinstance(node, cst.Name) and node in tree.resolver.scopes.loads:
                values = (b.value for b in tree.resolver.bindings(node))
                pending.extend(value for value in values if value is not None)
    return found


def _of_variable(tree: Tree, call: cst.Call) -> str | None:
    """A variable is changed by hand, and read in the same step."""
    target = _assigned(tree, call)
    if target is None or _is_step(tree, target[0]):
        return None
    binding = tree.assigned(target[0])
    made = None if binding is None else binding.value
    if (
        binding is None
        or not isinstance(made, cst.Call)
        or tree.symbol(made.func) not in _MAKERS
        or "LOCAL_VARIABLES" in tree.code(made)
    ):
        return None
    own = _made_of(tree, call)
    for load in tree.uses(binding):
        around = [n for n in tree.ancestors(load) if isinstance(n, cst.Call)]
        if load in own or any(_assigned(tree, one) is not None for one in around[:1]):
            continue
        if is_returned_in_vain(tree, load) or _is_summed_up(tree, load):
            continue
        if exclusive(tree, call, load):
            continue
        return f"`{binding.name}` is changed and read in one step, in no fixed order"
    return None


def _is_summed_up(tree: Tree, node: cst.CSTNode) -> bool:
    """A value is for a summary only, which a loop takes before the update."""
    calls = (one for one in tree.ancestors(node) if isinstance(one, cst.Call))
    return any((tree.symbol(one.func) or "").startswith("tf.summary.") for one in calls)


def _moves_variables(tree: Tree, call: cst.Call) -> bool:
    """The call makes an operation that changes variables."""
    symbol = tree.symbol(call.func)
    if symbol is not None:
        name = symbol.rpartition(".")[2]
        return name == "optimize_loss" or name.startswith(_ASSIGNS)
    if not isinstance(call.func, cst.Attribute):
        return False
    name = call.func.attr.value
    return name in _TRAINS or name.startswith(_ASSIGNS)


def _is_update_collection(tree: Tree, value: cst.BaseExpression | None) -> bool:
    """``tf.get_collection(tf.GraphKeys.UPDATE_OPS)``."""
    return (
        isinstance(value, cst.Call)
        and tree.symbol(value.func) == "tf.get_collection"
        and bool(value.args)
        and (tree.symbol(value.args[0].value) or "").endswith("UPDATE_OPS")
    )
