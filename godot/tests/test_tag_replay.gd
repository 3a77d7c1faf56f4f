extends TagTest
## Rounds that are shown again: everybody stands where the frame says, at the moment it says so.

const SHOW: PackedScene = preload("res://games/tag/replay/replay_show.tscn")
const ReplayShow: GDScript = preload("res://games/tag/replay/replay_show.gd")
const FRAMES: int = 30
const FPS: float = 30.0

var _path: String = "user://test_replay_%d.json" % OS.get_process_id()


func test_everybody_is_drawn_where_the_frame_says() -> void:
	var show: ReplayShow = await _start(_job({}))
	for frame in FRAMES:
		await get_tree().process_frame
		check_near(show.world.agents[0].position.x, frame * 0.1, 1e-4, "x in frame %d" % frame)
		for agent in show.world.agents:
			var looks: Array[AgentLook] = show.look.get(&"_looks")
			var feet: Vector3 = agent.global_position + Vector3.DOWN * agent.half_m
			var drawn: Vector3 = looks[agent.index].global_position
			check(
				drawn.is_equal_approx(feet), "frame %d: drawn at %s, not %s" % [frame, drawn, feet]
			)
	check(not show.is_over, "the last frame is still on")
	await get_tree().process_frame
	check(show.is_over, "and then it is over")
	check_equal(show.error, "", "error")


func test_clock_score_and_banner_tell_of_the_round() -> void:
	var ending := {"seconds": 0.5, "winner": "seeker", "winner_index": 0, "is_announced": true}
	var show: ReplayShow = await _start(_job({"ending": ending, "wins": {"seeker": 2, "hider": 1}}))
	var tags: Array[Array] = []
	show.world.tagged.connect(
		func(one: TagAgent, other: TagAgent) -> void: tags.append([one, other])
	)
	await get_tree().process_frame
	check_equal(show.hud.shown_time(), TagHud.clock_text(show.world.round_s), "clock")
	check_equal(show.hud.shown_banner(), "", "banner")
	for _frame in FRAMES - 1:
		await get_tree().process_frame
	check_equal(show.hud.shown_banner(), "Seeker wins", "banner")
	check_equal(_scores(show), ["3", "1"], "score")
	check_near(show.world.time_left_s, show.world.round_s - 0.5, 1e-4, "the clock stands still")
	check_equal(tags.size(), 1, "tags")


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
	var show: ReplayShow = await _start(_job({}))
	for agent in show.world.agents:
		agent.position = Vector3(0.2 * agent.index, 0.45, 0.0)
	var tags: NameTags = show.get(&"_tags")
	tags._process(0.0)
	var boxes: Array[Rect2] = []
	for tag: PanelContainer in tags.get(&"_tags"):
		boxes.append(Rect2(tag.position, tag.size * tags.factor))
	check_equal(boxes.size(), 2, "tags")
	check(not boxes[0].grow(-0.5).intersects(boxes[1].grow(-0.5)), "apart: %s" % str(boxes))


func test_bad_jobs_are_refused_in_a_line() -> void:
	for job: Variant in [[], {}, {"frames_per_second": 30}]:
		_write(job, [])
		check(not ShowJob.load_file(_path).error.is_empty(), "%s was taken" % str(job))
	var job: Dictionary = _job({})
	_write(job, [1.0, 2.0])
	check(not ShowJob.load_file(_path).error.is_empty(), "too few numbers were taken")
	job["shots"][0].erase("arena")
	_write(job, [])
	check("arena" in ShowJob.load_file(_path).error, "a shot without an arena was taken")
	check(not ShowJob.load_file("user://nowhere.json").error.is_empty(), "a job that is not there")


## A job of one shot of a second, in which the seeker goes along x and catches the hider.
func _job(changes: Dictionary, speed: float = 1.0) -> Dictionary:
	var settings: TagSettings = TagSettings.load_defaults()
	var shot := {
		"settings": settings.to_dict(),
		"arena": plain_fields(),
		"frames": FRAMES,
		"camera": "side",
		"zoom": 1.5,
		"hero": 0,
		"is_tagged_by_name": true,
		"hud": 1.0,
		"wins": {},
		"ending": {"seconds": 0.0, "winner": "", "winner_index": -1, "is_announced": false},
	}
	shot.merge(changes, true)
	var numbers: Array[float] = []
	for frame in FRAMES:
		numbers.append(frame / FPS * speed)
		var is_in: float = 1.0 if frame < FRAMES / 2 else 0.0
		numbers.append_array([frame * 0.1, 0.45, 0, 3, 0, 0, 0, 1, 1, 1, 0, 0, 0])
		numbers.append_array([5, 0.45, 5, 0, 0, 0, 0, 1, is_in, 0, 0, 0, 0])
	var job := {"frames_per_second": FPS, "size": [64, 36], "is_quick": true, "shots": [shot]}
	_write(job, numbers)
	return job


func _write(job: Variant, numbers: Array[float]) -> void:
	FileAccess.open(_path, FileAccess.WRITE).store_string(JSON.stringify(job))
	var bytes: PackedByteArray = PackedFloat32Array(numbers).to_byte_array()
	FileAccess.open(_path.get_basename() + ".bin", FileAccess.WRITE).store_buffer(bytes)


## Shows a job up to the frame before the first; what a frame shows is there when the next begins.
func _start(_written: Dictionary) -> ReplayShow:
	var job: ShowJob = ShowJob.load_file(_path)
	check_equal(job.error, "", "job")
	var show: ReplayShow = SHOW.instantiate()
	show.job = job
	add_child(show)
	for _frame in ShowJob.WARM_UP + 1:
		await get_tree().process_frame
	return show


func _scores(show: ReplayShow) -> Array[String]:
	var found: Array[String] = []
	for plate: HudPlate in show.hud.get(&"_plates"):
		found.append(plate.shown_score())
	return found
