# --- a second name is the same array
func test():
	var a = [1, 2, 3]
	var b = a
	b.append(4)
	b[0] = 10
	a[1] += 5
	return a
# --- a copy is another array
func test():
	var a = [1, 2, 3]
	var b = a.duplicate()
	b.append(4)
	a[0] = 7
	return [a.size(), b.size(), a[0], b[0]]
# --- functions change the caller's array
func fill_up(list, n):
	for i in n:
		list.append(i * i)
	list = [0, 0]
	list.append(1)
func test():
	var a = [5]
	fill_up(a, 3)
	return a
# --- functions return references
var items = [1, 2]
func get_items():
	return items
func test():
	var a = get_items()
	a.append(3)
	items = [9]
	a.append(4)
	return [items.size(), a.size(), a[3], items[0]]
# --- negative indices
func test():
	var a = [1, 2, 3, 4]
	a[-1] += 10
	return [a[-1], a[-2], a[-4], a[0]]
# --- methods
func test():
	var a = [3, 1, 2]
	a.push_back(5)
	a.push_front(9)
	a.insert(2, 7)
	a.erase(1)
	a.remove_at(0)
	a.reverse()
	return a
# --- ends
func test():
	var a = [3, 1, 2, 8]
	var last = a.pop_back()
	var first = a.pop_front()
	return [last, first, a.size(), a.front(), a.back()]
# --- sorting
func test():
	var a = [3, 1, 2, 8, -4, 1]
	a.sort()
	return a
func test_floats():
	var a = [0.5, -1.5, 2.25]
	a.sort()
	return a
# --- searching
func test():
	var a = [3, 1, 2, 1]
	return [a.find(1), a.find(7), a.count(1), a.size(), a.max(), a.min()]
func test_has():
	var a = [3, 1, 2]
	return [a.has(3), a.has(4), 2 in a, not 5 in a, 3 not in a, a.is_empty(), [1].is_empty()]
# --- emptying
func test():
	var a = [1, 2]
	a.clear()
	a.append(3)
	return a
# --- typed arrays convert
var weights: Array[float] = [1, 2, 3]
func test():
	weights.append(4)
	weights[0] = 7
	return weights[0] / 2 + weights[3]
# --- typed arrays of integers
func total(list: Array[int]) -> int:
	var sum := 0
	for x in list:
		sum += x
	return sum
func test():
	var a: Array[int] = [1, 2, 3]
	a.resize(5)
	a[4] = 9
	return total(a)
# --- arrays join
func test():
	var a = [1, 2]
	a.append_array([3, 4])
	var b = [5]
	a.append_array(b)
	a.append_array(a)
	return a
# --- arrays compare by value
func test():
	return [[1, 2] == [1, 2], [1, 2] == [1, 3], [1] != [1], [1, 2] == [1]]
# --- truth of arrays
func test():
	var a = [1]
	var b = [1]
	b.clear()
	return [true if a else false, not b]
# --- observations
func observe(position, flag):
	var obs = []
	obs.append(position.x)
	obs.append(position.y / 10)
	obs.append_array([position.z, float(flag)])
	return obs
func test():
	return observe(Vector3(0.1, 0.2, 0.3), true)
# --- packed 32-bit floats round
func test():
	var a = PackedFloat32Array()
	a.append(0.1)
	a.push_back(1e-50)
	a.resize(4)
	a[3] = 1.0 / 3.0
	a[2] += 0.7
	return [a[0], a[1], a[2], a[3], a[0] + a[3]]
# --- packed 32-bit integers wrap
func test():
	var a = PackedInt32Array()
	a.append(5000000000)
	a.append(-3)
	a[1] += 1 << 33
	return [a[0], a[1], a.size()]
# --- packed bytes
func test():
	var a = PackedByteArray()
	a.append(300)
	a.append(-1)
	return [a[0], a[1]]
# --- packed arrays are references
func grow(a: PackedFloat64Array):
	a.append(2.5)
func test():
	var a: PackedFloat64Array = [1, 2]
	var b = a
	b.append(3)
	grow(a)
	return [a.size(), b.size()]
# --- constant tables
const TABLE = [3, 1, 4, 1, 5]
const STEPS: Array[float] = [0.5, 1, 2]
func test():
	var total = 0
	for x in TABLE:
		total = total * 10 + x
	return [total, TABLE[2], TABLE[-1], TABLE.size()]
func test_float():
	return STEPS[1] / 2
# --- bubble sort by hand
func test():
	var a = [5, 2, 9, 1, 7]
	for i in range(a.size()):
		for j in range(a.size() - 1 - i):
			if a[j] > a[j + 1]:
				var t = a[j]
				a[j] = a[j + 1]
				a[j + 1] = t
	return a
# --- a sieve
func test():
	var prime: Array[bool] = []
	prime.resize(50)
	prime.fill(true)
	var found = []
	for i in range(2, 50):
		if prime[i]:
			found.append(i)
			for j in range(i * i, 50, i):
				prime[j] = false
	return found
# --- integers and floats in one array
func test() -> float:
	var a = [1, 2.5, 3]
	var total := 0.0
	for x in a:
		total += x * 2
	return total
# --- an untyped number that becomes a float
var reward = 0
func test() -> float:
	reward += 1
	reward -= 0.25
	if reward > 0.5:
		reward *= 2
	return reward
