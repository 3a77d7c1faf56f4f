extends VrRoom
## Waypoints in a VR room: shows how it goes, by hand or with a policy. Tab: camera, Esc: quit.

var _agent: LocomotionAgent
var _rounds: int = 0
var _successes: int = 0


func _ready() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	get_tree().node_added.connect(_watch)
	_rig.start("--xr" in words)
	_look_through_eyes(not "--camera=overview" in words)
	_sync.connected.connect(_show_status)
	_sync.disconnected.connect(_show_status.unbind(1))
	_show_status()


func _physics_process(_delta: float) -> void:
	if _agent == null:
		return
	var walker: VrWalker = _agent.walker
	_follow(walker)
	_rig.show_vignette(walker.vignette)
	if _rig.has_headset():
		walker.head.rotation = _rig.camera.rotation
	_status.visible = not _sync.is_launched()


func _watch(node: Node) -> void:
	if _agent == null and node is LocomotionAgent:
		_agent = node
		_agent.round_ended.connect(_count)


func _count() -> void:
	_rounds += 1
	_successes += 1 if _agent.is_success() else 0
	_score.text = "%d of %d waypoints without a bump or a vignette" % [_successes, _rounds]


func _show_status() -> void:
	if _sync.is_trained():
		_status.text = "A trainer plays. " + _sync.notice
	else:
		_status.text = "WASD walk, Q E turn, Space teleports, Shift is fast, Tab: camera, Esc: quit"
