# --- a basis from an axis and an angle
func test():
	var b = Basis(Vector3(1, 2, -2).normalized(), 0.7)
	return [b.x, b.y, b.z, b * Vector3(1.5, -2.5, 3.25), Vector3(0.3, 0.2, -0.1) * b, b[1]]
# --- products and inverses of bases
func test():
	var a = Basis(Vector3.UP, 1.1)
	var b = Basis(Vector3(0.6, 0, 0.8), -0.4)
	var c = a * b
	var d = c.scaled(Vector3(1.5, 2.5, 0.5))
	var e = d.inverse()
	var f = d.transposed()
	var g = d.orthonormalized()
	return [c.x, c.y, c.z, d.x, e.x, e.y, e.z, f.x, g.x, g.y, g.z, d.get_scale(), c.get_euler()]
# --- determinants
func test():
	return (Basis(Vector3.RIGHT, 0.3) * 1.7).determinant()
# --- euler angles
func test():
	var found = [Basis(Vector3.RIGHT, 0.5).get_euler()]
	for x in [-1.2, 0.0, 0.9]:
		for y in [-3.0, 0.4]:
			for z in [-0.7, 2.0]:
				var b = Basis.from_euler(Vector3(x, y, z))
				found.append(b.x)
				found.append(b.z)
				found.append(b.get_euler())
	return found
# --- looking at something
func test():
	var b = Basis.looking_at(Vector3(1, 2, 3))
	var c = Basis.looking_at(Vector3(-4, 0.5, 2), Vector3(0.1, 1, 0))
	var t = Transform3D(b, Vector3(1, -1, 2)).looking_at(Vector3(7, 2, 5), Vector3.UP)
	return [b.x, b.y, b.z, c.x, c.y, c.z, t.basis.x, t.basis.y, t.basis.z, t.origin]
# --- quaternions
func test():
	var found = []
	for angle in [0.2, 1.9, 3.1]:
		for axis in [Vector3.UP, Vector3(1, 0, 0), Vector3(0, 0, 1), Vector3(1, 2, 3).normalized()]:
			var q = Quaternion(axis, angle)
			var b = Basis(q)
			var r = b.get_rotation_quaternion()
			var s = q.slerp(Quaternion(0.1, 0.2, 0.3, 0.9).normalized(), 0.3)
			var m = q * s
			found.append_array([q * Vector3(1, 2, 3), b.x, b.z, Vector3(r.x, r.y, r.z), Vector3(r.w, s.w, m.w)])
			found.append_array([Vector3(s.x, s.y, s.z), Vector3(m.x, m.y, m.z), q.get_euler()])
	return found
# --- transforms of points
func test():
	var t = Transform3D(Basis(Vector3.UP, 0.9), Vector3(3, -2, 1))
	var p = Vector3(0.5, 4.0, -1.25)
	var u = t * Transform3D(Basis(Vector3.RIGHT, -0.4), Vector3(0, 1, 0))
	return [t * p, p * t, t.inverse() * p, t.affine_inverse() * p, u.origin, u.basis.x, u.basis.y, u.basis.z]
# --- transforms that are turned and moved
func test():
	var t = Transform3D.IDENTITY.rotated(Vector3(0.6, 0.8, 0), 0.5).translated(Vector3(1, 2, 3))
	t = t.translated_local(Vector3(0, 0, -1)).rotated_local(Vector3.UP, 0.25)
	t = t.scaled(Vector3(2, 2, 0.5)).rotated(Vector3.FORWARD, 1.0)
	var o = t.orthonormalized()
	return [t.origin, t.basis.x, t.basis.y, t.basis.z, o.basis.x, o.basis.y, o.basis.z]
# --- transforms between two others
func test():
	var a = Transform3D(Basis(Vector3.UP, 0.3).scaled(Vector3(1, 2, 1)), Vector3(1, 0, 0))
	var b = Transform3D(Basis(Vector3(0, 0.6, 0.8), 2.5), Vector3(0, 5, -1))
	var found = []
	for weight in [0.0, 0.1, 0.5, 1.0]:
		var c = a.interpolate_with(b, weight)
		found.append_array([c.origin, c.basis.x, c.basis.y, c.basis.z])
	var d = a.basis.orthonormalized().slerp(b.basis, 0.25)
	found.append_array([d.x, d.y, d.z])
	return found
# --- parts of a transform are set
func test():
	var t = Transform3D()
	t.origin.x += 2.5
	t.origin = t.origin * 2
	t.basis = t.basis.rotated(Vector3.UP, 0.5)
	t.basis.x = Vector3(1, 2, 3)
	t.basis.z.y -= 4
	return [t.origin, t.basis.x, t.basis.y, t.basis.z]
# --- transforms in the plane
func test():
	var t = Transform2D(0.7, Vector2(3, 4))
	var u = t * Transform2D(-0.2, Vector2(1, 0))
	var p = Vector2(-1.5, 2.25)
	var i = u.affine_inverse()
	return [t * p, p * t, u.x, u.y, u.origin, i.x, i.y, i.origin, t.inverse() * p, Vector2(u.get_rotation(), 0)]
# --- a signed angle, and a length that is limited to one
func test():
	var a = Vector3(1, 2, 3)
	return [a.limit_length(), a * a.signed_angle_to(Vector3(-1, 0.5, 2), Vector3.UP), Vector3(0.1, 0, 0.2).limit_length()]
