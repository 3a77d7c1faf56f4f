# --- division of integers goes towards zero
func test():
	return [7 / 2, -7 / 2, 7 / -2, -7 / -2, 1 / 3, -1 / 3]
# --- remainders have the dividend's sign
func test():
	return [7 % 3, -7 % 3, 7 % -3, -7 % -3, 6 % 3, -6 % 3]
# --- untyped variables divide by what they hold
func test_ints():
	var a = 7
	var b = 2
	return a / b
func test_floats():
	var a = 7.0
	var b = 2
	return a / b
# --- integers wrap at 64 bits
func test():
	var big = 9223372036854775807
	return [big + 1, big * 3, -big - 2, big * big, (big - 5) * -7]
# --- negative minimum
func test():
	var least = -9223372036854775807 - 1
	return [-least, least - 1, absi(least), least * -1]
# --- powers of integers go through floats
func test():
	return [2 ** 10, 3 ** 20, (-2) ** 3, 2 ** -1, 10 ** 18, 7 ** 0]
func test_left():
	return 2 ** 3 ** 2
# --- the sign of a literal binds closer than a power, that of a variable does not
func test():
	return [-2 ** 2, -3 ** 2 + 1, (-2) ** 2, 2 - -2 ** 2]
func test_float():
	return -1.5 ** 2
func test_variable():
	var x = 3
	return [-x ** 2, 2 * -x ** 2, (-x) ** 2, ~x ** 2]
# --- powers of floats
func test():
	return [2.0 ** 0.5, 2 ** 0.5, 0.5 ** 3, (-8.0) ** 3, 1.0000001 ** 1000000.0]
# --- bits
func test():
	return [12 & 10, 12 | 3, 12 ^ 10, ~5, 1 << 40, 1024 >> 3, 5 & 3 | 8 ^ 2]
# --- bits bind closer than comparisons
func test():
	return [6 & 4 == 4, 1 | 2 == 3, 3 ^ 1 != 0]
# --- sums before shifts
func test():
	return [1 << 2 + 1, 64 >> 1 + 1, 1 + 2 << 3]
# --- unary signs
func test():
	var x = 5
	return [-x, -(-x), +x, -x * 2, -x % 3, ~x, -(~x)]
# --- hexadecimal and binary
func test():
	return [0xff, 0x7fff_ffff, 0b1010, 0xFFFFFFFF, 1_000_000]
# --- float arithmetic
func test():
	return [0.1 + 0.2, 1.0 / 3.0, 2.0 / 3, 1e300 * 1e10, -1.0 / 0.0, 5.0 - 1e-17]
# --- not a number
func test():
	var zero = 0.0
	var nothing = zero / zero
	return [nothing == nothing, nothing != nothing, nothing < 1.0, is_nan(nothing), is_inf(1.0 / zero)]
# --- floats become integers
func test():
	return [int(3.7), int(-3.7), int(0.999999), int(1e18), int(-1e18), int(true), int(false)]
# --- integers become floats
func test():
	return [float(3), float(9007199254740993), float(-1), float(true)]
# --- declared types convert
func test_int() -> int:
	var x: int = 3.7
	x += 1.9
	return x
func test_float() -> float:
	var x: float = 3
	return x / 2
func test_bool() -> bool:
	var x: bool = 2
	return x
# --- inferred types stay
func test():
	var x := 3
	x = 4.9
	return x / 2
# --- declared results convert
func half(x: int) -> int:
	return x * 0.5
func whole() -> float:
	return 7 / 2
func test():
	return [half(7), half(-7)]
func test_whole():
	return whole()
# --- compound assignment
func test():
	var a = 17
	a += 3
	a -= 1
	a *= 2
	a /= 3
	a %= 7
	a <<= 3
	a |= 1
	a ^= 6
	a &= 14
	a >>= 1
	a **= 2
	return a
# --- compound assignment of floats
func test():
	var a = 17.0
	a += 3
	a -= 0.1
	a *= 2
	a /= 3
	a **= 2
	return a
# --- comparisons of integers and floats
func test():
	return [1 == 1.0, 2 > 1.5, 3 <= 3.0, 1 != 1.5, -1 < -0.5, 9007199254740993 == 9007199254740992.0]
# --- comparing comparisons
func test():
	var a = 3
	return [(a > 2) == true, (a > 2) != (a < 1), not a > 5, !(a == 3)]
# --- and, or, not
func test():
	var a = true
	var b = false
	return [a and not b, a or b and b, not a or a, not (a and b), a && !b, b || a]
# --- truth of numbers
func test():
	var zero = 0
	var some = 0.5
	return [not zero, not some, zero or some, bool(0.0), bool(-1), true if some else false]
# --- ternary
func test():
	var x = 5
	return [1 if x > 3 else 2, 1 if x > 7 else 2 if x > 4 else 3, (1 if x < 0 else 4) * 2]
# --- precedence of mixed operators
func test():
	return [1 + 2 * 3 - 4 / 2, 2 * 3 % 4, 10 - 2 - 3, 100 / 10 / 5, 2 + 3 * 4 ** 2 / 8]
# --- unsigned looking constants
func test():
	return [0x7fffffffffffffff + 1, 1 << 62, (1 << 62) * 2, 3000000000 * 3000000000]
# --- long sums round at every step
func test():
	var total = 0.0
	for i in 1000:
		total += 0.1 * i
	return total
