"""Stretches of statements that make layers: each becomes a class and a call of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import libcst as cst

from ...code.blocked import Blocked
from ...code.names import Names
from ...code.spacing import with_blank_lines
from ...code.statements import assigned, binds
from ...code.texts import camel, parse_statements, source_text
from ...code.tree import Statement, only_small, statements_of, walk
from ...model.arguments import parameters_of
from ...model.values import Time
from .bodies import Body
from .classes import Classes
from .files import File
from .flow import blocks, bound_by, bound_by_head, surely_bound, without_blocks
from .taken import let_stay

# What belongs behind the forward pass, whatever makes layers after it.
_BEHIND = (
    "tf.estimator.", "tf.train.", "tf.metrics.", "tf.gradients", "tf.contrib.tpu.",
)  # fmt: skip
# What may leave out the statements in it, or repeat them.
_BRANCHES = (cst.If, cst.For, cst.While, cst.Try)
# Containers that layers fill.
_EMPTY = ("[]", "{}", "list()", "dict()")
# What gives a weight, or a layer that is called later.
_HELD = ("tf.Variable", "tf.get_variable", "tf.keras.layers.")
_NOT_BEHIND = ("tf.estimator.ModeKeys", "tf.train.get_global_step")


@dataclass(frozen=True)
class _Run:
    """Statements of a block, from the first to the last that makes layers."""

    block: cst.IndentedBlock
    first: int
    last: int
    # The last one returns what it makes.
    returns: bool = False


class Standing:
    """A function that stays, and calls models in place of making layers."""

    def __init__(self, classes: Classes, file: File, defined: cst.FunctionDef) -> None:
        self.classes = classes
        self.notes = classes.notes
        self.file = file
        self.tree = file.tree
        self.defined = defined
        # Variables that hold its models.
        self.named: set[str] = set()

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where the function cannot be lifted."""
        return self.classes.stop_in(self.file.parsed, node, reason)

    def lift(self) -> None:
        """Adds the edits for it."""
        body = self.defined.body
        if not isinstance(body, cst.IndentedBlock):
            if self.notes.makes(body):
                raise self.stop(body, "several statements on one line")
            return
        for run in self._runs(body):
            self._region(run)

    # -- where the layers are

    def _is_behind(self, statement: Statement) -> bool:
        """It cannot be part of a forward pass."""
        if self.notes.is_aside(statement):
            # Layers of Keras stay where they are.
            return True
        for node in walk(statement):
            if isinstance(node, (cst.Return, cst.Yield)) or self._calls_behind(node):
                return True
        return self.notes.has_staying(statement)

    def _returns(self, statement: Statement) -> bool:
        """A statement that returns layers' values, and does nothing else."""
        small = only_small(statement)
        if not isinstance(small, cst.Return) or self.notes.has_staying(statement):
            return False
        if self.notes.is_aside(statement):
            return False
        return not any(map(self._calls_behind, walk(statement)))

    def _calls_behind(self, node: cst.CSTNode) -> bool:
        symbol = self.tree.symbol(node.func) if isinstance(node, cst.Call) else None
        behind = (symbol or "").startswith(_BEHIND)
        return behind and not (symbol or "").startswith(_NOT_BEHIND)

    def _runs(self, block: cst.IndentedBlock) -> list[_Run]:
        """Stretches of statements with layers, each to become one class."""
        found: list[_Run] = []
        first: int | None = None
        last = 0

        def close() -> None:
            nonlocal first
            if first is not None:
                found.append(_Run(block, first, last))
                first = None

        for number, statement in enumerate(statements_of(block)):
            if isinstance(statement, cst.FunctionDef):
                if self.notes.makes(statement) or self.notes.has_staying(statement):
                    # It is lifted where it stands.
                    close()
                continue
            behind = self._is_behind(statement)
            if not self.notes.makes(statement):
                if behind:
                    close()
                elif first is not None and self.notes.is_penalized(statement):
                    # Its class hands penalties on when its call is over.
                    last = number
                continue
            if self._returns(statement):
                start = number if first is None else first
                found.append(_Run(block, start, number, returns=True))
                first = None
                continue
            if not behind:
                first = number if first is None else first
                last = number
                continue
            close()
            inner = list(blocks(statement))
            if not inner or self.notes.makes(without_blocks(statement)):
                # Functions that it calls keep their layers.
                let_stay(self.notes, statement)
                why = "layers in a statement that returns"
                if self.notes.has_staying(statement):
                    why = "a layer and a call that makes others: say them in two lines"
                raise self.stop(statement, why)
            for one in inner:
                found += self._runs(one)
        close()
        return found

    # -- one of them

    def _region(self, run: _Run) -> None:
        tree, file = self.tree, self.file
        every = statements_of(run.block)
        run = self._with_computed(every, run)
        whole = region = self._with_containers(every, run)
        scope = tree.resolver.scopes.opened[self.defined]
        loops = self._loops_around(run.block)
        body = self.classes.body(self.defined, region, set(), file)
        inside = {n for s in region for n in body.binds(s)}
        outside = {*scope.bindings, "self"} - inside
        outside |= inside & self._bound_before(every[run.first])
        body = self.classes.body(self.defined, region, outside, file)
        behind = set() if run.returns else self._read_behind(region, loops)
        hoisted = [s for s in region if self._is_hoisted(body, s)]
        if hoisted:
            region = [s for s in region if s not in hoisted]
            outside |= {n for s in hoisted for n in body.binds(s)}
            body = self.classes.body(self.defined, region, outside, file)
        bound = {n for s in region for n in body.binds(s)}
        if loops:
            carried = {n for n in bound if body.reads_first(n)}
            for name in sorted(carried - outside):
                raise self.stop(region[0], f"`{name}` is kept from round to round")
            behind |= carried
        outputs = [n for n in body.ordered(bound) if n in behind]
        sure = surely_bound(region)
        again: list[Statement] = []
        returned_too: set[str] = set()
        for name in outputs:
            if name in body.late:
                continue
            line = self._said_again(body, name, region, outside)
            if line is None:
                returned_too.add(name)
            else:
                again.append(line)
        if returned_too:
            # Values of Python that the layers' statements make as they go.
            body = body.again(frozenset(returned_too))
        outputs = [name for name in outputs if name in body.late]
        if not outputs and not body.written and not run.returns:
            raise self.stop(region[-1], "nothing of the layers is used behind them")
        taken = body.take()
        # What may keep the value that it had before.
        given = [*taken.graph, *(n for n in outputs if n in outside - sure)]
        for name in outputs:
            if name not in sure | outside:
                # Nobody reads it where it is not made.
                firsts = [n for n, s in enumerate(taken.call) if name in binds(s)]
                taken.call.insert(firsts[0], cst.parse_statement(f"{name} = None\n"))
        # Labels are not there in every mode: they are no first argument.
        graph = sorted(
            dict.fromkeys(given),
            key=lambda n: (body.outer_time(n) is not Time.GRAPH, n == "labels"),
        )
        rest = [one for one in every if one in whole and one not in hoisted]
        if hoisted and every.index(hoisted[-1]) > every.index(rest[-1]):
            raise self.stop(hoisted[-1], "a value behind the layers")
        name, model = self._names(outputs)
        returned: list[Statement] = []
        last = taken.call[-1] if taken.call else None
        small = only_small(last) if last is not None else None
        if isinstance(small, cst.Assign) and assigned(taken.call[-1]) == outputs:
            # The author had no return to say it in.
            assert isinstance(last, cst.SimpleStatementLine)
            taken.call[-1] = last.with_changes(body=[cst.Return(small.value)])
        elif outputs:
            returned = [cst.parse_statement(f"return {', '.join(outputs)}\n")]
        made = self.classes.statement(
            file, name, "Model", taken, graph, {}, returned, ""
        )
        asked = f"{model}({', '.join(graph)})\n"
        if outputs:
            asked = f"{', '.join(outputs)} = {asked}"
        elif run.returns:
            asked = f"return {asked}"
        said = "".join(source_text(one) for one in again)
        code = f"{said}{model} = {name}({', '.join(taken.setup)})\n{asked}"
        self._put(made)
        for one in rest:
            file.edits.replace[one] = []
        file.edits.replace[rest[-1]] = parse_statements(code)

    def _with_computed(self, every: Sequence[Statement], run: _Run) -> _Run:
        """A run that makes weights or layers alone, and what is computed by them."""
        region = every[run.first : run.last + 1]
        if run.returns or not all(map(_only_names, region)):
            return run
        calls = [one for s in region for one in walk(s, cst.Call)]
        made = [self.tree.symbol(o.func) or "" for o in calls if self.notes.makes(o)]
        if not all(one.startswith(_HELD) for one in made):
            return run
        best, fewest = run.last, len(self._read_behind(region, ()))
        # Weights alone are no model: it has what follows from them, up to one value.
        weights = {n for s in region for n in binds(s)}
        if not all(one in _HELD for one in made):
            weights = set()
        for last in range(run.last + 1, len(every)):
            read = {one.value for one in walk(every[last], cst.Name)}
            if self._is_behind(every[last]) or "labels" in read:
                break
            count = len(self._read_behind(every[run.first : last + 1], ()))
            follows = bool(weights & read)
            weights |= binds(every[last]) if follows else set()
            if count < fewest + follows:
                best, fewest = last, count
        return replace(run, last=best)

    def _with_containers(
        self, every: Sequence[Statement], run: _Run
    ) -> list[Statement]:
        """The statements of a run, and empty lists and dicts above that it fills."""
        above = []
        for number, one in enumerate(every[: run.first]):
            small = only_small(one)
            value = small.value if isinstance(small, cst.Assign) else None
            shown = "" if value is None else source_text(value)
            (name,) = assigned(one) if shown in _EMPTY else [""]
            used = [
                any(node.value == name for node in walk(other, cst.Name))
                for other in every[number + 1 : run.last + 1]
            ]
            between = run.first - number - 1
            if name and any(used[between:]) and not any(used[:between]):
                above.append(one)
        return [*above, *every[run.first : run.last + 1]]

    def _said_again(
        self, body: Body, name: str, region: Sequence[Statement], outside: set[str]
    ) -> cst.SimpleStatementLine | None:
        """A plain value inside of the layers that is read behind them: a copy of it.

        None where it cannot be made again.
        """
        scope = self.tree.resolver.scopes.opened[self.defined]
        lines = [
            one
            for statement in region
            for one in walk(statement, cst.SimpleStatementLine)
            if name in bound_by(one, self.notes)
        ]
        if len(lines) == 1 and len(scope.bindings.get(name, ())) == 1:
            (one,) = lines
            around = list(self.tree.ancestors(one))
            around = around[: around.index(self.defined)]
            if (
                len(one.body) == 1
                and isinstance(one.body[0], cst.Assign)
                and not self.notes.makes(one)
                and body.reads(one) <= outside
                and not body.reads_written(one)
                and not any(isinstance(node, _BRANCHES) for node in around)
            ):
                return one.with_changes(leading_lines=[])
        return None

    def _names(self, outputs: Sequence[str]) -> tuple[str, str]:
        """Names for the class, and for the variable that holds one."""
        function = self.defined.name.value
        if function.startswith("__"):
            holder = self.tree.parent(self.tree.parent(self.defined) or self.defined)
            assert isinstance(holder, cst.ClassDef)
            function = holder.name.value
        wanted = function
        if self.named:
            wanted = outputs[-1] if outputs else f"{function}_{len(self.named) + 1}"
        held = "model" if not self.named else f"{wanted}_model"
        wanted = camel(wanted)
        wanted += "" if wanted.endswith("Model") else "Model"
        names = Names(self.tree, self.defined.body)  # type: ignore[arg-type]
        names.reserve(*self.file.taken, *self.named)
        name = names.fresh(wanted)
        model = names.fresh(held)
        self.file.taken |= {name}
        self.named |= {model}
        return name, model

    def _put(self, made: Statement) -> None:
        """Puts a class before the definition that it belongs to."""
        holder: cst.FunctionDef | cst.ClassDef = self.defined
        for one in self.tree.ancestors(self.defined):
            if isinstance(one, cst.FunctionDef):
                # It sees what the function around has.
                break
            if isinstance(one, cst.ClassDef):
                holder = one
        lines = 2 if self.tree.parent(holder) is self.tree.module else 1
        edits = self.file.edits
        before = edits.before.setdefault(holder, [])
        before.append(with_blank_lines(made, lines if before else 0))
        edits.spaced.add(holder)
        edits.nodes[holder] = lambda node: with_blank_lines(
            cast("Statement", node), lines
        )

    # -- names around it

    def _loops_around(self, block: cst.CSTNode) -> list[cst.CSTNode]:
        """Loops of the function that go through a block again."""
        found: list[cst.CSTNode] = []
        for one in self.tree.ancestors(block):
            if one is self.defined:
                break
            if isinstance(one, (cst.For, cst.While)):
                found.append(one)
        return found

    def _bound_before(self, first: Statement) -> set[str]:
        """Names that the function has when it comes to a statement."""
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        parameters = parameters_of(self.defined.params, stars=True)
        found = {one.name.value for one in parameters}
        line = self.tree.line(first)
        for one in walk(body):
            if (
                isinstance(one, (cst.SimpleStatementLine, cst.For, cst.With))
                and self.tree.line(one) < line
            ):
                names = bound_by(one, self.notes)
                if not isinstance(one, cst.SimpleStatementLine):
                    names &= bound_by_head(one)
                found |= names
        return found

    def _read_behind(
        self, region: Sequence[Statement], loops: Sequence[cst.CSTNode]
    ) -> set[str]:
        """Names of the function that other statements read after these."""
        inside = {node for one in region for node in walk(one)}
        again = {node for one in loops for node in walk(one)}
        end = self.tree.end_line(region[-1])
        scopes = self.tree.resolver.scopes
        scope = scopes.opened[self.defined]
        return {
            node.value
            for node in walk(self.defined.body, cst.Name)
            if node in scopes.loads
            and node not in inside
            and (self.tree.line(node) >= end or node in again)
            and any(b.scope is scope for b in self.tree.resolver.bindings(node))
            and not self._is_of_loop(node, inside)
            and not self._is_bound_between(node, end, inside)
        }

    def _is_bound_between(
        self, node: cst.Name, end: int, inside: set[cst.CSTNode]
    ) -> bool:
        """A name gets another value behind the layers before it is read."""
        before: cst.CSTNode = self.tree.statement(node)
        for one in self.tree.ancestors(before):
            if one is self.defined or isinstance(one, (cst.For, cst.While)):
                break
            if isinstance(one, cst.IndentedBlock):
                every = statements_of(one)
                for other in every[: every.index(before)]:  # type: ignore[arg-type]
                    plain = isinstance(only_small(other), cst.Assign)
                    plain = plain and other not in inside
                    bound = bound_by(other, self.notes) if plain else ()
                    if node.value in bound and self.tree.line(other) >= end:
                        return True
            before = one
        return False

    def _is_of_loop(self, node: cst.Name, inside: set[cst.CSTNode]) -> bool:
        """A name that a loop behind the layers binds anew, read within it."""
        before: cst.CSTNode = node
        for one in self.tree.ancestors(node):
            if isinstance(one, cst.For) and one not in inside and before is one.body:
                targets = {n.value for n in walk(one.target, cst.Name)}
                if node.value in targets:
                    return True
            before = one
        return False

    def _is_hoisted(self, body: Body, statement: Statement) -> bool:
        """Plain values, which stay in the function before the layers."""
        names = body.binds(statement)
        if not names or self.notes.makes(statement) or names & body.late:
            return False
        if body.reads(statement) & body.late or isinstance(
            statement, (cst.FunctionDef, cst.ClassDef)
        ):
            return False
        if body.reads_written(statement):
            return False
        scope = self.tree.resolver.scopes.opened[self.defined]
        return all(len(scope.bindings.get(name, ())) == 1 for name in names)


def _only_names(statement: Statement) -> bool:
    """A statement that gives a value to names, or scopes around such ones."""
    if isinstance(statement, cst.With) and isinstance(
        statement.body, cst.IndentedBlock
    ):
        return all(map(_only_names, statements_of(statement.body)))
    return isinstance(only_small(statement), cst.Assign)
