extends Node3D
## Shows the hunt for a named failure. WASD moves, left and right turn, Space teleports; Esc quits.

const _BEHIND_M := Vector3(0, 34, 12)

## Words of [code]take_picture.gd[/code].
var arguments: PackedStringArray = []

var _found: int = 0
var _rounds: int = 0
var _hunter: BugHunter

@onready var _camera: Camera3D = $Camera
@onready var _status: Label = %Status
@onready var _last: Label = %Last


func _enter_tree() -> void:
	get_tree().node_added.connect(_watch)


func _exit_tree() -> void:
	get_tree().node_added.disconnect(_watch)
	BugTarget.stop_listening()


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _process(_delta: float) -> void:
	if not is_instance_valid(_hunter) or not _hunter.is_node_ready():
		return
	var place: Vector3 = _hunter.rig.get_global_transform_interpolated().origin
	_camera.look_at_from_position(place + _BEHIND_M, place)
	_status.text = (
		"looking for: %s\nangular velocity %.1f rad/s, %d chunks, %d jobs\nfound in %d of %d episodes"
		% [
			_hunter.target_bug,
			_hunter.spin_radps,
			_hunter.terrain.active_chunk_count(),
			_hunter.terrain.queue_length(),
			_found,
			_rounds,
		]
	)


func _watch(node: Node) -> void:
	var hunter := node as BugHunter
	if hunter != null:
		_hunter = hunter
		hunter.autopilot = hunter.autopilot or "--autopilot" in arguments
		hunter.reproduced.connect(_tell)
		hunter.round_ended.connect(_count)


func _count() -> void:
	_rounds += 1


func _tell(report: BugReport, path: String) -> void:
	_found += 1
	_last.text = report.symptom + ("\n" + path if not path.is_empty() else "")
	# Not the symptom itself: it would be found again.
	print(
		"reproduced after %d ticks%s" % [report.ticks, ": " + path if not path.is_empty() else ""]
	)
