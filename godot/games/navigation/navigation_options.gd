class_name NavigationOptions
extends RefCounted
## Options of the scene on the command line, after [code]--[/code].
##
## [codeblock]
## --course=maze               which course: course (default), obstacle_course or maze
## --turn=snap                 how the thumbstick turns: smooth (default) or snap
## --set=motion.speed_mps=1.5  any setting; may be given many times
## --seed=7                    starts the random numbers
## --camera=follow             first (default), follow or overview
## --policy=FILE.dojo          nobody at the keys: a trained policy walks
## --demo                      nobody at the keys: a script walks
## --xr                        look for a headset
## --http                      let programs play; see docs/http.md
## [/codeblock]

const KNOWN: PackedStringArray = [
	"--course=",
	"--turn=",
	"--set=",
	"--seed=",
	"--camera=",
	"--policy=",
	"--demo",
	"--xr",
	"--http"
]
const CAMERAS: PackedStringArray = ["first", "follow", "overview"]

## An error message of one line; empty when all is well.
var error: String
var settings: NavigationSettings = NavigationSettings.load_defaults()
## Empty: the scene's own.
var course: String = ""
var random_seed: int = 1
var camera: String = "first"
## The file of a policy that walks; empty for none.
var policy: String = ""
var demo: bool = false
var wants_xr: bool = false
## Whether it is played over HTTP.
var is_served: bool = false


## Reads [param words]; look at [member error] before using the rest.
static func parse(words: PackedStringArray) -> NavigationOptions:
	var options := NavigationOptions.new()
	for word in words:
		options.error = options._read(word)
		if not options.error.is_empty():
			break
	return options


func _read(word: String) -> String:
	var option: String = word.get_slice("=", 0)
	var value: String = word.substr(option.length() + 1)
	var complaint: String = ""
	match option:
		"--demo":
			demo = true
		"--xr":
			wants_xr = true
		"--http":
			is_served = true
		"--http-port", "--http-host", "--http-envs", "--http-note":
			pass
		"--course":
			complaint = _unless_known(value, CourseData.hand_made())
			course = value
		"--camera":
			complaint = _unless_known(value, CAMERAS)
			camera = value
		"--policy":
			policy = value
		"--turn":
			complaint = settings.apply_override("motion.turn=" + value)
		"--set":
			complaint = settings.apply_override(value)
		"--seed":
			complaint = "" if DojoUntrustedText.is_whole(value) else DojoUntrustedText.WHOLE % value
			random_seed = value.to_int() if complaint.is_empty() else 1
		_:
			return (
				"%s: no such option; known: %s" % [DojoUntrustedText.quoted(word), " ".join(KNOWN)]
			)
	return "" if complaint.is_empty() else "%s: %s" % [option, complaint]


static func _unless_known(value: String, known: PackedStringArray) -> String:
	if known.has(value):
		return ""
	return "%s is unknown; known: %s" % [DojoUntrustedText.quoted(value), " ".join(known)]
