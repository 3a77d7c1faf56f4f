"""Random GDScript programs from a seed: expressions with few parentheses, typed and untyped variables, control flow."""

import random

_INTS, _FLOATS, _VECTORS = ("a", "b", "hits"), ("f", "g", "speed"), ("v", "w", "place")
_HEADER = """extends RefCounted
enum Mode {{ IDLE, WALK = 3, RUN, STOP = 11 }}
const LIMIT = 17
const RATE := 0.37
var hits = {hits}
var speed{typed} = {speed}
var place := Vector3({x}, {y}, {z})
var mode = Mode.IDLE
"""


def generated(count: int) -> dict[str, str]:
    """That many programs, by name; the same ones every time."""
    return {f"generated {seed}": _Program(random.Random(seed)).text() for seed in range(count)}


class _Program:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.loops = 0
        self.callable = True

    def text(self) -> str:
        c = self.chance
        header = _HEADER.format(
            hits=c.randint(-9, 9),
            typed=c.choice(["", ":", ": float"]) if c.random() < 0.5 else "",
            speed=self._float_literal(),
            x=self._float_literal(),
            y=c.randint(-5, 5),
            z=self._float_literal(),
        ).replace(": = ", " := ")  # fmt: skip
        helper = self._helper()
        tests = [self._test("test_int", "int"), self._test("test_float", "float"), self._test("test_vector", "vector")]
        return header + helper + "".join(tests)

    def _helper(self) -> str:
        self.callable = False
        a, b = self.chance.choice([("a", "f"), ("a: int", "f: float"), ("a", "f: float = 0.5")])[:2]
        lines = [f"func mix({a}, {b}):", "\tvar b := 3", "\tvar g = f * 2", "\tvar v = Vector3(f, 1, -f)"]
        lines += ["\tvar w = v"]
        lines += self._statements(1, 2, depth=1)
        lines += [f"\treturn {self.real(2)}"]
        self.callable = True
        return "\n".join(lines) + "\n"

    def _test(self, name: str, kind: str) -> str:
        c = self.chance
        lines = [f"func {name}():"]
        lines += [f"\tvar a{c.choice(['', ': int'])} = {c.randint(-50, 50)}", f"\tvar b := {c.randint(1, 99)}"]
        lines += [
            f"\tvar f{c.choice(['', ': float'])} = {self._float_literal()}",
            f"\tvar g := {self._float_literal()}",
        ]
        lines += [f"\tvar v = Vector3({self._float_literal()}, {c.randint(-3, 3)}, {self._float_literal()})"]
        lines += ["\tvar w := Vector3.ONE * 0.3", "\tvar list = [1, 2, 3]"]
        lines += self._statements(2, 4, depth=1, lists=True)
        result = {"int": self.integer(3), "float": f"mix(a, {self.real(2)})", "vector": self.vector(2)}[kind]
        return "\n".join([*lines, f"\treturn {result}"]) + "\n"

    # --- statements -------------------------------------------------------------------------------------------------

    def _statements(self, low: int, high: int, depth: int, lists: bool = False) -> list[str]:
        lines: list[str] = []
        for _ in range(self.chance.randint(low, high)):
            lines += self._statement(depth, lists)
        return lines

    def _statement(self, depth: int, lists: bool) -> list[str]:
        c, tab = self.chance, "\t" * depth
        kinds = ["int", "int", "float", "float", "vector", "component"]
        kinds += ["list"] if lists else []
        kinds += ["if", "if", "for", "while", "match"] if depth < 2 else []
        match c.choice(kinds):
            case "int":
                op = c.choice(["=", "=", "+=", "-=", "*=", "%=", "/="])
                value = str(c.randint(2, 9)) if op in ("%=", "/=") else self.integer(2)
                return [f"{tab}{c.choice(_INTS)} {op} {value}"]
            case "float":
                return [f"{tab}{c.choice(_FLOATS)} {c.choice(['=', '=', '+=', '-='])} {self.real(2)}"]
            case "vector":
                return [f"{tab}{c.choice(_VECTORS)} {c.choice(['=', '+=', '-='])} {self.vector(2)}"]
            case "component":
                target = f"{c.choice(_VECTORS)}.{c.choice('xyz')}"
                return [f"{tab}{target} {c.choice(['=', '+=', '-='])} {self.real(1)}"]
            case "list":
                return [
                    f"{tab}{c.choice(['list.append({0})', 'list[-1] += {0}', 'list[1] = {0}'])}".format(self.integer(1))
                ]
            case "if":
                lines = [f"{tab}if {self.truth(2)}:", *self._statements(1, 2, depth + 1, lists)]
                if c.random() < 0.4:
                    lines += [f"{tab}elif {self.truth(1)}:", *self._statements(1, 2, depth + 1, lists)]
                if c.random() < 0.5:
                    lines += [f"{tab}else:", *self._statements(1, 2, depth + 1, lists)]
                return lines
            case "for":
                self.loops += 1
                over = c.choice([f"range({c.randint(1, 4)})", "3", "range(5, -2, -3)", "[4, -1, 7]"])
                body = self._statements(1, 2, depth + 1, lists)
                leave = [f"{tab}\tif {self.truth(1)}: {c.choice(['break', 'continue'])}"] if c.random() < 0.4 else []
                return [f"{tab}for i{self.loops} in {over}:", f"{tab}\ta += i{self.loops}", *leave, *body]
            case "while":
                self.loops += 1
                name = f"n{self.loops}"
                start = [f"{tab}var {name} = 0", f"{tab}while {name} < {c.randint(1, 5)}:", f"{tab}\t{name} += 1"]
                return [*start, *self._statements(1, 2, depth + 1, lists)]
            case _:
                lines = [f"{tab}mode = posmod({self.integer(1)}, 13)", f"{tab}match mode:"]
                lines += [f"{tab}\tMode.IDLE:", *self._statements(1, 1, depth + 2, lists)]
                lines += [f"{tab}\tMode.WALK, Mode.RUN, 7:", *self._statements(1, 1, depth + 2, lists)]
                lines += [f"{tab}\tvar m when m > 9:", f"{tab}\t\thits += m"]
                return [*lines, f"{tab}\t_:", *self._statements(1, 1, depth + 2, lists)]

    # --- expressions ------------------------------------------------------------------------------------------------

    def integer(self, depth: int) -> str:
        c = self.chance
        if depth <= 0:
            return c.choice([*_INTS, "LIMIT", "Mode.RUN", str(c.randint(0, 60)), f"-{c.choice(_INTS)}"])
        left, right = self.integer(depth - 1), self.integer(depth - 1)
        match c.randrange(14):
            case 0 | 1 | 2:
                return f"{left} {c.choice('+-*')} {right}"
            case 3:
                return f"{left} / {c.randint(2, 9)}"
            case 4:
                return f"{left} % {c.randint(2, 9)} + {right}"
            case 5:
                return f"{left} {c.choice('&|^')} {right}"
            case 6:
                return f"((({left}) & 255) << {c.randint(0, 9)})"
            case 7:
                return f"({left} {c.choice('+-*&|^')} {right}) {c.choice('+-*&|^')} {self.integer(0)}"
            case 8:
                return f"({left} if {self.truth(1)} else {right})"
            case 9:
                return f"int(clampf({self.real(depth - 1)}, -1e6, 1e6))"
            case 10:
                return c.choice([f"absi({left})", f"abs({left})", f"sign({left})", f"posmod({left}, 7)"])
            case 11:
                return c.choice([f"mini({left}, {right})", f"max({left}, {right})", f"clamp({left}, -20, 20)"])
            case 12:
                return f"~{self.integer(0)}".replace("~-", "~") + f" {c.choice('+-*')} {right}"
            case _:
                return f"wrapi({left}, -5, {c.randint(0, 30)})"

    def real(self, depth: int) -> str:
        c = self.chance
        if depth <= 0:
            choices = [*_FLOATS, "RATE", "PI", self._float_literal(), f"{c.choice(_VECTORS)}.{c.choice('xyz')}"]
            return c.choice([*choices, f"-{c.choice(_FLOATS)}"])
        left, right = self.real(depth - 1), self.real(depth - 1)
        match c.randrange(13):
            case 0 | 1 | 2:
                return f"{left} {c.choice('+-*')} {right}"
            case 3:
                return f"{left} / {c.choice(['3', '0.7', 'b', '(absf(' + right + ') + 1)'])}"
            case 4:
                return f"({left} {c.choice('+-')} ({self.integer(1)})) * {self._float_literal()}"
            case 5:
                return f"{c.choice(['sin', 'cos', 'floor', 'round', 'ceil', 'abs', 'sign', 'atan'])}({left})"
            case 6:
                return f"sqrt(absf({left}))"
            case 7:
                return f"clampf({left}, -3, {self.real(0)})"
            case 8:
                return f"lerpf({left}, {right}, {self._float_literal()})"
            case 9:
                return f"({left} if {self.truth(1)} else {right})"
            case 10:
                vector = self.vector(depth - 1)
                return c.choice([f"({vector}).length()", f"({vector}).dot(w)", f"({vector}).distance_to(place)"])
            case 11:
                return f"move_toward({left}, {right}, 0.3)"
            case _:
                return f"mix({self.integer(0)}, {left})" if self.callable else f"fmod({left}, 2.5)"

    def vector(self, depth: int) -> str:
        c = self.chance
        if depth <= 0:
            return c.choice(
                [*_VECTORS, "Vector3.UP", "Vector3.RIGHT", f"Vector3({self.real(0)}, 1, {self._float_literal()})"]
            )
        left, right = self.vector(depth - 1), self.vector(depth - 1)
        match c.randrange(9):
            case 0 | 1:
                return f"{left} {c.choice('+-*')} {right}"
            case 2:
                return f"{left} * {c.choice([self._float_literal(), '2', 'f'])}"
            case 3:
                return f"{self._float_literal()} * ({left}) / 3"
            case 4:
                return f"({left}).{c.choice(['normalized()', 'abs()', 'floor()', 'limit_length(2.5)'])}"
            case 5:
                return f"({left}).move_toward({right}, 0.7)"
            case 6:
                return f"({left}).lerp({right}, {self._float_literal()})"
            case 7:
                return f"({left}).cross({right})"
            case _:
                return f"-{c.choice(_VECTORS)} {c.choice('+-')} {right}"

    def truth(self, depth: int) -> str:
        c = self.chance
        compare = c.choice(["<", ">", "<=", ">=", "==", "!="])
        if depth <= 0 or c.random() < 0.4:
            if c.random() < 0.5:
                return f"{self.integer(1)} {compare} {self.integer(0)}"
            return f"{self.real(1)} {c.choice('<>')} {c.choice([self.real(0), self.integer(0)])}"
        left, right = self.truth(depth - 1), self.truth(depth - 1)
        match c.randrange(5):
            case 0:
                return f"not {left}"
            case 1:
                return f"not ({left} or {right})"
            case 2:
                return f"({left}) == ({right})"
            case 3:
                return f"{self.integer(0)} in [3, 5, 17]"
            case _:
                return f"{left} {c.choice(['and', 'or'])} {right}"

    def _float_literal(self) -> str:
        return repr(round(self.chance.uniform(-4, 9), self.chance.randint(1, 3))).removeprefix("-") or "0.5"
