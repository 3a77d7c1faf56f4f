"""Matrix products: sums of a small tile of the result stay in registers while a core goes along the inner dimension.

Loops alone do not get there: the compiler loads and stores the result in every step. So the innermost loop is written
in the compiler's own terms. Sums are fused and in a fixed order: the same on every run of one machine.
"""

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic

from godojo.kernels.compile import njit_fastmath

cgutils: Any = untyped_cgutils
_FEATURES = llvmlite.binding.get_host_cpu_features()
LANES = 16 if _FEATURES.get("avx512f") else 8
"""32-bit numbers in a register."""
ROWS, WIDE, NARROW = 4, 4 if LANES == 16 else 2, 2
"""Of a tile: rows, and registers in each; a machine with short registers has fewer of them."""
_FLOAT, _INT, _VECTOR = ir.FloatType(), ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)
_MASK = ir.VectorType(ir.IntType(1), LANES)


def _tile(rows: int, registers: int, *, is_cut: bool) -> Any:
    """Compiles `tile`; `is_cut` writes and reads only the first `columns` of its one register a row."""

    @intrinsic
    def tile(
        typing: Any, left: Any, left_at: Any, per_row: Any, per_step: Any, right: Any, right_at: Any, right_step: Any,
        out: Any, out_at: Any, out_row: Any, steps: Any, columns: Any,
    ) -> Any:  # fmt: skip
        """`out[r, c] += sum(left[r, k] * right[k, c])`; each array with the place of its first number and strides."""
        del typing, left_at, per_row, per_step, right_at, right_step, out_at, out_row, steps, columns
        whole = types.int64
        given = (left, whole, whole, whole, right, whole, whole, out, whole, whole, whole, whole)

        def build(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            names = ("left", "right", "out")
            at = dict(zip(names, (arguments[1], arguments[5], arguments[8]), strict=True))
            data = {}
            for name, place in zip(names, (0, 4, 7), strict=True):
                array = context.make_array(signature.args[place])(context, builder, arguments[place])
                data[name] = builder.gep(array.data, [at[name]])
            per_row, per_step, right_step, out_row = arguments[2], arguments[3], arguments[6], arguments[9]
            steps, columns = arguments[10], arguments[11]
            lane = ir.Constant(ir.VectorType(_INT, LANES), list(range(LANES)))
            mask = builder.icmp_signed("<", lane, _splat(builder, columns, _INT)) if is_cut else None
            zero = ir.Constant(_VECTOR, None)

            def place_of(base: ir.Value, row: ir.Value, step: int | ir.Value, register: int) -> ir.Value:
                step = ir.Constant(_INT, step) if isinstance(step, int) else step
                offset = builder.add(builder.mul(row, step), ir.Constant(_INT, register * LANES))
                return builder.bitcast(builder.gep(base, [offset]), _VECTOR.as_pointer())

            def load(pointer: ir.Value) -> ir.Value:
                if mask is None:
                    return builder.load(pointer, align=4)
                kind = ir.FunctionType(_VECTOR, [_VECTOR.as_pointer(), ir.IntType(32), _MASK, _VECTOR])
                name = f"llvm.masked.load.v{LANES}f32.p0"
                function = cgutils.get_or_insert_function(builder.module, kind, name)
                return builder.call(function, [pointer, ir.Constant(ir.IntType(32), 4), mask, zero])

            def store(value: ir.Value, pointer: ir.Value) -> None:
                if mask is None:
                    builder.store(value, pointer, align=4)
                    return
                kind = ir.FunctionType(ir.VoidType(), [_VECTOR, _VECTOR.as_pointer(), ir.IntType(32), _MASK])
                name = f"llvm.masked.store.v{LANES}f32.p0"
                function = cgutils.get_or_insert_function(builder.module, kind, name)
                builder.call(function, [value, pointer, ir.Constant(ir.IntType(32), 4), mask])

            kind = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR, _VECTOR])
            fused = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32")
            places = [
                place_of(data["out"], out_row, row, register) for row in range(rows) for register in range(registers)
            ]
            sums = [cgutils.alloca_once_value(builder, load(place)) for place in places]
            with cgutils.for_range(builder, steps, intp=_INT) as loop:
                step = loop.index
                right_now = [load(place_of(data["right"], right_step, step, register)) for register in range(registers)]
                left_now = builder.gep(data["left"], [builder.mul(per_step, step)])
                for row in range(rows):
                    number = builder.load(builder.gep(left_now, [builder.mul(per_row, ir.Constant(_INT, row))]))
                    spread = _splat(builder, number, _FLOAT)
                    for register in range(registers):
                        total = sums[row * registers + register]
                        builder.store(builder.call(fused, [spread, right_now[register], builder.load(total)]), total)
            for place, total in zip(places, sums, strict=True):
                store(builder.load(total), place)
            return context.get_dummy_value()

        return types.void(*given), build

    return tile


def _splat(builder: ir.IRBuilder, value: ir.Value, kind: ir.Type) -> ir.Value:
    """The value in every lane."""
    vector = ir.VectorType(kind, LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


_wide, _narrow, _cut = (_tile(ROWS, WIDE, is_cut=False), _tile(ROWS, NARROW, is_cut=False), _tile(ROWS, 1, is_cut=True))
_wide_row, _cut_row = _tile(1, WIDE, is_cut=False), _tile(1, 1, is_cut=True)


@njit_fastmath
def add_matrix_product(
    left: np.ndarray, left_at: int, per_row: int, per_step: int, right: np.ndarray, right_at: int, right_step: int,
    out: np.ndarray, out_at: int, out_row: int, rows: int, steps: int, columns: int,
) -> None:  # fmt: skip
    """`out[r, c] += sum over k of left[r, k] * right[k, c]`.

    `left[r, k]` is number `left_at + r * per_row + k * per_step` of its array, `right[k, c]` number
    `right_at + k * right_step + c`, `out[r, c]` number `out_at + r * out_row + c`.
    """
    column = 0
    while column < columns:
        remaining = columns - column
        width = (
            WIDE * LANES if remaining >= WIDE * LANES else (NARROW * LANES if remaining >= NARROW * LANES else LANES)
        )
        right_from, out_from = right_at + column, out_at + column
        row = 0
        while row + ROWS <= rows:
            a, o = left_at + row * per_row, out_from + row * out_row
            if width == WIDE * LANES:
                _wide(left, a, per_row, per_step, right, right_from, right_step, out, o, out_row, steps, width)
            elif width == NARROW * LANES:
                _narrow(left, a, per_row, per_step, right, right_from, right_step, out, o, out_row, steps, width)
            else:
                _cut(left, a, per_row, per_step, right, right_from, right_step, out, o, out_row, steps, remaining)
            row += ROWS
        while row < rows:
            a, o = left_at + row * per_row, out_from + row * out_row
            if width == WIDE * LANES:
                _wide_row(left, a, per_row, per_step, right, right_from, right_step, out, o, out_row, steps, width)
            else:
                for at in range(0, min(width, remaining), LANES):
                    _cut_row(
                        left, a, per_row, per_step, right, right_from + at, right_step, out, o + at, out_row, steps,
                        remaining - at,
                    )  # fmt: skip
            row += 1
        column += width
