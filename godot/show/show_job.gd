class_name ShowJob
extends RefCounted
## A job for [ReplayShow]: shots, and for every frame where all agents are.
##
## src/godojo/show/shots.py writes it. JOB.json holds [code]frames_per_second[/code],
## [code]size[/code], [code]is_quick[/code], [code]scene[/code] and [code]shots[/code]; JOB.bin
## beside it holds the frames as 32-bit floats: for each one the second of the round, the camera's
## [constant CAMERA_FIELDS] numbers, then [constant FIELDS] numbers per agent.

## x, y, z, velocity x, y, z, heading, grounded, active, team, score.
const FIELDS: int = 11
## What the planned camera aims at (x, y, z), its yaw, and half the height that it shows.
const CAMERA_FIELDS: int = 5
## Frames at the start of every shot in which nothing moves: shadows are there from the second on.
const WARM_UP: int = 3
const KEYS: PackedStringArray = ["frames_per_second", "size", "is_quick", "scene", "shots"]
const SHOT_KEYS: PackedStringArray = [
	"layout",
	"teams",
	"agents",
	"frames",
	"camera",
	"zoom",
	"hero",
	"is_tagged_by_name",
	"hud",
	"round_s",
	"parties",
	"end_s",
	"end_title",
	"end_text",
	"end_colour"
]


## One uninterrupted piece of a round.
class Shot:
	extends RefCounted
	var layout: ShowLayout
	## Colours of the teams.
	var teams: PackedColorArray = []
	## What agents are called.
	var agents: PackedStringArray = []
	## How many frames it has, and where its first one begins in the numbers.
	var frames: int
	var first: int
	var camera: CameraRig.Mode
	## The same by name; a game's own scene may know others.
	var camera_name: String
	## How much closer than usual the side camera may come.
	var zoom: float
	## Index of the agent that the follow camera follows.
	var hero: int
	## Whether names are written above the agents.
	var is_tagged_by_name: bool
	## How large clock and score are; 0 for none.
	var hud: float
	## Longest duration of the round; 0 where there is none, and the clock counts upwards.
	var round_s: float
	## Lines of the score: [code]title[/code], [code]colour[/code], score [code]before[/code] and
	## [code]after[/code] the end, [code]agent[/code] whose own score is shown instead (-1: none).
	var parties: Array = []
	## When the round ends; negative when the shot does not get there.
	var end_s: float
	## What is then said in large and in small letters; an empty title for nothing.
	var end_title: String
	var end_text: String
	var end_color: Color
	## What a game's own scene may need besides: the game's settings, its arena, and numbers in the
	## course of the whole round ([ShowTracks]).
	var settings: Dictionary
	var arena: Dictionary
	var tracks: ShowTracks


## What is wrong, in one line; empty when all is well.
var error: String
var frames_per_second: float
## Of the pictures, in pixels.
var size: Vector2i
## Whether edges are smoothed in the quick way; the other takes more than twice the time without a
## GPU.
var is_quick: bool
## Path of the scene that draws the shots: its root is a [ReplayShow].
var scene: String
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


## The planned camera's numbers in that frame.
func camera(shot: Shot, frame: int) -> PackedFloat32Array:
	var first: int = _row(shot, frame) + 1
	return _numbers.slice(first, first + CAMERA_FIELDS)


## All numbers of agent [param index] in that frame.
func numbers(shot: Shot, frame: int, index: int) -> PackedFloat32Array:
	var first: int = _row(shot, frame) + 1 + CAMERA_FIELDS + index * FIELDS
	return _numbers.slice(first, first + FIELDS)


func _row(shot: Shot, frame: int) -> int:
	return shot.first + clampi(frame, 0, shot.frames - 1) * _width(shot)


static func _width(shot: Shot) -> int:
	return 1 + CAMERA_FIELDS + shot.agents.size() * FIELDS


func _read(fields: Dictionary) -> String:
	if not fields.has_all(KEYS):
		return "a job needs %s" % ", ".join(KEYS)
	frames_per_second = fields["frames_per_second"]
	var extent: Array = fields["size"]
	size = Vector2i(Vector2(extent[0] as float, extent[1] as float))
	is_quick = fields["is_quick"]
	scene = fields["scene"]
	var first: int = 0
	for source: Dictionary in fields["shots"]:
		if not source.has_all(SHOT_KEYS):
			return "a shot needs %s" % ", ".join(SHOT_KEYS)
		var shot: Shot = _read_shot(source)
		shot.first = first
		shots.append(shot)
		first += shot.frames * _width(shot)
	return "" if first == _numbers.size() else "the job has other numbers than its shots need"


static func _read_shot(source: Dictionary) -> Shot:
	var shot := Shot.new()
	shot.layout = ShowLayout.from_dict(source["layout"] as Dictionary)
	for team: Dictionary in source["teams"]:
		shot.teams.append(Color(team["colour"] as String))
	for title: String in source["agents"]:
		shot.agents.append(title)
	shot.frames = roundi(source["frames"] as float)
	shot.camera_name = source["camera"]
	var mode: int = CameraRig.NAMES.find(shot.camera_name)
	shot.camera = (mode if mode >= 0 else CameraRig.Mode.PLANNED) as CameraRig.Mode
	shot.zoom = maxf(source["zoom"] as float, 0.1)
	shot.hero = clampi(roundi(source["hero"] as float), 0, shot.agents.size() - 1)
	shot.is_tagged_by_name = source["is_tagged_by_name"]
	shot.hud = source["hud"]
	shot.round_s = source["round_s"]
	shot.parties = source["parties"]
	shot.end_s = source["end_s"]
	shot.end_title = source["end_title"]
	shot.end_text = source["end_text"]
	shot.end_color = Color(source["end_colour"] as String)
	shot.settings = source.get("settings", {})
	shot.arena = source.get("arena", {})
	shot.tracks = ShowTracks.new(source.get("tracks", {}) as Dictionary)
	return shot
