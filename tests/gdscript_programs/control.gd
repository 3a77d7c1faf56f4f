# --- if, elif, else
func kind(x):
	if x < 0:
		return -1
	elif x == 0:
		return 0
	elif x > 100: return 2
	else:
		return 1
func test():
	return [kind(-5), kind(0), kind(7), kind(101)]
# --- while with break and continue
func test():
	var n = 0
	var total = 0
	while true:
		n += 1
		if n % 3 == 0:
			continue
		if n > 20: break
		total += n
	return [n, total]
# --- for over range
func test():
	var seen: Array[int] = []
	for i in range(4): seen.append(i)
	for i in range(2, 6): seen.append(i)
	for i in range(10, 0, -3): seen.append(i)
	for i in range(0, 7, 2): seen.append(i)
	for i in range(5, 2): seen.append(99)
	return seen
# --- for over a number and an array
func test():
	var total = 0
	for i in 5:
		total += i
	for x in [3, 1, 4]:
		total = total * 10 + x
	return total
# --- the loop's variable can be changed
func test():
	var seen = []
	for i in range(5):
		seen.append(i)
		i += 2
		seen.append(i)
	return seen
# --- nested loops and early return
func test():
	for a in range(1, 30):
		for b in range(a, 30):
			for c in range(b, 30):
				if a * a + b * b == c * c and a + b + c > 40:
					return [a, b, c]
	return [0]
# --- match of integers
func name_of(x: int) -> int:
	match x:
		1:
			return 10
		2, 3:
			return 20
		-4:
			return 30
		_:
			return 40
func test():
	return [name_of(1), name_of(2), name_of(3), name_of(-4), name_of(9)]
# --- match binds and guards
func size_of(x):
	match x:
		0: return 0
		var n when n > 100:
			return n * 2
		var n when n < 0:
			return -n
		var other:
			return other + 1
func test():
	return [size_of(0), size_of(500), size_of(-3), size_of(7)]
# --- match of enums falls through to nothing
enum Mode { WALK, RUN = 5, JUMP }
var mode = Mode.WALK
func test():
	var found = 0
	for i in 8:
		mode = i
		match mode:
			Mode.WALK: found += 1
			Mode.RUN: found += 10
			Mode.JUMP: found += 100
	return found
# --- match in a loop continues it
func test():
	var total = 0
	for i in 10:
		match i % 4:
			0: continue
			3:
				if i > 5: break
			_: total += i
		total += 100
	return total
# --- match of floats and bools
func test():
	var found = 0
	match 0.5:
		0.25: found = 1
		0.5: found = 2
	match found == 2:
		true: found += 10
		false: found += 20
	return found
# --- names of blocks end with them
func test():
	var total = 0
	if total == 0:
		var x = 3
		total += x
	if total == 3:
		var x = 0.5
		total += int(x * 4)
	for i in 2:
		var x = i
		total += x
	return total
# --- a local hides a member
var speed = 3
func test():
	var before = speed
	var speed = 10.5
	return before + speed + self.speed
# --- default arguments
const BASE = 4
func add(a, b = 2, c := BASE * 2, d: float = 1):
	return a + b + c + d
func test():
	return [add(1), add(1, 5), add(1, 5, 6), add(1, 5, 6, 0.5)]
# --- members and functions
var count := 0
var total := 0.0
func note(x: float) -> void:
	count += 1
	total += x
func mean() -> float:
	if count == 0:
		return 0.0
	return total / count
func test():
	note(3)
	note(4.5)
	self.note(0.25)
	return mean()
# --- static functions
static func twice(x: int) -> int:
	return x * 2
static func more(x):
	return twice(x) + 1
func test():
	return more(5) + twice(3)
# --- early return of nothing
var seen = 0
func look(x):
	if x > 3:
		return
	seen += x
func test():
	for i in 6: look(i)
	return seen
# --- constants of constants
const A = 3
const B = A * 2 + 1
const C := B / 2
const D: float = B / 2
const UP = Vector3(0, 1, 0)
func test():
	return [A, B, C]
func test_float():
	return D
func test_vector():
	return UP * B + Vector3.UP
# --- constants in functions
func test():
	const STEP = 3
	const HALF := 0.5
	return STEP * HALF + STEP
# --- enums
enum { ONE = 1, TWO, TEN = 10, ELEVEN }
enum Flag { A = 1 << 0, B = 1 << 1, C = 1 << 4, ALL = A | B | C }
func test():
	return [ONE, TWO, TEN, ELEVEN, Flag.A, Flag.B, Flag.C, Flag.ALL, Flag.B | Flag.C]
# --- a typed enum
enum State { IDLE, BUSY }
var state: State = State.IDLE
func test():
	state = State.BUSY
	return state == State.BUSY
# --- names that Python keeps for itself
var lambda = 3
func from(is_, del):
	return is_ + del
func test():
	var def = lambda
	var None = 2
	var len = from(def, None)
	var floor = 0.5
	return len + floor(1.5) * floor
# --- short circuits
var calls = 0
func yes():
	calls += 1
	return true
func test():
	var a = true or yes()
	var b = false and yes()
	var c = yes() or yes()
	return [calls, int(a), int(b), int(c)]
# --- order of evaluation
var log_ = 0
func step(x):
	log_ = log_ * 10 + x
	return x
func test():
	var x = step(1) + step(2) * step(3) - step(4)
	return [x, log_]
# --- prints are left out
func test():
	print("hello ", 3)
	prints("a", 1.5)
	var x = 2
	return x
# --- semicolons and one line
func test():
	var a = 1; var b = 2; a += b; return a * b
# --- a long line goes on
func test():
	var x = 1 + \
		2 + \
		3
	var y = (x
		+ 4)
	return [x, y]
# --- collatz
func test():
	var longest = 0
	var best = 0
	for start in range(1, 60):
		var n = start
		var steps = 0
		while n != 1:
			n = n / 2 if n % 2 == 0 else 3 * n + 1
			steps += 1
		if steps > longest:
			longest = steps
			best = start
	return [best, longest]
