extends EngineTest
## Recorded walks are drawn as the job says: the rig where the walker was, and its way on the map.

const SCENE := "res://games/navigation/show/navigation_show.tscn"
const FRAMES: int = 30
const FPS: float = 30.0
const START := Vector3(0.0, 0.25, 12.0)
const GOAL_Z: float = 10.6

var _path: String = "user://test_walk_%d.json" % OS.get_process_id()


func test_the_headset_is_where_the_walker_was() -> void:
	var show: NavigationShow = await _start({})
	for frame in FRAMES:
		await get_tree().process_frame
		var feet := Vector3(0.0, 0.0, _z(frame / FPS))
		check_near(show.rig.position.distance_to(feet), 0.0, 1e-4, "origin in frame %d" % frame)
		var ahead: Vector3 = -show.rig.camera.global_basis.z
		check_near(ahead.z, -1.0, 1e-3, "it looks where it walks")
	check(show.rig.camera.current, "one sees with its eyes")
	check(show.rig.left.visible, "and its hands")


func test_the_map_and_the_meter_follow_the_walk() -> void:
	var show: NavigationShow = await _start({"end_s": 0.9, "end_title": "At the goal"})
	check_equal(show.hud.frame.shown_banner(), "", "no banner yet")
	for _frame in FRAMES:
		await get_tree().process_frame
	var world: NavigationWorld = show.get(&"_world")
	check_equal(world.rewards.collisions, 2, "bumps")
	check_near(world.rewards.comfort, 0.5, 1e-5, "comfort")
	check_equal(world.winner, &"walker", "all marks are reached")
	var map: CourseMap = show.hud.map
	check_equal((map.get(&"_bumps") as PackedVector2Array).size(), 1, "crosses on the map")
	var way: PackedVector2Array = map.get(&"_places")
	check_near(way[-1].y, _z(14 / 15.0), 1e-4, "the end of the way")
	var colours: PackedColorArray = map.get(&"_colours")
	check_equal(colours[0], ComfortMeter.COMFORTABLE, "at first")
	check_equal(colours[-1], ComfortMeter.WARNING, "at the end")
	check_equal(show.hud.frame.shown_banner(), "At the goal", "banner")
	check_equal(show.hud.frame.shown_time(), ShowHud.clock_text(59.1), "clock")


func test_the_view_narrows_in_turns_and_goes_dark_in_a_teleport() -> void:
	var show: NavigationShow = await _start({}, 3.0)
	var widest: float = INF
	var narrowest: float = 0.0
	for _frame in FRAMES:
		await get_tree().process_frame
		widest = minf(widest, show.rig.vignette)
		narrowest = maxf(narrowest, show.rig.vignette)
	check(widest < 0.1, "open at first: %f" % widest)
	check(narrowest > 1.5, "dark while it jumps: %f" % narrowest)
	check(show.rig.vignette > 0.3, "narrow while it turns: %f" % show.rig.vignette)


func test_other_cameras_show_the_walker_instead_of_its_hands() -> void:
	for camera: String in ["follow", "overview"]:
		var show: NavigationShow = await _start({"camera": camera})
		await get_tree().process_frame
		check(not show.rig.camera.current and not show.rig.left.visible, camera)
		var person: WalkerLook = show.look.get(&"_person")
		check(person.visible, "the walker is seen")
		show.queue_free()
		await get_tree().process_frame


func test_nothing_lies_over_anything_else() -> void:
	for size: Vector2i in [Vector2i(1280, 720), Vector2i(720, 1280), Vector2i(480, 270)]:
		var view := SubViewport.new()
		view.size = size
		add_child(view)
		var show: NavigationShow = await _start(
			{"end_s": 0.1, "end_title": "At the goal"}, 0.0, view
		)
		for _frame in 10:
			await get_tree().process_frame
		var scale: float = show.hud.frame.factor
		var map := Rect2(show.hud.map.position * scale, show.hud.map.size * scale)
		var meter: Control = show.hud.get(&"_meter")
		var below := Rect2(meter.position * scale, meter.size * scale)
		check(not map.intersects(below), "%s: map and meter" % size)
		check(not map.intersects(show.hud.frame.banner_rect()), "%s: map and banner" % size)
		check(Rect2(Vector2.ZERO, size).encloses(map.merge(below)), "%s: all in the picture" % size)
		view.queue_free()
		await get_tree().process_frame


## How far it is after so many seconds; from half a second on, so much farther by a teleport.
func _z(second: float, jump_m: float = 0.0) -> float:
	return START.z - 1.5 * second - (jump_m if second >= 0.5 else 0.0)


## Starts to show a walk of a second, which becomes uncomfortable and bumps twice in its middle.
func _start(changes: Dictionary, jump_m: float = 0.0, into: Node = self) -> NavigationShow:
	Engine.time_scale = 1.0
	var course: String = FileAccess.get_file_as_string(CourseData.FOLDER + "/course.json")
	var shot := {
		"layout": _layout(),
		"teams": [{"name": "walker", "colour": "#00ff00"}],
		"agents": ["Walker"],
		"frames": FRAMES,
		"camera": "first",
		"zoom": 1.0,
		"hero": 0,
		"is_tagged_by_name": false,
		"hud": 1.0,
		"round_s": 60.0,
		"parties": [],
		"end_s": -1.0,
		"end_title": "",
		"end_text": "after 0.9 s",
		"end_colour": "#ffffff",
		"settings": NavigationSettings.load_defaults().to_dict(),
		"arena": JSON.parse_string(course),
		"tracks": _tracks(jump_m),
	}
	shot.merge(changes, true)
	var numbers := PackedFloat32Array()
	for frame in FRAMES:
		var second: float = frame / FPS
		numbers.append_array([second, 0, 0, 0, 0, 0])
		numbers.append_array([0, START.y, _z(second, jump_m), 0, 0, -1.5, PI, 1, 1, 0, 0])
	var fields := {
		"frames_per_second": FPS,
		"size": [64, 36],
		"is_quick": true,
		"scene": SCENE,
		"shots": [shot],
	}
	FileAccess.open(_path, FileAccess.WRITE).store_string(JSON.stringify(fields))
	var bytes: PackedByteArray = numbers.to_byte_array()
	FileAccess.open(_path.get_basename() + ".bin", FileAccess.WRITE).store_buffer(bytes)
	var job: ShowJob = ShowJob.load_file(_path)
	check_equal(job.error, "", "job")
	var packed: PackedScene = load(SCENE)
	var show: NavigationShow = packed.instantiate()
	show.job = job
	into.add_child(show)
	for _frame in ShowJob.WARM_UP + 1:
		await get_tree().process_frame
	return show


func _layout() -> Dictionary:
	return {
		"size_m": [9, 31],
		"centre_m": [0, -1],
		"has_floor": false,
		"wall_height_m": 0.0,
		"boxes": [],
		"marks": [{"position_m": [0, 0, GOAL_Z], "radius_m": 0.75, "kind": "goal"}],
		"body_m": 0.5,
	}


func _tracks(jump_m: float) -> Dictionary:
	var tracks := {
		"seconds": [],
		"x": [],
		"y": [],
		"z": [],
		"comfort": [],
		"turn": [],
		"collisions": [],
		"marks": []
	}
	for number in 16:
		var second: float = number / 15.0
		var is_late: float = 1.0 if number > 7 else 0.0
		var values: Array[float] = [
			second,
			0.0,
			START.y,
			_z(second, jump_m),
			1.0 - 0.5 * is_late,
			is_late,
			2.0 * is_late,
			is_late
		]
		for place in tracks.size():
			(tracks.values()[place] as Array).append(values[place])
	return tracks
