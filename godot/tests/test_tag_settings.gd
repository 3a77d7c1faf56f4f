extends TagTest
## Settings: one structure, defaults in one file, overrides checked.


func test_defaults_are_those_of_the_file() -> void:
	var text: String = FileAccess.get_file_as_string("res://games/tag/settings.json")
	# Through JSON, which has no integers.
	var loaded: String = JSON.stringify(TagSettings.load_defaults().to_dict())
	check_equal(JSON.parse_string(loaded), JSON.parse_string(text), "settings")


func test_overrides() -> void:
	var settings: TagSettings = TagSettings.load_defaults()
	check_equal(settings.apply_override("motion.gravity_mps2=20"), "", "number")
	check_equal(settings.motion.gravity_mps2, 20.0, "gravity")
	check_equal(settings.apply_override("rules.mode = classic"), "", "word")
	check_equal(settings.rules.mode, &"classic", "mode")
	check_equal(settings.apply_override("rewards.seeker.tag=5.5"), "", "deep")
	check_equal(settings.rewards.seeker.tag, 5.5, "reward")
	check_equal(
		settings.apply_override('sight.rows=[{"elevation_deg":0,"columns":50}]'), "", "rows"
	)
	check_equal(TagObservation.layout.size(settings), 13 + 50 * 2, "size of the observation")


func test_bad_overrides_are_refused_and_change_nothing() -> void:
	var settings: TagSettings = TagSettings.load_defaults()
	var before: String = JSON.stringify(settings.to_dict())
	for bad: String in [
		"",
		"=",
		"gravity",
		"motion.gravity=20",
		"nothing.at_all=1",
		"motion=3",
		"motion.gravity_mps2=",
		"motion.gravity_mps2=fast",
		"motion.gravity_mps2=-1",
		"motion.gravity_mps2=1e999",
		"motion.gravity_mps2=nan",
		"motion.gravity_mps2=[1]",
		"motion.gravity_mps2=[]",
		"motion.gravity_mps2=[1,2]",
		"motion.gravity_mps2=[[1],[2]]",
		"motion.gravity_mps2={}",
		'motion.gravity_mps2={"a": 1}',
		'motion.gravity_mps2="%d"',
		'motion.gravity_mps2="a\\u0000b"',
		"motion.gravity_mps2=a\nb",
		"motion.gra\nvity=1",
		"\n\u001b[2J",
		"rules.seekers=[1,2]",
		"rules.seekers={}",
		"rules.mode=[1,2]",
		'sight.rows=[{"elevation_deg":0,"columns":[1,2]}]',
		'sight.rows=[{"elevation_deg":{},"columns":4}]',
		"rules.seekers=1.5",
		"rules.seekers=0",
		"rules.seekers=8",
		"rules.hiders=8",
		"rules.mode=chess",
		"rules.mode=3",
		"sight.rows=[]",
		"sight.rows=3",
		'sight.rows=[{"columns": 4}]',
		'sight.rows=[{"elevation_deg":0,"columns":9999}]',
		'sight.rows=[{"elevation_deg":0,"columns":4,"x":1}]',
		"sight.eye_height_m=0.6",
	]:
		var complaint: String = settings.apply_override(bad)
		check(not complaint.is_empty(), "taken: " + bad)
		check_equal(complaint, DojoUntrustedText.quoted(complaint, 10000), "one line about " + bad)
		check(complaint.length() < 1000, "too long a complaint about " + bad.left(40))
	check_equal(JSON.stringify(settings.to_dict()), before, "settings after bad overrides")


func test_long_words_are_cut_in_complaints() -> void:
	for bad: String in ["motion.gravity_mps2=" + "9a".repeat(9999), "x".repeat(9999) + "=1"]:
		var complaint: String = TagSettings.load_defaults().apply_override(bad)
		check(complaint.length() > 20 and complaint.length() < 200, complaint.left(300))


func test_keys_of_any_type_are_refused() -> void:
	for key: Variant in [[1, 2], {}, 3, null, Vector2.ONE]:
		var complaint: String = TagSettings.load_defaults().set_all({key: 1})
		check(complaint.contains("is no text"), complaint)


func test_large_numbers_and_texts_that_look_like_them() -> void:
	for huge: String in ["1e999", "[1, -2.5E+0100]", '{"a": "b", "c": 1e100}', '["\\"", 1e100]']:
		check_equal(DojoSafeJson.read(huge).error, "a number is too large", huge)
	for fine: String in ['"3e100"', '["Stage 3e100", 2]', '"a \\" 3e100"', '"\\\\u0000"']:
		check_equal(DojoSafeJson.read(fine).error, "", fine)
	for zero: String in ['"\\u0000"', '"a\\\\\\u0000b"', '{"\\u0000": 1}']:
		check_equal(DojoSafeJson.read(zero).error, "a text has the character 0", zero)


func test_the_shaders_know_as_many_agents() -> void:
	var path: String = "res://show/look/surface.gdshaderinc"
	var line: String = "const int MAX_AGENTS = %d;" % TagSettings.MAX_AGENTS
	check(FileAccess.get_file_as_string(path).contains(line), "no '%s' in %s" % [line, path])


func test_an_unknown_setting_is_answered_with_the_known_ones() -> void:
	var complaint: String = TagSettings.load_defaults().apply_override("body.colour=1")
	check(complaint.contains("body.size_m"), complaint)


func test_whole_structures_are_checked() -> void:
	var settings: TagSettings = TagSettings.load_defaults()
	var tree: Dictionary = settings.to_dict()
	check_equal(settings.set_all(tree), "", "its own")
	tree["motion"].erase("gravity_mps2")
	check(settings.set_all(tree).begins_with("motion.gravity_mps2"), "missing key taken")
	tree = settings.to_dict()
	tree["motion"]["wings"] = 2
	check(settings.set_all(tree).begins_with("motion.wings"), "unknown key taken")
	check(not settings.set_all(null).is_empty(), "null taken")
	check(not settings.set_all([]).is_empty(), "list taken")


func test_a_world_keeps_its_own_copy() -> void:
	var settings: TagSettings = TagSettings.load_defaults()
	var world := TagWorld.new()
	add_child(world)
	world.configure(settings, named("open"), 1)
	settings.motion.gravity_mps2 = 1.0
	check_equal(world.settings.motion.gravity_mps2, 24.0, "gravity in the world")
