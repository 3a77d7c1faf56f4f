extends EngineTest
## What people see of a training, and the recorder of what they see.
##
## needs: rendering

const STATUS := {
	"phase": "training",
	"title": "first",
	"learns": ["seeker", "hider"],
	"episode": 1234567,
	"seconds": 83.5,
	"progress": 0.25,
	"steps_per_s": 210000.0,
	"win_rates": {"seeker": 0.25, "hider": 0.75},
	"curve":
	{
		"seconds": [1.0, 40.0, 83.5],
		"win_rates": {"seeker": [0.0, 0.5, 0.25], "hider": [1.0, 0.5, 0.75]}
	},
}
const EPOCHS := {
	"phase": "submitting",
	"epoch": 64,
	"rewards": {"seeker": 3.0, "hider": -1.5},
	"curve":
	{
		"seconds": [1.0, 40.0, 83.5],
		"rewards": {"seeker": [0.0, 2.0, 3.0], "hider": [0.0, -1.0, -1.5]}
	},
}
const FOLDER := "user://test_frames"


func test_a_status_is_read() -> void:
	var status: DojoTrainingStatus = DojoTrainingStatus.read(STATUS)
	check_equal(status.phase, "training", "phase")
	check_equal(status.learns, PackedStringArray(["seeker", "hider"]), "who learns")
	check_equal(status.episode, 1234567, "episode")
	check_near(status.win_rates["hider"], 0.75, 1e-6, "win rate")
	check_equal(status.curves["seeker"].size(), 3, "points of a curve")


func test_epochs_and_rewards_are_read_and_drawn_where_nobody_wins() -> void:
	var message: Dictionary = STATUS.duplicate(true)
	message.merge(EPOCHS, true)
	message.erase("win_rates")
	var status: DojoTrainingStatus = DojoTrainingStatus.read(message)
	check_equal([status.phase, status.epoch], ["submitting", 64], "phase and epoch")
	check_near(status.rewards["hider"], -1.5, 1e-6, "reward")
	check_equal(status.reward_curves["seeker"], PackedFloat32Array([0, 2, 3]), "curve")
	var sync := DojoSync.new()
	sync.mode = DojoSync.Mode.HUMAN
	add_child(sync)
	var panel := DojoTrainingPanel.new()
	panel.sync = sync
	panel.colors = {"seeker": Color.RED, "hider": Color.GREEN}
	add_child(panel)
	sync.training_reported.emit(status)
	var image: Image = await _picture()
	check(_count(image, Color.RED) > 200, "the seeker's curve")
	check(_count(image, Color.GREEN) > 200, "the hider's curve")


func test_nonsense_in_a_status_does_no_harm() -> void:
	var whole: Dictionary = STATUS.merged(EPOCHS)
	for key: String in whole:
		for nonsense: Variant in [null, true, -7, 1e300, "x".repeat(9999), [[]], {"seeker": {}}]:
			var message: Dictionary = whole.duplicate(true)
			message[key] = nonsense
			var status: DojoTrainingStatus = DojoTrainingStatus.read(message)
			check(status.phase.length() <= 32 and status.title.length() <= 64, "%s: text" % key)
			check(status.episode >= 0 and status.progress <= 1.0, "%s: numbers" % key)
			check(status.epoch >= 0, "%s: epoch" % key)
			for role in status.curves:
				check_equal(status.curves[role].size(), status.curve_s.size(), "%s: curve" % key)


func test_the_panel_says_how_to_start_a_server_and_draws_what_one_reports() -> void:
	var sync := DojoSync.new()
	sync.mode = DojoSync.Mode.HUMAN
	add_child(sync)
	var panel := DojoTrainingPanel.new()
	panel.sync = sync
	panel.colors = {"seeker": Color.RED, "hider": Color.GREEN}
	add_child(panel)
	sync.unanswered.emit()
	check(panel.shown_line().ends_with("python3 dojo.py serve --train"), panel.shown_line())
	var before: Image = await _picture()
	check_equal(_count(before, Color.RED), 0, "no bars without a server")
	sync.training_reported.emit(DojoTrainingStatus.read(STATUS))
	var after: Image = await _picture()
	check_equal(panel.shown_line(), "", "the line gives way")
	var seeker: int = _count(after, Color.RED)
	var hider: int = _count(after, Color.GREEN)
	check(seeker > 200, "the seeker's bar and curve: %d" % seeker)
	check(hider > seeker + 300, "the hider's are longer: %d" % hider)
	sync.disconnected.emit("it was stopped")
	check(panel.shown_line().begins_with("The server has left: it was stopped."), "it has left")


func test_the_recorder_saves_numbered_pictures() -> void:
	DirAccess.make_dir_recursive_absolute(FOLDER)
	FileAccess.open(FOLDER.path_join("frame_00099.png"), FileAccess.WRITE).close()
	FileAccess.open(FOLDER.path_join("mine.png"), FileAccess.WRITE).close()
	var square := ColorRect.new()
	square.size = Vector2(40, 40)
	square.color = Color.MAGENTA
	add_child(square)
	var recorder := DojoRecorder.new()
	recorder.folder = FOLDER
	recorder.fps = 20
	recorder.max_frames = 4
	add_child(recorder)
	var begun: int = Engine.get_process_frames()
	var saved: int = await recorder.finished
	check_equal(saved, 4, "pictures")
	check(Engine.get_process_frames() - begun >= 9, "every third frame of 60 a second")
	var files: PackedStringArray = DirAccess.get_files_at(FOLDER)
	var expected: PackedStringArray = []
	for number in 4:
		expected.append("frame_%05d.png" % number)
	expected.append("mine.png")
	check_equal(files, expected, "files, without those of an earlier recording")
	var image: Image = Image.load_from_file(FOLDER.path_join("frame_00003.png"))
	check_equal(image.get_size(), get_viewport().get_texture().get_size() as Vector2i, "size")
	check_equal(image.get_pixel(20, 20), Color.MAGENTA, "what is drawn")
	for file in files:
		DirAccess.remove_absolute(FOLDER.path_join(file))
	DirAccess.remove_absolute(FOLDER)


func test_a_recorder_that_is_off_saves_nothing() -> void:
	var recorder := DojoRecorder.new()
	recorder.folder = FOLDER
	recorder.enabled = false
	add_child(recorder)
	await ticks(5)
	check_equal(recorder.count, 0, "pictures")
	check(not DirAccess.dir_exists_absolute(FOLDER), "no folder")


func _picture() -> Image:
	for _frame in 3:
		await RenderingServer.frame_post_draw
	return get_viewport().get_texture().get_image()


func _count(image: Image, color: Color) -> int:
	var found: int = 0
	for y in 360:
		for x in mini(image.get_width(), 340):
			var seen: Color = image.get_pixel(x, y)
			var off: float = absf(seen.r - color.r) + absf(seen.g - color.g)
			if off + absf(seen.b - color.b) < 0.1:
				found += 1
	return found
