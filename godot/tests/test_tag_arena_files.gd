extends TagTest
## Bad arena files are refused with file, key and reason, and the game goes on in its last arena.

const FILE := "user://bad_arena.json"


func test_the_plain_arena_is_good() -> void:
	check_equal(ArenaData.from_dict(plain_fields([[0, 1, 0, 1, 2, 1]])).error, "", "plain arena")


func test_the_hand_made_arenas_are_good_and_small() -> void:
	for arena_name in ArenaData.hand_made():
		var arena: ArenaData = named(arena_name)
		check_equal(arena.name, arena_name, "name in the file")
		check(arena.boxes.size() <= 16, "boxes in " + arena_name)


func test_an_unknown_name_is_answered_with_the_known_ones() -> void:
	var error: String = ArenaData.load_named("../secret").error
	check(error.contains("maze mixed open pillars platforms"), error)


func test_every_file_in_the_folder_is_a_hand_made_arena() -> void:
	var names: Array = Array(ArenaData.hand_made())
	check_equal(names, ["maze", "mixed", "open", "pillars", "platforms"], "names")
	check(names.has(ArenaData.DEFAULT), "the default arena is not there")


func test_missing_keys() -> void:
	for key: String in ["version", "name", "title", "size_m", "boxes", "spawns"]:
		var fields: Dictionary = plain_fields()
		fields.erase(key)
		_refused(fields, key, "missing")


func test_missing_keys_of_boxes_and_spawns() -> void:
	for key: String in ["position_m", "size_m", "kind"]:
		var fields: Dictionary = plain_fields([[0, 1, 0, 1, 2, 1]])
		fields["boxes"][0].erase(key)
		_refused(fields, "boxes[0].%s" % key, "missing")
	for key: String in ["position_m", "size_m", "roles"]:
		var fields: Dictionary = plain_fields()
		fields["spawns"][1].erase(key)
		_refused(fields, "spawns[1].%s" % key, "missing")


func test_unknown_keys() -> void:
	var fields: Dictionary = plain_fields([[0, 1, 0, 1, 2, 1]])
	fields["colour"] = "red"
	_refused(fields, "colour", "unknown key")
	fields = plain_fields([[0, 1, 0, 1, 2, 1]])
	fields["boxes"][0]["colour"] = "red"
	_refused(fields, "boxes[0].colour", "unknown key")
	fields = plain_fields()
	fields["a\nb\u001b[2J"] = 1
	_refused(fields, "a\\nb?[2J", "unknown key")
	fields = plain_fields()
	fields["spawns"][0]["\n"] = 1
	_refused(fields, "spawns[0].\\n", "unknown key")
	fields = plain_fields()
	fields["x".repeat(5000)] = 1
	_refused(fields, "x".repeat(80) + ": unknown key")
	fields = plain_fields()
	fields[[1, 2]] = 1
	_refused(fields, "[1, 2]", "unknown key")


func test_names_and_titles() -> void:
	for bad: String in ["", "x".repeat(41), "a\nb", "pillars\n", "../etc", "\u001b[2J", "a\u0085"]:
		var fields: Dictionary = plain_fields()
		fields["name"] = bad
		_refused(fields, "name", "1 to 40")
	for bad: String in ["", "x".repeat(41), "a\nb", "Yard\n", "\u001b[2J", "a\u0085", "\u2028"]:
		var fields: Dictionary = plain_fields()
		fields["title"] = bad
		_refused(fields, "title", "1 to 40")
	for good: String in ["Stage 3e100", "Säulenhof 迷宮", 'It\'s 100 % "mine"', "x".repeat(40)]:
		var fields: Dictionary = plain_fields()
		fields["title"] = good
		_write(JSON.stringify(fields))
		check_equal(ArenaData.load_file(FILE).error, "", good)


func test_wrong_types() -> void:
	for key: String in ["version", "name", "title", "size_m", "boxes", "spawns"]:
		for wrong: Variant in [null, true, {}, "", 7.5, [1], [[]]]:
			var fields: Dictionary = plain_fields()
			fields[key] = wrong
			_refused(fields, key)
	for wrong: Variant in [[[1, 2], 20], [[], 20], [20, {}], [20, ["%d", "%s"]]]:
		var fields: Dictionary = plain_fields()
		fields["size_m"] = wrong
		_refused(fields, "size_m", "finite numbers, not")
		fields["size_m"] = [40, 40]
		fields["spawns"][1]["size_m"] = wrong
		_refused(fields, "spawns[1].size_m", "finite numbers, not")
	for wrong: Variant in [null, "x", [1, 2], [1, 2, "3"], [1, [2, 3], 4], [1, 2, null], {}, 3]:
		var fields: Dictionary = plain_fields([[0, 1, 0, 1, 2, 1]])
		fields["boxes"][0]["position_m"] = wrong
		_refused(fields, "boxes[0].position_m")
		fields = plain_fields()
		fields["spawns"][0]["position_m"] = wrong
		_refused(fields, "spawns[0].position_m")


func test_numbers_that_are_none() -> void:
	for wrong: float in [NAN, INF, -INF, 1e300]:
		var fields: Dictionary = plain_fields([[0, 1, 0, 1, 2, 1]])
		fields["boxes"][0]["size_m"][1] = wrong
		_refused(fields, "boxes[0].size_m", "finite")
		fields = plain_fields()
		fields["size_m"][0] = wrong
		_refused(fields, "size_m", "finite")
		fields = plain_fields()
		fields["spawns"][0]["position_m"][2] = wrong
		_refused(fields, "spawns[0].position_m", "finite")


func test_boxes_outside_sunk_flat_or_overlapping() -> void:
	_refused(plain_fields([[19.8, 1, 0, 1, 2, 1]]), "boxes[0].position_m", "outside")
	_refused(plain_fields([[0, 1, -30, 1, 2, 1]]), "boxes[0].position_m", "outside")
	_refused(plain_fields([[0, 0.5, 0, 1, 2, 1]]), "boxes[0].position_m", "sunk")
	_refused(plain_fields([[0, 1, 0, 1, 2, 0]]), "boxes[0].size_m", "edge")
	_refused(plain_fields([[0, 1, 0, -1, 2, 1]]), "boxes[0].size_m", "edge")
	_refused(plain_fields([[0, 30, 0, 1, 2, 1]]), "boxes[0].size_m", "above")
	var two: Array = [[0, 1, 0, 2, 2, 2], [1, 1, 1, 2, 2, 2]]
	_refused(plain_fields(two), "boxes[1].position_m", "overlaps boxes[0]")


func test_too_many_boxes() -> void:
	var boxes: Array = []
	for column in 17:
		boxes.append([column * 2.0 - 16.0, 1, 0, 1, 2, 1])
	_refused(plain_fields(boxes), "boxes", "not 17")


func test_bad_spawns() -> void:
	var inside: Dictionary = plain_fields([[0, 1, 0, 2, 2, 2]])
	inside["spawns"][0]["position_m"] = [1.2, 0, 0]
	_refused(inside, "spawns[0].position_m", "inside boxes[0]")
	var wall: Dictionary = plain_fields()
	wall["spawns"][0]["position_m"] = [19.8, 0, 0]
	_refused(wall, "spawns[0].position_m", "no room")
	var floating: Dictionary = plain_fields()
	floating["spawns"][0]["position_m"] = [0, 3, 0]
	_refused(floating, "spawns[0].position_m", "no ground")
	var overlapping: Dictionary = plain_fields()
	overlapping["spawns"][0] = {"position_m": [0, 0, 0], "size_m": [4, 4], "roles": ["hider"]}
	overlapping["spawns"][1] = {"position_m": [3, 0, 3], "size_m": [4, 4], "roles": ["seeker"]}
	_refused(overlapping, "spawns[1].position_m", "overlaps spawns[0]")
	var same: Dictionary = plain_fields()
	same["spawns"][1] = same["spawns"][0]
	_refused(same, "spawns[1].position_m", "spawns[0]")
	var lonely: Dictionary = plain_fields()
	for spawn: Dictionary in lonely["spawns"]:
		spawn["roles"] = ["hider"]
	_refused(lonely, "spawns", "no area for a seeker")
	var stranger: Dictionary = plain_fields()
	stranger["spawns"][0]["roles"] = ["wizard"]
	_refused(stranger, "spawns[0].roles", "seeker hider")


func test_a_round_must_not_be_over_before_it_begins() -> void:
	var both: Array = ["seeker", "hider"]
	for near: Array in [
		[_area(0.0, 0.0, both)],
		[_area(0.0, 0.9, both)],
		[_area(0.0, 0.0, ["seeker"]), _area(0.2, 0.0, ["hider"])],
		[_area(0.0, 0.0, ["seeker"]), _area(0.9, 0.0, ["hider"])],
		[_area(0.0, 0.0, ["seeker"]), _area(0.2, 0.0, ["hider"]), _area(-0.2, 0.0, ["seeker"])],
	]:
		var fields: Dictionary = plain_fields()
		fields["spawns"] = near
		_refused(fields, "spawns", "away from one for a hider")
	for far: Array in [
		[_area(0.0, 0.95, both)],
		[_area(0.0, 0.0, both), _area(0.95, 0.0, both)],
		[_area(0.0, 0.0, ["seeker"]), _area(0.5, 1.0, ["hider"])],
		[_area(0.0, 0.0, ["seeker"]), _area(0.2, 0.0, ["hider"]), _area(9.0, 0.0, ["hider"])],
	]:
		var fields: Dictionary = plain_fields()
		fields["spawns"] = far
		check_equal(ArenaData.from_dict(fields).error, "", str(far))


func test_touches_that_reach_farther_need_more_room() -> void:
	var fields: Dictionary = plain_fields()
	var both: Array = ["seeker", "hider"]
	fields["spawns"] = [_area(0.0, 0.0, both), _area(1.0, 0.0, both)]
	var arena: ArenaData = ArenaData.from_dict(fields)
	check_equal(arena.error, "", "arena")
	var settings: TagSettings = TagSettings.load_defaults()
	check_equal(settings.apply_override("rules.touch_reach_m=0.09"), "", "override")
	_same_line(arena.complaint_for(settings), "plain: spawns: ")


func test_files_that_are_no_arena() -> void:
	_file_refused("", "file: no valid JSON")
	_file_refused("{", "file: no valid JSON")
	_file_refused("[]", "file: must hold an object")
	_file_refused('{"version": 1}', "name: missing")
	_file_refused('{"version": NaN}', "file: no valid JSON")
	_file_refused('{"version": 1e999}', "file: a number is too large")
	_file_refused("[".repeat(60000), "file: no valid JSON")
	_file_refused(" ".repeat(70000), "file: longer than")
	var file: FileAccess = FileAccess.open(FILE, FileAccess.WRITE)
	file.store_buffer(PackedByteArray([123, 255, 254, 0, 200, 34]))
	file.close()
	_same_line(ArenaData.load_file(FILE).error, "file: is no")
	_file_refused('{"name": "a\\u0000b"}', "file: a text has the character 0")
	_file_refused('{"name": "a\\ud800b"}', "file: no valid JSON")
	_same_line(ArenaData.load_file("user://not_there.json").error, "file:")


func test_bytes_that_are_no_text() -> void:
	var template: PackedByteArray = (
		JSON.stringify(plain_fields()).replace("Plain", "@").to_utf8_buffer()
	)
	var at: int = template.find(64)
	for bad: Array in [
		[0xED, 0xA0, 0x80],
		[0xED, 0xBF, 0xBF],
		[0xE0, 0x80, 0x80],
		[0xE0, 0x9F, 0xBF],
		[0xF0, 0x80, 0x80, 0x80],
		[0xF4, 0x90, 0x80, 0x80],
		[0xF5, 0x80, 0x80, 0x80],
		[0xC0, 0x80],
		[0x80],
		[0xE2, 0x82],
		[0x00],
	]:
		_write_bytes(template.slice(0, at) + PackedByteArray(bad) + template.slice(at + 1))
		_same_line(ArenaData.load_file(FILE).error, "file: is no text")
	for good: Array in [
		[0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xE0, 0xA0, 0x80], [0xF0, 0x90, 0x80, 0x80]
	]:
		_write_bytes(template.slice(0, at) + PackedByteArray(good) + template.slice(at + 1))
		check_equal(ArenaData.load_file(FILE).error, "", str(good))


func test_a_title_may_have_any_letters() -> void:
	var fields: Dictionary = plain_fields()
	fields["title"] = "Säulenhof 迷宮"
	_write(JSON.stringify(fields))
	var arena: ArenaData = ArenaData.load_file(FILE)
	check_equal(arena.error, "", "arena")
	check_equal(arena.title, "Säulenhof 迷宮", "title")


func test_the_last_good_arena_stays() -> void:
	var world: TagWorld = make_world(named("pillars"))
	_write("{}")
	var error: String = world.change_arena(ArenaData.load_file(FILE))
	check(error.begins_with(FILE), error)
	check_equal(world.arena.name, "pillars", "arena after a bad file")
	error = world.configure(world.settings, ArenaData.from_dict({}), 3)
	check(not error.is_empty(), "a bad arena was taken")
	check_equal(world.arena.name, "pillars", "arena after a bad dictionary")
	drive(world, 10, Vector2.RIGHT)
	check(world.tick_number == 10, "the game does not go on")


func test_an_arena_must_fit_the_bodies() -> void:
	var settings: TagSettings = TagSettings.load_defaults()
	settings.apply_override("body.size_m=1.5")
	var world: TagWorld = make_world(named("pillars"))
	var error: String = world.configure(settings, ArenaData.load_named("pillars"), 1)
	check(error.contains("spawns["), "bodies too large for their spawns: '%s'" % error)
	check_equal(world.settings.body.size_m, 0.9, "size after the refusal")


func _refused(fields: Dictionary, key: String, reason: String = "") -> void:
	var error: String = ArenaData.from_dict(fields, "some.json").error
	_same_line(error, "some.json: " + key)
	check(reason.is_empty() or error.contains(reason), "no '%s' in: %s" % [reason, error])


func _file_refused(text: String, reason: String) -> void:
	_write(text)
	_same_line(ArenaData.load_file(FILE).error, FILE + ": " + reason)


func _same_line(error: String, part: String) -> void:
	check(error.contains(part), "'%s' instead of '%s'" % [error.left(200), part])
	check(not error.is_empty() and not error.contains("\n"), "one line: " + error.left(200))


func _write(text: String) -> void:
	_write_bytes(text.to_utf8_buffer())


func _write_bytes(bytes: PackedByteArray) -> void:
	var file: FileAccess = FileAccess.open(FILE, FileAccess.WRITE)
	file.store_buffer(bytes)
	file.close()


## A spawn area on the x axis, [param wide] metres along it.
func _area(x: float, wide: float, roles: Array) -> Dictionary:
	return {"position_m": [x, 0, 0], "size_m": [wide, 0], "roles": roles}
