class_name NavigationWorlds
extends DojoWorlds
## Many walks in one process, for a trainer: a decision of all of them at a time.
##
## Every course is put up once, in a physics space of its own, and shared by all worlds. Where
## [member stage] is set, a single world is played there, and of the courses that a trainer asks for
## only the one that the scene shows is played.

## The worlds were made anew.
signal configured

## What a trainer may ask for; without courses, [member course_names] are played.
const OPTIONS := {"settings": {}, "courses": [], "truncate_after": 0}
const MAX_COURSES := 256

## Where the bodies of courses are put, if they are to share a scene's space; normally empty.
@export var stage: Node3D
## The courses that are walked where a trainer names none; empty: all that were made by hand.
@export var course_names: PackedStringArray = PackedStringArray()

## The settings where a trainer sends none.
var usual_settings: NavigationSettings = NavigationSettings.load_defaults()
## The worlds, once configured.
var worlds: Array[NavigationWorld] = []
var settings: NavigationSettings = NavigationSettings.load_defaults()

var _courses: Array[CourseData] = []
var _solids: Array[CourseSolid] = []
var _ticks: int
var _truncate_after: int
# Of each world: its course, decisions since the round began, terms since then.
var _course_numbers := PackedInt32Array()
var _decisions := PackedInt32Array()
var _round_terms: Array[PackedFloat32Array] = []
var _results := DojoResults.new(1)


func _init() -> void:
	advances_itself = true


func configure(request: Dictionary) -> String:
	var options: Dictionary = request["options"]
	var fields: DojoFields = DojoFields.options(options, OPTIONS)
	var truncate_after: int = int(fields.number("truncate_after", 0.0, 1e9))
	var wanted := NavigationSettings.new()
	var complaint: String = fields.error()
	if complaint.is_empty():
		complaint = wanted.set_all(options.get("settings", usual_settings.to_dict()))
	if complaint.is_empty() and request["ticks_per_decision"] != null:
		complaint = wanted.apply_override(
			"rules.ticks_per_decision=%d" % request["ticks_per_decision"]
		)
	var courses: Array[CourseData] = []
	if complaint.is_empty():
		complaint = _read_courses(options, courses)
	if not complaint.is_empty():
		return complaint
	settings = wanted
	_ticks = settings.rules.ticks_per_decision
	_truncate_after = truncate_after
	_courses = courses
	_build(request["worlds"] as int)
	configured.emit()
	return ""


func describe() -> Dictionary:
	var names: PackedStringArray = []
	for course in _courses:
		names.append(course.name)
	var walker: Dictionary = {
		"name": "walker",
		"agents": 1,
		"observation": NavigationObservation.layout.parts(settings),
		"action": action_parts(settings),
	}
	return {
		"roles": [walker],
		"reward_terms": NavigationRewards.TERMS,
		"winners": NavigationWorld.WINNERS,
		"arenas": names,
		"model": null,
		"ticks_per_decision": _ticks,
	}


## What a walker does, see [DojoObservationLayout].
static func action_parts(played: NavigationSettings) -> Array[Dictionary]:
	var names: PackedStringArray = ["strafe", "forward", "rotate"]
	if played.motion.teleport_m > 0.0:
		names.append("teleport")
	var parts: Array[Dictionary] = []
	for move in names:
		parts.append(DojoObservationLayout.move(move, 1))
	return parts


func reset(seed_number: int) -> void:
	_clear()
	for index in worlds.size():
		# Similar seeds would give similar chance, so they are stirred first.
		var stirred: PackedByteArray = ("%d %d" % [seed_number, index]).md5_buffer()
		worlds[index].rng.seed = stirred.decode_s64(0)
		_begin_round(index)
		NavigationObservation.append(worlds[index], _results.observation)
	_results.terms.resize(worlds.size() * NavigationRewards.TERMS.size())
	_results.terms.fill(0.0)
	_results.flags.resize(worlds.size())
	_results.flags.fill(0)


func act(actions: PackedFloat32Array) -> void:
	var can_teleport: bool = settings.motion.teleport_m > 0.0
	var place: int = 0
	for world in worlds:
		var teleport: float = actions[place + 3] if can_teleport else 0.0
		world.set_action(actions[place], actions[place + 1], actions[place + 2], teleport)
		place += 4 if can_teleport else 3


func advance() -> void:
	_clear()
	for index in worlds.size():
		var world: NavigationWorld = worlds[index]
		for _tick in _ticks:
			world.tick()
			if world.round_over:
				break
		_tell(index, world)


func collect() -> DojoResults:
	return _results


## What the last decision brought in one world; where that ended the round, the next one begins.
func _tell(index: int, world: NavigationWorld) -> void:
	_decisions[index] += 1
	var terms: PackedFloat32Array = world.rewards.terms
	_results.terms.append_array(terms)
	for number in terms.size():
		_round_terms[index][number] += terms[number]
	var flags: int = DojoResults.ACTED
	var is_cut_short: bool = _truncate_after > 0 and _decisions[index] >= _truncate_after
	if world.winner == &"clock" or (is_cut_short and not world.round_over):
		flags |= DojoResults.TRUNCATED
	elif world.round_over:
		flags |= DojoResults.TERMINATED
	_results.flags.append(flags)
	if world.round_over or is_cut_short:
		_results.final_rows[0].append(index)
		NavigationObservation.append(world, _results.final_observation[0])
		_results.final_terms[0].append_array(_round_terms[index])
		_results.final_score[0].append(world.rewards.warnings)
		var winner: int = maxi(NavigationWorld.WINNERS.find(world.winner), 0)
		_results.ended.append_array([index, winner, world.tick_number, _course_numbers[index]])
		_begin_round(index)
	NavigationObservation.append(world, _results.observation)


func _begin_round(index: int) -> void:
	var world: NavigationWorld = worlds[index]
	var number: int = world.rng.randi_range(0, _courses.size() - 1)
	_course_numbers[index] = number
	_decisions[index] = 0
	_round_terms[index].fill(0.0)
	world.begin_round(_courses[number], _solids[number])


func _read_courses(options: Dictionary, into: Array[CourseData]) -> String:
	if not options.has("courses"):
		for course_name in course_names if course_names else CourseData.hand_made():
			into.append(CourseData.load_named(course_name))
	else:
		var list: Variant = options["courses"]
		if not list is Array or (list as Array).is_empty() or (list as Array).size() > MAX_COURSES:
			return "courses: must be a list of 1 to %d courses" % MAX_COURSES
		for fields: Variant in list as Array:
			into.append(CourseData.from_dict(fields, "courses[%d]" % into.size()))
	for course in into:
		if not course.error.is_empty():
			return course.error
	if stage != null:
		into.assign(
			into.filter(func(course: CourseData) -> bool: return course_names.has(course.name))
		)
		if into.size() != 1:
			return "courses: this scene shows %s, and so must one of them" % ", ".join(course_names)
	return ""


func _build(count: int) -> void:
	for solid in _solids:
		var hall: Node = solid if solid.get_parent() == stage else solid.get_parent()
		hall.get_parent().remove_child(hall)
		hall.queue_free()
	_solids.clear()
	for course in _courses:
		var solid := CourseSolid.new()
		if stage != null and count == 1:
			stage.add_child(solid)
		else:
			_add_hall(solid)
		solid.build(course, settings)
		_solids.append(solid)
	worlds.clear()
	_round_terms.clear()
	for _index in count:
		worlds.append(NavigationWorld.new(settings))
		var sums := PackedFloat32Array()
		sums.resize(NavigationRewards.TERMS.size())
		_round_terms.append(sums)
	_course_numbers.resize(count)
	_decisions.resize(count)


## A space of its own, so that courses do not stand in each other's way.
func _add_hall(solid: CourseSolid) -> void:
	var hall := SubViewport.new()
	hall.own_world_3d = true
	hall.render_target_update_mode = SubViewport.UPDATE_DISABLED
	add_child(hall)
	hall.add_child(solid)
	# Nothing here moves by itself, so the engine has nothing to do at a physics step.
	PhysicsServer3D.space_set_active(hall.find_world_3d().space, false)


func _clear() -> void:
	_results.clear_ends()
	_results.observation = PackedFloat32Array()
	_results.terms = PackedFloat32Array()
	_results.flags = PackedByteArray()
