# --- components are 32-bit
func test():
	var v = Vector3(0.1, 0.2, 0.3)
	return [v.x, v.y, v.z, v.x + v.y, v.x * 3]
# --- components are set
func test():
	var v = Vector3(1, 2, 3)
	v.x += 0.1
	v.y *= 3
	v.z = 1.0 / 3.0
	v[0] -= 0.7
	return v
# --- vectors are values
func change(v):
	v.x = 99
	return v
func test():
	var a = Vector2(1, 2)
	var b = a
	b.y = 7
	var c = change(a)
	return [a, b, c]
# --- members that are vectors
var velocity = Vector3.ZERO
func push(f: Vector3, delta):
	velocity += f * delta
	velocity.y -= 9.8 * delta
func test():
	for i in 60:
		push(Vector3(1, 0.5, -0.25), 1.0 / 60)
	return velocity
# --- arithmetic
func test():
	var a = Vector3(1.1, -2.2, 3.3)
	var b = Vector3(0.3, 0.7, -0.9)
	return [a + b, a - b, a * b, a / b, -a, a * 1.7, 1.7 * a, a / 3.1, a * 2, 2 * a, a / 7]
# --- arithmetic in the plane
func test():
	var a = Vector2(1.1, -2.2)
	var b = Vector2(0.3, 0.7)
	return [a + b, a - b, a * b, a / b, -a, a * 1.7, 1.7 * a, a / 3.1, a * 2, 2 * a, a / 7]
# --- equality
func test():
	var a = Vector3(1, 2, 3)
	return [a == Vector3(1, 2, 3), a != Vector3(1, 2, 3.0001), a.is_equal_approx(Vector3(1, 2, 3.000001)), a.is_zero_approx()]
# --- truth
func test():
	var a = Vector3.ZERO
	return [not a, true if Vector2.ONE else false]
# --- lengths
func test():
	var a = Vector3(1.1, -2.2, 3.3)
	var b = Vector3(0.3, 0.7, -0.9)
	return [a.length(), a.length_squared(), a.distance_to(b), a.distance_squared_to(b), a.dot(b), a.normalized().length()]
# --- lengths in the plane
func test():
	var a = Vector2(1.1, -2.2)
	var b = Vector2(0.3, 0.7)
	return [a.length(), a.length_squared(), a.distance_to(b), a.distance_squared_to(b), a.dot(b), a.cross(b)]
# --- directions
func test():
	var a = Vector3(1.1, -2.2, 3.3)
	var b = Vector3(0.3, 0.7, -0.9)
	return [a.normalized(), a.direction_to(b), a.cross(b), Vector3.ZERO.normalized(), a.project(b), a.slide(b.normalized())]
# --- directions in the plane
func test():
	var a = Vector2(1.1, -2.2)
	var b = Vector2(0.3, 0.7)
	return [a.normalized(), a.direction_to(b), Vector2.ZERO.normalized(), a.project(b), a.slide(b.normalized()), a.orthogonal()]
# --- bouncing
func test():
	var a = Vector3(1.1, -2.2, 3.3)
	var n = Vector3(0.3, 0.7, -0.9).normalized()
	return [a.bounce(n), a.reflect(n)]
func test_plane():
	return Vector2(0.3, -2.5).bounce(Vector2(0.6, 0.8))
# --- angles
func test():
	var a = Vector3(1.1, -2.2, 3.3)
	var b = Vector3(0.3, 0.7, -0.9)
	return [a.angle_to(b), a.signed_angle_to(b, Vector3.UP), b.signed_angle_to(a, Vector3.UP)]
func test_plane():
	var a = Vector2(1.1, -2.2)
	var b = Vector2(0.3, 0.7)
	return [a.angle(), a.angle_to(b), a.angle_to_point(b), b.angle()]
# --- rotations
func test():
	var v = Vector3(1.1, -2.2, 3.3)
	return [v.rotated(Vector3.UP, 0.7), v.rotated(Vector3(0.6, 0.0, 0.8), -2.1), v.rotated(Vector3.RIGHT, PI)]
func test_plane():
	return [Vector2(1, 0).rotated(PI / 3), Vector2(0.3, -0.7).rotated(-1.1), Vector2.from_angle(0.7)]
# --- moving
func test():
	var a = Vector3(1.1, -2.2, 3.3)
	var b = Vector3(0.3, 0.7, -0.9)
	return [a.move_toward(b, 0.5), a.move_toward(b, 100), a.lerp(b, 0.3), a.limit_length(2), a.limit_length(20), lerp(a, b, 0.9)]
func test_plane():
	var a = Vector2(1.1, -2.2)
	var b = Vector2(0.3, 0.7)
	return [a.move_toward(b, 0.5), a.move_toward(b, 100), a.lerp(b, 0.3), a.limit_length(2), a.limit_length(20), lerp(a, b, 0.9)]
# --- rounding
func test():
	var a = Vector3(1.5, -2.5, 3.49)
	return [a.floor(), a.ceil(), a.round(), a.abs(), a.sign(), a.snapped(Vector3(0.4, 0.3, 1)), a.clamp(Vector3.ZERO, Vector3.ONE)]
func test_plane():
	var a = Vector2(-1.5, 2.51)
	return [a.floor(), a.ceil(), a.round(), a.abs(), a.sign(), a.snapped(Vector2(0.4, 0.3)), a.clamp(Vector2.ZERO, Vector2.ONE)]
# --- smaller and larger
func test():
	var a = Vector3(1.5, -2.5, 3.49)
	return [a.min(Vector3.ZERO), a.max(Vector3(1, 2, 5)), a.inverse(), abs(a), floor(a), sign(a)]
# --- constants
func test():
	return [Vector3.UP, Vector3.DOWN, Vector3.LEFT, Vector3.RIGHT, Vector3.FORWARD, Vector3.BACK, Vector3.ONE, Vector3.ZERO]
func test_plane():
	return [Vector2.UP, Vector2.DOWN, Vector2.LEFT, Vector2.RIGHT, Vector2.ONE, Vector2.ZERO]
# --- predicates
func test():
	var a = Vector3(0.6, 0, 0.8)
	return [a.is_normalized(), (a * 2).is_normalized(), a.is_finite(), (a / 0.0).is_finite()]
# --- integers in vectors
func test():
	var a = Vector2i(3, -4)
	var b = Vector2i(2000000000, 7)
	a.x += 5
	return [a + b, a - b, a * b, a * 3, -a, b + b, a.abs()]
func test_components():
	var a = Vector3i(1, 2, 3)
	a.z = 7
	return [a.x, a.y, a.z, a.x * a.y]
func test_equal():
	return Vector3i(1, 2, 3) == Vector3i(1, 2, 3)
# --- arrays of vectors
func test():
	var points = [Vector3(1, 2, 3), Vector3.UP]
	points.append(Vector3(0.1, 0.2, 0.3))
	points[1].y += 5
	points[0] = points[2] * 2
	return points
# --- a sum of many
func test():
	var p = Vector3.ZERO
	var v = Vector3(0.1, 0.2, -0.3)
	for i in 500:
		v = v.rotated(Vector3.UP, 0.01)
		p += v * 0.016
	return p
# --- typed vectors
var target: Vector2 = Vector2(3, 4)
func aim(from: Vector2, lead: float = 0.1) -> Vector2:
	return (target + Vector2.RIGHT * lead - from).normalized()
func test():
	return aim(Vector2(1, 1)) + aim(Vector2.ZERO, 2)
# --- wide numbers narrow
func test():
	return [Vector2(16777217, 0.1 + 0.2), Vector2(1e39, -1e-50), Vector2(9007199254740993, 3)]
