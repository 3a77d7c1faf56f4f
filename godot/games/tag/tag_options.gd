class_name TagOptions
extends RefCounted
## Options of the playable scene on the command line, after [code]--[/code].
##
## [codeblock]
## --arena=pillars             which arena: a hand-made one, or the path of a file of your own
## --mode=classic              hide_and_seek (default) or classic
## --teams=2v6                 how many seekers play against how many hiders: 1v1 (default), ...
## --role=hider                who you are in hide and seek: seeker (default) or hider; trained
##                             players are your team-mates
## --set=motion.gravity_mps2=20   any setting; may be given many times
## --seed=7                    starts the random numbers
## --camera=side               overview (default), follow or side
## --level=hard                how well the opponent was trained: easy, medium (default) or hard
## --opponent=scripted         trained (default), or one that follows a script
## --policy=FILE.dojo          a policy of your own as the opponent; for each role one
## --demo                      nobody at the keyboard: scripted opponents play each other
## --attract                   nobody at the keyboard: trained opponents play each other until
##                             a player moves
## --overlay                   begins with what a trained opponent sees shown, as with F3
## [/codeblock]

const ROLES: PackedStringArray = ["seeker", "hider"]
const OPTIONS: PackedStringArray = [
	"--arena=",
	"--mode=",
	"--teams=",
	"--role=",
	"--set=",
	"--seed=",
	"--camera=",
	"--level=",
	"--opponent=",
	"--policy=",
	"--demo",
	"--attract",
	"--overlay"
]

## An error message of one line; empty when all is well.
var error: String
## The settings, overrides applied.
var settings: TagSettings = TagSettings.load_defaults()
## The arena.
var arena: ArenaData
## Who the human is in hide and seek.
var role: StringName = &"seeker"
## Start of all random numbers.
var random_seed: int = 1
## Camera at the start.
var camera: CameraRig.Mode = CameraRig.Mode.OVERVIEW
## How well a trained opponent was trained.
var level: String = TagCast.USUAL_LEVEL
## Whether opponents are trained or scripted.
var opponent: String = "trained"
## Files of policies that play instead of the usual ones.
var policies: PackedStringArray = []
## Whether scripts play each other.
var demo: bool = false
## Whether trained opponents play each other until a player moves.
var attract: bool = false
## Whether what a trained opponent sees is shown from the beginning.
var overlay: bool = false


## Reads [param words]; look at [member error] before using the rest.
static func parse(words: PackedStringArray) -> TagOptions:
	var options := TagOptions.new()
	var arena_name: String = ArenaData.DEFAULT
	for word in words:
		if word.begins_with("--arena="):
			arena_name = word.trim_prefix("--arena=")
		else:
			options.error = options._read(word)
		if not options.error.is_empty():
			return options
	if arena_name.ends_with(".json"):
		options.arena = ArenaData.load_file(arena_name, options.settings)
	else:
		options.arena = ArenaData.load_named(arena_name, options.settings)
	if not options.arena.error.is_empty():
		options.error = "--arena: " + options.arena.error
	return options


func _read(word: String) -> String:
	var option: String = word.get_slice("=", 0)
	var value: String = word.substr(option.length() + 1)
	var complaint: String = ""
	match option if word != option else word + "!":
		"--demo!":
			demo = true
			opponent = "scripted"
		"--attract!":
			attract = true
		"--overlay!":
			overlay = true
		"--level":
			complaint = _unless_known(value, TagCast.LEVELS)
			level = value
		"--opponent":
			complaint = _unless_known(value, TagCast.OPPONENTS)
			opponent = value
		"--policy":
			policies.append(value)
		"--mode":
			complaint = settings.apply_override("rules.mode=" + value)
		"--teams":
			complaint = _split(value)
		"--set":
			complaint = settings.apply_override(value)
		"--role":
			complaint = _unless_known(value, ROLES)
			role = StringName(value)
		"--camera":
			complaint = _unless_known(value, CameraRig.NAMES)
			camera = maxi(CameraRig.NAMES.find(value), 0) as CameraRig.Mode
		"--seed":
			if DojoUntrustedText.is_whole(value):
				random_seed = value.to_int()
			else:
				complaint = DojoUntrustedText.WHOLE % DojoUntrustedText.quoted(value)
		_:
			return (
				"%s: no such option; known: %s"
				% [DojoUntrustedText.quoted(word), " ".join(OPTIONS)]
			)
	return "" if complaint.is_empty() else "%s: %s" % [option, complaint]


## Takes [code]2v6[/code]: so many seekers against so many hiders.
func _split(value: String) -> String:
	var counts: PackedStringArray = value.split("v")
	if counts.size() != 2 or not counts[0].is_valid_int() or not counts[1].is_valid_int():
		return "%s must be seekers v hiders, such as 2v6" % DojoUntrustedText.quoted(value)
	# One at first, so that no split on the way is refused.
	for rule: String in ["seekers=1", "hiders=1", "seekers=" + counts[0], "hiders=" + counts[1]]:
		var complaint: String = settings.apply_override("rules." + rule)
		if not complaint.is_empty():
			return complaint
	return ""


static func _unless_known(value: String, known: PackedStringArray) -> String:
	if known.has(value):
		return ""
	return "%s is unknown; known: %s" % [DojoUntrustedText.quoted(value), " ".join(known)]
