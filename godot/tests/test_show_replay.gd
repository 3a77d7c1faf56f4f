extends EngineTest
## Recorded rounds are drawn as the job says: all agents where the frame puts them.

const SCENE := "res://show/replay_show.tscn"
const SHOW: PackedScene = preload(SCENE)
const BODY_M: float = 0.9
const FRAMES: int = 30
const FPS: float = 30.0

var _path: String = "user://test_replay_%d.json" % OS.get_process_id()


func test_agents_are_drawn_where_the_frame_says() -> void:
	var show: ArenaShow = await _start(_job({}))
	for frame in FRAMES:
		await get_tree().process_frame
		check_near(show.look.bodies[0].middle.x, frame * 0.1, 1e-4, "x in frame %d" % frame)
		for body in show.look.bodies:
			var looks: Array[AgentLook] = show.look.get(&"_looks")
			var feet: Vector3 = body.middle + Vector3.DOWN * BODY_M * 0.5
			var drawn: Vector3 = looks[body.index].global_position
			check(
				drawn.is_equal_approx(feet), "frame %d: drawn at %s, not %s" % [frame, drawn, feet]
			)
	check(not show.is_over, "the last frame is still on")
	await get_tree().process_frame
	check(show.is_over, "and then it is over")


func test_clock_score_and_banner_follow_the_round() -> void:
	var show: ArenaShow = await _start(_job({"end_s": 0.5, "end_title": "Red wins"}))
	await get_tree().process_frame
	check_equal(show.hud.shown_time(), ShowHud.clock_text(10.0), "clock")
	check_equal(show.hud.shown_banner(), "", "banner")
	check_equal(_scores(show), ["2", "0.0"], "score")
	for _frame in FRAMES - 1:
		await get_tree().process_frame
	check_equal(show.hud.shown_banner(), "Red wins", "banner")
	check_equal(_scores(show), ["3", "2.9"], "score")
	check_equal(show.hud.shown_time(), ShowHud.clock_text(9.5), "the clock stands still")
	var wave: Vector4 = show.look.get(&"_wave")
	check(wave.w > 0.0, "a wave runs out from the catch")


func test_a_course_of_boxes_has_no_outer_walls_and_its_marks_are_passed() -> void:
	var show: ArenaShow = await _start(_job({"layout": _course()}))
	var arena: ArenaLook = show.look.get(&"_arena")
	check((arena.get(&"_walls") as Array).is_empty(), "no outer walls")
	check_near(show.look.rig.position.z, -4.0, 1e-4, "the camera aims at the middle of the course")
	var marks: Array[MarkLook] = show.look.get(&"_marks")
	check_equal(marks.size(), 2, "marks")
	for _frame in FRAMES:
		await get_tree().process_frame
	check(marks[0].is_passed and not marks[1].is_passed, "only the mark on the way is passed")


func test_time_runs_as_fast_as_the_round() -> void:
	await _start(_job({}, 0.25))
	check_near(Engine.time_scale, 0.0, 1e-6, "while it warms up")
	for _frame in 3:
		await get_tree().process_frame
	check_near(Engine.time_scale, 0.25, 1e-4, "in slow motion")
	Engine.time_scale = 1.0


func test_time_does_not_leap_where_a_part_is_left_out() -> void:
	await _start(_job({}, 60.0))
	for _frame in 3:
		await get_tree().process_frame
	check_near(Engine.time_scale, ReplayShow.FASTEST, 1e-4, "of what moves by itself")
	Engine.time_scale = 1.0


func test_names_do_not_lie_over_each_other() -> void:
	var show: ArenaShow = await _start(_job({}))
	for body in show.look.bodies:
		body.middle = Vector3(0.2 * body.index, 0.45, 0.0)
	var tags: NameTags = show.get(&"_tags")
	tags._process(0.0)
	var boxes: Array[Rect2] = []
	for tag: PanelContainer in tags.get(&"_tags"):
		boxes.append(Rect2(tag.position, tag.size * tags.factor))
	check_equal(boxes.size(), 2, "tags")
	check(not boxes[0].grow(-0.5).intersects(boxes[1].grow(-0.5)), "apart: %s" % str(boxes))


func test_the_planned_camera_goes_where_the_frame_says() -> void:
	var show: ArenaShow = await _start(_job({"camera": "tracking"}))
	var camera: Camera3D = show.look.rig.camera
	for frame in FRAMES:
		await get_tree().process_frame
		var aim := Vector3(frame * 0.1, 0.5, -1.0)
		var screen: Vector2 = show.get_viewport().get_visible_rect().size
		var seen: Vector2 = camera.unproject_position(aim)
		check(seen.distance_to(screen * 0.5) < 0.5, "frame %d: the aim is at %s" % [frame, seen])
		check_near(camera.global_rotation.y, 0.8 + frame * 0.01, 1e-4, "yaw in frame %d" % frame)
		var edge: Vector2 = camera.unproject_position(aim + camera.global_basis.y * 4.0)
		check(absf(edge.y) < 0.5, "frame %d: four metres above it is at %s" % [frame, edge])


func test_ribbons_follow_those_who_run() -> void:
	var show: ArenaShow = await _start(_job({}))
	var trails: Trails = show.look.get(&"_trails")
	for _frame in 10:
		await get_tree().process_frame
	check_equal((trails.mesh as ImmediateMesh).get_surface_count(), 1, "only one of them runs")
	var drawn: AABB = trails.mesh.get_aabb()
	check(drawn.size.x > 0.5 and drawn.end.x < 1.5, "along its way: %s" % drawn)
	show.look.cut()
	check_equal((trails.mesh as ImmediateMesh).get_surface_count(), 0, "after a cut")


func test_bad_jobs_are_refused_in_a_line() -> void:
	for job: Variant in [[], {}, {"frames_per_second": 30}]:
		_write(job, [])
		check(not ShowJob.load_file(_path).error.is_empty(), "%s was taken" % str(job))
	var job: Dictionary = _job({})
	_write(job, [1.0, 2.0])
	check(not ShowJob.load_file(_path).error.is_empty(), "too few numbers were taken")
	job["shots"][0].erase("layout")
	_write(job, [])
	check("layout" in ShowJob.load_file(_path).error, "a shot without a layout was taken")
	check(not ShowJob.load_file("user://nowhere.json").error.is_empty(), "a job that is not there")


## A job of one shot of a second, in which the first agent runs along x and catches the other.
func _job(changes: Dictionary, speed: float = 1.0) -> Dictionary:
	var parties: Array[Dictionary] = [
		{"title": "Red", "colour": "#ff0000", "before": "2", "after": "3", "agent": -1},
		{"title": "Blue", "colour": "#0000ff", "before": "", "after": "", "agent": 1},
	]
	var shot := {
		"layout": _flat(),
		"teams": [{"name": "red", "colour": "#ff0000"}, {"name": "blue", "colour": "#0000ff"}],
		"agents": ["Red", "Blue"],
		"frames": FRAMES,
		"camera": "side",
		"zoom": 1.5,
		"hero": 0,
		"is_tagged_by_name": true,
		"hud": 1.0,
		"round_s": 10.0,
		"parties": parties,
		"end_s": -1.0,
		"end_title": "",
		"end_text": "after 0.5 s",
		"end_colour": "#ff0000",
	}
	shot.merge(changes, true)
	var numbers: Array[float] = []
	for frame in FRAMES:
		numbers.append(frame / FPS * speed)
		numbers.append_array([frame * 0.1, 0.5, -1.0, 0.8 + frame * 0.01, 4.0])
		var is_in: float = 1.0 if frame < FRAMES / 2 else 0.0
		numbers.append_array([frame * 0.1, 0.45, 0, 3, 0, 0, 0, 1, 1, 0, 0])
		numbers.append_array([5, 0.45, 5, 0, 0, 0, 0, 1, is_in, 1, frame * 0.1])
	var job := {
		"frames_per_second": FPS,
		"size": [64, 36],
		"is_quick": true,
		"scene": SCENE,
		"shots": [shot]
	}
	_write(job, numbers)
	return job


func _flat() -> Dictionary:
	return {
		"size_m": [20, 20],
		"centre_m": [0, 0],
		"has_floor": true,
		"wall_height_m": 2.5,
		"boxes": [],
		"marks": [],
		"body_m": BODY_M,
	}


## A floor of boxes whose middle is beside the origin, and two marks.
func _course() -> Dictionary:
	var course: Dictionary = _flat()
	course.merge({"size_m": [8, 16], "centre_m": [0, -4], "has_floor": false}, true)
	course["wall_height_m"] = 0.0
	course["boxes"] = [
		{"position_m": [0, -0.5, -4], "size_m": [8, 1, 16], "kind": "floor"},
		{"position_m": [2, 0.5, -4], "size_m": [1, 1, 1], "kind": "block"},
	]
	course["marks"] = [
		{"position_m": [1, 0, 0], "radius_m": 0.5, "kind": "mark"},
		{"position_m": [0, 0, -10], "radius_m": 0.5, "kind": "goal"},
	]
	return course


func _write(job: Variant, numbers: Array[float]) -> void:
	FileAccess.open(_path, FileAccess.WRITE).store_string(JSON.stringify(job))
	var bytes: PackedByteArray = PackedFloat32Array(numbers).to_byte_array()
	FileAccess.open(_path.get_basename() + ".bin", FileAccess.WRITE).store_buffer(bytes)


## Shows a job up to the frame before the first; what a frame shows is there when the next begins.
func _start(_written: Dictionary) -> ArenaShow:
	var job: ShowJob = ShowJob.load_file(_path)
	check_equal(job.error, "", "job")
	var show: ArenaShow = SHOW.instantiate()
	show.job = job
	add_child(show)
	for _frame in ShowJob.WARM_UP + 1:
		await get_tree().process_frame
	return show


func _scores(show: ArenaShow) -> Array[String]:
	var found: Array[String] = []
	for plate: HudPlate in show.hud.get(&"_plates"):
		found.append(plate.shown_score())
	return found
