extends EngineTest
## The look of tag, as far as it can be judged without pixels.

## How protanopes, deuteranopes and tritanopes see linear red, green and blue
## (Machado and others, 2009).
const COLOR_BLIND: Dictionary[String, Basis] = {
	"protanope":
	Basis(
		Vector3(0.152286, 0.114503, -0.003882),
		Vector3(1.052583, 0.786281, -0.048116),
		Vector3(-0.204868, 0.099216, 1.051998)
	),
	"deuteranope":
	Basis(
		Vector3(0.367322, 0.280085, -0.011820),
		Vector3(0.860646, 0.672501, 0.042940),
		Vector3(-0.227968, 0.047413, 0.968881)
	),
	"tritanope":
	Basis(
		Vector3(1.255528, -0.078411, 0.004733),
		Vector3(-0.076749, 0.930809, 0.691367),
		Vector3(-0.178779, 0.147602, 0.303900)
	),
}
const SHAPES: PackedFloat32Array = [0.0, 0.58, 0.75, 0.9, 1.0, 1.1, 1.18, 9.0]


func test_an_agent_stays_inside_its_collider() -> void:
	for size_m: float in [0.3, 0.9, 1.5]:
		var agent := ShowBody.new()
		var look := AgentLook.new()
		add_child(look)
		look.follow(agent, size_m)
		look.set_process(false)
		var half: float = size_m * 0.5
		var worst: float = 0.0
		for turn in 24:
			look.face(TAU * turn / 24.0)
			for squash in SHAPES:
				look.set_squash(squash)
				for gaze: Vector2 in [Vector2.ZERO, Vector2.ONE, -Vector2.ONE, Vector2(1, -1)]:
					look.set_gaze(gaze.x, gaze.y)
					for point in _points(look):
						var off: Vector3 = (point - Vector3.UP * half).abs()
						worst = maxf(worst, maxf(off.x, maxf(off.y, off.z)))
		check(worst <= half + 1e-5, "%f m from the middle of a %f m cube" % [worst, size_m])
		check(worst > half * 0.9, "the look of a %f m cube reaches only %f m" % [size_m, worst])


func test_squash_and_stretch_stay_inside_while_playing() -> void:
	var size_m: float = 0.9
	var agent := ShowBody.new()
	agent.middle = Vector3(3.0, 1.0, -2.0)
	var look := AgentLook.new()
	add_child(look)
	look.follow(agent, size_m)
	var room := AABB(agent.middle - Vector3.ONE * 0.45, Vector3.ONE * 0.9).grow(1e-4)
	await ticks(3)
	for blow in 40:
		match blow % 4:
			0:
				look.land(25.0)
			1:
				look.jump()
			2:
				agent.velocity = Vector3(6.0, -30.0, 1.0)
			3:
				agent.grounded = not agent.grounded
		agent.heading_rad += 0.37
		await get_tree().process_frame
		for point in _points(look):
			if not room.has_point(look.global_position + point):
				check(false, "%s is outside after blow %d" % [point, blow])
				return
	check(true, "")


func test_a_caught_agent_is_seen_for_a_moment_and_stays_when_the_round_is_over() -> void:
	var agent := ShowBody.new()
	var look := AgentLook.new()
	add_child(look)
	look.follow(agent, 0.9)
	agent.active = false
	await ticks(20)
	check(look.visible, "it is still seen after 20 ticks")
	look.lingers = true
	await ticks(120)
	check(look.visible, "it stays while the round is over")
	look.lingers = false
	await ticks(60)
	check(not look.visible, "it is gone when the round goes on")
	agent.active = true
	await ticks(2)
	check(look.visible, "it is back in the next round")


func test_dust_stays_where_its_agent_was() -> void:
	var dust := Dust.new()
	add_child(dust)
	dust.prepare(0.9)
	var middle := Vector3(2.0, 0.45, 5.0)
	var room := AABB(middle - Vector3.ONE * 0.45, Vector3.ONE * 0.9).grow(1e-4)
	dust.puff(middle, Dust.CAPACITY, Color.WHITE)
	var shown: int = 0
	for _frame in 40:
		await get_tree().process_frame
		for puff in dust.extents():
			shown += 1
			if not room.encloses(puff):
				check(false, "a puff fills %s" % puff)
				return
	check(shown > 1000, "only %d puffs were seen" % shown)


func test_rounded_boxes_fill_their_box_and_no_more() -> void:
	for size: Vector3 in [Vector3(2, 3, 4), Vector3(0.1, 5, 0.1), Vector3.ONE]:
		var mesh: ArrayMesh = RoundedBox.build(size, 0.07, 3)
		var bounds: AABB = mesh.get_aabb()
		check(bounds.is_equal_approx(AABB(-size * 0.5, size)), "%s became %s" % [size, bounds])


func test_the_colour_blind_tell_seeker_hider_and_floor_apart() -> void:
	for eyes in COLOR_BLIND:
		var seen: Array[Vector3] = []
		for color: Color in [TagStyle.SEEKER, TagStyle.HIDER, ShowStyle.FLOOR]:
			var linear: Color = color.srgb_to_linear()
			var felt: Vector3 = COLOR_BLIND[eyes] * Vector3(linear.r, linear.g, linear.b)
			felt = felt.clamp(Vector3.ZERO, Vector3.ONE)
			var back: Color = Color(felt.x, felt.y, felt.z).linear_to_srgb()
			seen.append(Vector3(back.r, back.g, back.b))
		for pair: Vector2i in [Vector2i(0, 1), Vector2i(0, 2), Vector2i(1, 2)]:
			var apart: float = seen[pair.x].distance_to(seen[pair.y])
			print("%s, pair %s: %.2f apart" % [eyes, pair, apart])
			check(apart > 0.35, "for a %s colours %s are only %f apart" % [eyes, pair, apart])


func test_seeker_and_hider_differ_in_lightness_too() -> void:
	var light: float = TagStyle.SEEKER.srgb_to_linear().get_luminance()
	var dark: float = TagStyle.HIDER.srgb_to_linear().get_luminance()
	var contrast: float = (light + 0.05) / (dark + 0.05)
	print("contrast %.2f" % contrast)
	check(contrast > 2.0, "contrast is only %f" % contrast)


func test_near_and_far_agents_look_the_same_size() -> void:
	for screen: Vector2i in [Vector2i(1280, 720), Vector2i(720, 1280), Vector2i(1920, 800)]:
		for size_m: Vector2 in [Vector2(20, 20), Vector2(30, 12), Vector2(12, 30)]:
			await _check_overview(screen, size_m)


func _check_overview(screen: Vector2i, size_m: Vector2) -> void:
	var view := SubViewport.new()
	view.size = screen
	add_child(view)
	var rig := CameraRig.new()
	view.add_child(rig)
	rig.camera.make_current()
	rig.frame_arena(size_m, 2.5)
	await get_tree().process_frame
	rig.watch([], Vector3.ZERO, 0.0, 0.1)
	var frame := Rect2(Vector2.ZERO, screen)
	var least: float = INF
	var most: float = 0.0
	for x: float in [-1.0, -0.5, 0.0, 0.5, 1.0]:
		for z: float in [-1.0, -0.5, 0.0, 0.5, 1.0]:
			for height: float in [0.0, 1.0, 3.0]:
				var reach: Vector2 = size_m * 0.5 - Vector2.ONE * 0.45
				var at := Vector3(x * reach.x, height + 0.45, z * reach.y)
				var seen: Rect2 = _seen(rig.camera, at, 0.9)
				check(frame.encloses(seen), "%s is seen at %s of %s" % [at, seen, screen])
				least = minf(least, sqrt(seen.get_area()))
				most = maxf(most, sqrt(seen.get_area()))
	print("overview %s of %s m: %.1f to %.1f px" % [screen, size_m, least, most])
	check(most / least <= 1.15, "%s of %s: sizes %f to %f px" % [screen, size_m, least, most])
	view.queue_free()


func _seen(camera: Camera3D, middle: Vector3, size_m: float) -> Rect2:
	var rect := Rect2(camera.unproject_position(middle), Vector2.ZERO)
	for corner in 8:
		var box := AABB(middle - Vector3.ONE * size_m * 0.5, Vector3.ONE * size_m)
		rect = rect.expand(camera.unproject_position(box.get_endpoint(corner)))
	return rect


## All vertices below [param look], relative to it.
func _points(look: Node3D) -> PackedVector3Array:
	var points: PackedVector3Array = []
	for node: MeshInstance3D in look.find_children("*", "MeshInstance3D", true, false):
		var into: Transform3D = look.global_transform.affine_inverse() * node.global_transform
		points.append_array(into * (node.mesh as ArrayMesh).get_faces())
	return points
