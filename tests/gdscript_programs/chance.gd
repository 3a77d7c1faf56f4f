# --- the global generator
func test_ints():
	seed(12345)
	return [randi(), randi(), randi(), randi() % 100]
func test_floats():
	seed(7)
	return [randf(), randf(), randf(), randf_range(-2.0, 3.0), randf_range(0, 1), randfn(1.0, 0.5)]
func test_ranges():
	seed(99)
	var found = []
	for i in 30:
		found.append(randi_range(-3, i))
	return found
func test_wide():
	seed(1)
	return [randi_range(-2147483648, 2147483647), randi_range(5, 5), randi_range(9, 2)]
# --- seeds of any size
func test():
	var found = []
	for s in [0, 1, -1, 9223372036854775807, 4294967296]:
		seed(s)
		found.append(randi())
	return found
# --- an own generator
var rng = RandomNumberGenerator.new()
func test():
	rng.seed = 42
	return [rng.randf(), rng.randf_range(-1, 1), rng.randf(), rng.randf_range(0.0, 100.0)]
func test_ints():
	rng.seed = 43
	return [rng.randi(), rng.randi_range(0, 9), rng.randi_range(-100, 100)]
# --- two generators do not meet
func test():
	var a := RandomNumberGenerator.new()
	var b := RandomNumberGenerator.new()
	a.seed = 1
	b.seed = 1
	return [a.randi(), b.randi(), a.randi(), b.randi()]
# --- generators are references
func draw(r: RandomNumberGenerator) -> int:
	return r.randi()
func test():
	var a := RandomNumberGenerator.new()
	a.seed = 8
	var b = a
	return [draw(a), draw(b), a.randi()]
# --- many draws
func test():
	seed(2024)
	var total = 0.0
	for i in 500:
		total += randf() + randf_range(-1.0, 1.0) * randi_range(1, 6)
	return total
# --- picking and shuffling
func test():
	seed(3)
	var a = [10, 20, 30, 40, 50, 60]
	a.shuffle()
	a.append(a.pick_random())
	a.append(a.pick_random())
	return a
# --- random walks
var position = Vector2.ZERO
func test():
	seed(11)
	for i in 100:
		position += Vector2(randf_range(-1, 1), randf_range(-1, 1)).normalized() * 0.3
	return position
