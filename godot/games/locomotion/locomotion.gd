extends Node3D
## Waypoints in a VR room: shows how it goes, by hand or with a policy. Tab: camera, Esc: quit.

var _agent: LocomotionAgent
var _rounds: int = 0
var _successes: int = 0

@onready var _sync: DojoSync = $DojoSync
@onready var _rig: NavigationRig = $Rig
@onready var _overview: Camera3D = $Overview
@onready var _score: Label = %Score
@onready var _status: Label = %Status


func _ready() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	get_tree().node_added.connect(_watch)
	_rig.start("--xr" in words)
	_look_through_eyes(not "--camera=overview" in words)
	_sync.connected.connect(_show_status)
	_sync.disconnected.connect(_show_status.unbind(1))
	_show_status()


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"tag_camera"):
		_look_through_eyes(not _rig.camera.current)
	elif event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _physics_process(_delta: float) -> void:
	if _agent == null:
		return
	var walker: VrWalker = _agent.walker
	_rig.global_transform = walker.global_transform
	_rig.left.position = VrWalker.HANDS[0]
	_rig.right.position = VrWalker.HANDS[1]
	_rig.show_vignette(walker.vignette)
	if _rig.has_headset():
		walker.head.rotation = _rig.camera.rotation
	if walker.look != null:
		walker.look.visible = not _rig.camera.current
	_status.visible = not _sync.is_launched()


func _watch(node: Node) -> void:
	if _agent == null and node is LocomotionAgent:
		_agent = node
		_agent.round_ended.connect(_count)


func _count() -> void:
	_rounds += 1
	_successes += 1 if _agent.is_success() else 0
	_score.text = "%d of %d waypoints without a bump or a vignette" % [_successes, _rounds]


func _look_through_eyes(is_first_person: bool) -> void:
	(_rig.camera if is_first_person else _overview).make_current()
	_rig.show_view(is_first_person)


func _show_status() -> void:
	if _sync.is_trained():
		_status.text = "A trainer plays. " + _sync.notice
	else:
		_status.text = "WASD walk, Q E turn, Space teleports, Shift is fast, Tab: camera, Esc: quit"
