"""The intermediate form of a script: what gdtoolkit's tree says, in a few node types with their lines.

`infer` fills in `Expr.type` and the variables that names stand for; `emit` writes Python from the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from godojo.twin.gdscript.live import LiveClass
    from godojo.twin.gdscript.types import Type


@dataclass
class Variable:
    """A member, parameter, local or constant."""

    name: str
    line: int
    type: Type | None
    """None until something is assigned."""
    fixed: bool = False
    """Whether the script declares the type: then values are converted to it."""
    member: bool = False
    python: str = ""
    """Its name in the generated code."""
    constant: Expr | None = None
    """The value, where it is a constant."""
    assigned: bool = False
    """Whether reachable code assigns it: otherwise a member keeps its live value."""
    nullable: bool = False
    """Whether it may hold null where its type is no node's."""
    null_tested: bool = False
    """Whether it is compared with null: then a float keeps null as NaN."""
    owner: LiveClass | None = None
    """The class that declares this member, in a whole program."""
    declaration: Member | None = None


@dataclass
class Plan:
    """How a call or an operator is written in Python: `{r}` is the receiver, `{0}` the first argument."""

    text: str
    params: list[Type | None]
    """What the arguments are converted to; None leaves one as it is."""
    result: Type | None
    pure: bool = True
    """Whether it changes nothing and draws no random number."""
    level: int = 15
    """How closely it binds in Python, from 1 (`if … else`) to 15 (a call)."""


@dataclass
class Place:
    """How something outside the function is read and written: `{r}` is its owner, `{v}` the value."""

    type: Type | None
    read: str
    write: str = ""
    """Empty where it cannot be written."""
    variable: Variable | None = None
    on_self: bool = False
    owner: Expr | None = None
    """The owner, where it is not the expression before the dot."""
    rows: str = ""
    """An array of arrays is kept as all their items, which this reads, and where each begins."""


@dataclass
class Expr:
    """An expression; `type` is None until it is known."""

    line: int
    type: Type | None = field(default=None, init=False)
    plan: Plan | None = field(default=None, init=False)
    place: Place | None = field(default=None, init=False)
    folded: bool | None = field(default=None, init=False)
    """What it is as a condition, where that is known."""


@dataclass
class Const(Expr):
    """A literal: bool, int, float, string or null."""

    value: bool | int | float | str | None


@dataclass
class Name(Expr):
    """A name: variable, constant or enum value."""

    name: str
    variable: Variable | None = field(default=None, init=False)


@dataclass
class Attribute(Expr):
    """`value.name`."""

    value: Expr
    name: str


@dataclass
class Index(Expr):
    """`value[index]`."""

    value: Expr
    index: Expr


@dataclass
class Call(Expr):
    """`name(args)`, or `receiver.name(args)`."""

    receiver: Expr | None
    name: str
    args: list[Expr]
    function: Function | None = field(default=None, init=False)
    """The script's own function that it calls, if any."""
    targets: list[tuple[LiveClass, Function]] = field(default_factory=list, init=False)
    """In a whole program: the functions that it may call, by the class of the receiver."""


@dataclass
class Unary(Expr):
    """`-x`, `+x`, `~x`, `not x`."""

    op: str
    value: Expr


@dataclass
class Binary(Expr):
    """An operator between two expressions; `in` and `not in` too."""

    op: str
    left: Expr
    right: Expr


@dataclass
class Ternary(Expr):
    """`then if condition else other`."""

    condition: Expr
    then: Expr
    other: Expr


@dataclass
class ArrayLiteral(Expr):
    """`[a, b]`."""

    items: list[Expr]


@dataclass
class Cast(Expr):
    """`value as TYPE`."""

    value: Expr
    to: str


@dataclass
class Unknown(Expr):
    """Something outside the language that is compiled, with the reason."""

    reason: str


@dataclass
class DictLiteral(Unknown):
    """`{key: value}`: compiled in whole programs only."""

    keys: list[Expr]
    values: list[Expr]


@dataclass
class NodeAt(Unknown):
    """`$Path`, `%Name`: compiled in whole programs only."""

    path: str


@dataclass
class TypeTest(Unknown):
    """`value is TYPE`: compiled in whole programs only."""

    value: Expr
    to: str
    negated: bool


@dataclass
class Await(Unknown):
    """`await value`: compiled in whole programs only."""

    value: Expr


@dataclass
class Lambda(Unknown):
    """`func(a, b): return a < b`: compiled in whole programs only."""

    params: list[str]
    body: list[Stmt]


@dataclass
class Stmt:
    """A statement."""

    line: int


@dataclass
class Declare(Stmt):
    """`var name: TYPE = value`; `declared` is `:=` where the type is that of the value."""

    name: str
    declared: str | None
    value: Expr | None
    is_constant: bool = False
    variable: Variable | None = field(default=None, init=False)


@dataclass
class Assign(Stmt):
    """`target op value`, with the operator of a compound assignment or none."""

    target: Expr
    op: str
    value: Expr


@dataclass
class Do(Stmt):
    """An expression whose value nobody uses: a call."""

    value: Expr
    dropped: str = field(default="", init=False)
    """Why it is left out of the generated code, if it is."""
    instead: Assign | None = field(default=None, init=False)
    """What stands for `set_deferred`."""


@dataclass
class If(Stmt):
    """`if`, its `elif`s, and `else`."""

    branches: list[tuple[Expr, list[Stmt]]]
    otherwise: list[Stmt]

    def kept(self) -> tuple[list[tuple[Expr, list[Stmt]]], list[Stmt]]:
        """The branches that may be taken."""
        kept: list[tuple[Expr, list[Stmt]]] = []
        for condition, body in self.branches:
            if condition.folded is True:
                return kept, body
            if condition.folded is None:
                kept.append((condition, body))
        return kept, self.otherwise


@dataclass
class While(Stmt):
    """`while`."""

    condition: Expr
    body: list[Stmt]


@dataclass
class For(Stmt):
    """`for name in iterable`."""

    name: str
    declared: str | None
    iterable: Expr
    body: list[Stmt]
    variable: Variable | None = field(default=None, init=False)


@dataclass
class Branch:
    """One branch of a `match`: any of the patterns, and the guard."""

    line: int
    patterns: list[Expr]
    """Constant expressions; `_` and `var name` are `Name`s with `binds` or nothing."""
    wildcard: bool
    binds: str | None
    guard: Expr | None
    body: list[Stmt]
    variable: Variable | None = None


@dataclass
class Match(Stmt):
    """`match`."""

    subject: Expr
    branches: list[Branch]


@dataclass
class Return(Stmt):
    """`return`."""

    value: Expr | None


@dataclass
class Jump(Stmt):
    """`break`, `continue` or `pass`."""

    word: str


@dataclass
class Unsupported(Stmt):
    """A statement outside the language that is compiled, with the reason."""

    reason: str


@dataclass
class Stop(Stmt):
    """A change of the tree, where the twin stops; it stands for the rest of its block."""

    reason: str


@dataclass
class Param:
    """A parameter of a function."""

    name: str
    line: int
    declared: str | None
    default: Expr | None
    variable: Variable | None = None
    omitted: bool = False
    """Whether a reachable call leaves it to its default."""


@dataclass
class Function:
    """A function of the script."""

    name: str
    line: int
    params: list[Param]
    returns: str | None
    body: list[Stmt]
    static: bool
    result: Variable | None = None
    python: str = ""
    refusals: list[tuple[int, str]] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)
    path: str = ""
    """The script that declares it, in a whole program."""
    accessor_of: str = ""
    """The member that it gets or sets, if it does."""
    waits: list[Function] = field(default_factory=list)
    """What comes after each `await` in it."""
    walked: set[int] = field(default_factory=set)
    """The lines of its reachable statements."""


@dataclass
class Member:
    """A member variable, in the order of the script."""

    name: str
    line: int
    declared: str | None
    value: Expr | None
    annotations: list[str]
    variable: Variable | None = None
    getter: Function | None = None
    setter: Function | None = None
    delegates: dict[str, str] = field(default_factory=dict)
    """The functions that `get = name` and `set = name` name."""
    static: bool = False


@dataclass
class Script:
    """A whole file."""

    path: str
    lines: list[str]
    extends: str = "RefCounted"
    class_name: str | None = None
    members: list[Member] = field(default_factory=list)
    constants: list[Declare] = field(default_factory=list)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    """By name; the nameless ones are under the empty name."""
    signals: list[str] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    refusals: list[tuple[int, str]] = field(default_factory=list)
    """What is outside any function."""
