extends EngineTest
## The hunt for a named failure: targets, the planted bug, reports and their replay.

const WORLD := "res://games/bug_reproduction/bug_world.tscn"
const FOLDER := "user://bug_reproduction_test"
## Spin, run and teleport again and again.
const SPINNING: PackedFloat32Array = [1.0, 0.3, 1.0, 1.0]
const WALKING: PackedFloat32Array = [1.0, 0.3, 0.0, 1.0]

var _report: BugReport
var _path: String = ""


func test_the_planted_bug_is_found_saved_and_replayed() -> void:
	var hunter: BugHunter = _hunter()
	await _hunt(hunter, SPINNING)
	check(_report != null, "reproduced")
	if _report == null:
		return
	check(_report.symptom.contains("chunk generation race condition"), "symptom")
	check(hunter.current.has_won, "the episode is won")
	check_near(hunter.current.reward[0], 100.0, 1e-3, "reward")
	check(hunter.current.reward[1] >= 1.0, "shaping")
	check(FileAccess.file_exists(_path), "a file")
	var first: BugReport = _report
	hunter.get_parent().get_parent().free()
	var again: BugHunter = _hunter()
	again.replay = _path
	await _hunt(again, [0.0, 0.0, 0.0, 0.0])
	check_equal(_report.symptom, first.symptom, "symptom of the replay")
	check_equal(_report.ticks, first.ticks, "tick of the replay")
	for state: Dictionary in [first.state, _report.state]:
		((state["terrain"] as Dictionary)["numbers"] as Dictionary).erase("chunk_generation_avg_ms")
		((state["terrain"] as Dictionary)["numbers"] as Dictionary).erase("chunk_generation_max_ms")
	check_equal(_report.state, first.state, "state of the replay, times aside")


func test_without_spinning_nothing_happens() -> void:
	await _hunt(_hunter(), WALKING)
	check(_report == null, "no bug while it only walks")


func test_the_switch_removes_the_bug() -> void:
	var hunter: BugHunter = _hunter()
	hunter.race_condition = false
	await _hunt(hunter, SPINNING)
	check(_report == null, "no bug in a terrain without it")
	check_equal(hunter.terrain.races, 0, "races")


func test_a_condition_is_a_target() -> void:
	var hunter: BugHunter = _hunter()
	hunter.target_bug = "active_chunk_count >= 29"
	await _hunt(hunter, WALKING)
	check(_report != null and _report.symptom == "active_chunk_count is 29", "symptom")


func test_bad_targets_and_files() -> void:
	check(not BugTarget.new("  ").trouble.is_empty(), "an empty target")
	var terrain := VoxelTerrain.new()
	terrain.view_radius = 1
	add_child(terrain)
	var vanished := BugTarget.new("no_such_number > 3")
	check_equal(vanished.symptom(terrain), "", "a monitor that is not there")
	check(vanished.trouble.contains("no_such_number"), "it is named")
	DirAccess.make_dir_recursive_absolute(FOLDER)
	for text: String in [
		"{", "[]", '{"format": 2}', '{"format": 1, "start": {"position": [1, 2]}, "steps": []}'
	]:
		var path: String = FOLDER.path_join("wrong.json")
		FileAccess.open(path, FileAccess.WRITE).store_string(text)
		check(BugReport.read(path) == null, text)
		DirAccess.remove_absolute(path)
	check(BugReport.read(FOLDER.path_join("missing.json")) == null, "a missing file")


func _hunter() -> BugHunter:
	var world: Node = (load(WORLD) as PackedScene).instantiate()
	add_child(world)
	Engine.physics_ticks_per_second = VoxelTerrain.TICKS_PER_S
	var hunter: BugHunter = world.get_node("Rig/BugHunter")
	hunter.report_folder = FOLDER
	hunter.reproduced.connect(_keep)
	return hunter


func _keep(report: BugReport, path: String) -> void:
	_report = report
	_path = path if not path.is_empty() else _path


## Plays up to ten seconds as [DojoSync] does: an action, then eight ticks.
func _hunt(hunter: BugHunter, action: PackedFloat32Array) -> void:
	_report = null
	hunter.begin_round()
	for _decision in 112:
		hunter.act(action)
		await ticks(8)
		if _report != null:
			return


func _exit_tree() -> void:
	Engine.physics_ticks_per_second = 60
	BugTarget.stop_listening()
	if not _path.is_empty():
		DirAccess.remove_absolute(_path)
	DirAccess.remove_absolute(FOLDER)
