class_name ShowJob
extends RefCounted
## What [code]replay_show.tscn[/code] has to show: shots, and for every frame where everybody is.
##
## Written by src/godojo/show/stage.py. JOB.json holds [code]frames_per_second[/code],
## [code]size[/code], [code]is_quick[/code] and [code]shots[/code]; beside it lies JOB.bin with the
## frames as 32-bit floats: for each one the second of the round, then [constant FIELDS] numbers an
## agent.

## x, y, z, velocity x, y, z, heading, grounded, active, chases, wish x, wish z, score.
const FIELDS: int = 13
## Frames at the start of every shot in which nothing moves: shadows are there from the second on.
const WARM_UP: int = 3
## What a shot must say of itself.
const KEYS: PackedStringArray = [
	"settings",
	"arena",
	"frames",
	"camera",
	"zoom",
	"hero",
	"is_tagged_by_name",
	"hud",
	"wins",
	"ending"
]


## One uninterrupted piece of a round.
class Shot:
	extends RefCounted
	var settings := TagSettings.new()
	var arena: ArenaData
	## How many frames it has, and where its first one begins in the numbers.
	var frames: int
	var first: int
	var camera: CameraRig.Mode
	## How much closer than usual the side camera may come.
	var zoom: float
	## Index of the agent that the follow camera follows.
	var hero: int
	## Whether roles are written above the agents.
	var is_tagged_by_name: bool
	## How large clock and score are; 0 for none.
	var hud: float
	## Rounds won before, by role.
	var wins: Dictionary = {}
	## When the round ends and who wins; nobody when the shot does not get there.
	var end_s: float
	var winner: StringName
	var winner_index: int
	## Whether it is said in large letters who won.
	var is_announced: bool


## What is wrong, in one line; empty when all is well.
var error: String
var frames_per_second: float
## Of the pictures, in pixels.
var size: Vector2i
## Whether edges are smoothed in the quick way; the other takes more
## than twice the time without a GPU.
var is_quick: bool
var shots: Array[Shot] = []

var _numbers: PackedFloat32Array


## Reads the job at [param path]; look at [member error] before using the rest.
static func load_file(path: String) -> ShowJob:
	var job := ShowJob.new()
	var json: DojoSafeJson = DojoSafeJson.read(FileAccess.get_file_as_string(path))
	if not json.error.is_empty() or not json.data is Dictionary:
		job.error = "%s is no job: %s" % [DojoUntrustedText.quoted(path), json.error]
		return job
	job._numbers = FileAccess.get_file_as_bytes(path.get_basename() + ".bin").to_float32_array()
	job.error = job._read(json.data as Dictionary)
	return job


## The second of the round that [param frame] of [param shot] shows.
func second(shot: Shot, frame: int) -> float:
	return _numbers[_row(shot, frame)]


## Number [param field] of agent [param index] in that frame.
func number(shot: Shot, frame: int, index: int, field: int) -> float:
	return _numbers[_row(shot, frame) + 1 + index * FIELDS + field]


func _row(shot: Shot, frame: int) -> int:
	var width: int = 1 + shot.settings.agent_count() * FIELDS
	return shot.first + clampi(frame, 0, shot.frames - 1) * width


func _read(fields: Dictionary) -> String:
	if not fields.has_all(["frames_per_second", "size", "is_quick", "shots"]):
		return "a job says frames_per_second, size, is_quick and shots"
	frames_per_second = fields["frames_per_second"]
	var extent: Array = fields["size"]
	size = Vector2i(Vector2(extent[0] as float, extent[1] as float))
	is_quick = fields["is_quick"]
	var first: int = 0
	for source: Dictionary in fields["shots"]:
		if not source.has_all(KEYS):
			return "a shot says %s" % ", ".join(KEYS)
		var shot := Shot.new()
		var complaint: String = shot.settings.set_all(source["settings"])
		if not complaint.is_empty():
			return complaint
		shot.arena = ArenaData.from_dict(source["arena"] as Dictionary, "arena", shot.settings)
		if not shot.arena.error.is_empty():
			return shot.arena.error
		_read_manner(shot, source)
		shot.first = first
		shots.append(shot)
		first += shot.frames * (1 + shot.settings.agent_count() * FIELDS)
	return "" if first == _numbers.size() else "the job has other numbers than its shots need"


func _read_manner(shot: Shot, source: Dictionary) -> void:
	shot.frames = roundi(source["frames"] as float)
	shot.camera = maxi(CameraRig.NAMES.find(source["camera"] as String), 0) as CameraRig.Mode
	shot.zoom = maxf(source["zoom"] as float, 0.1)
	shot.hero = clampi(roundi(source["hero"] as float), 0, shot.settings.agent_count() - 1)
	shot.is_tagged_by_name = source["is_tagged_by_name"]
	shot.hud = source["hud"]
	shot.wins = source["wins"]
	var ending: Dictionary = source["ending"]
	shot.end_s = ending["seconds"]
	shot.winner = StringName(ending["winner"] as String)
	shot.winner_index = roundi(ending["winner_index"] as float)
	shot.is_announced = ending["is_announced"]
