extends Node3D
## Several walkers in a VR room: shows how it goes, by hand or with a policy. Esc quits.

var _agent: CrowdAgent

@onready var _sync: DojoSync = $DojoSync
@onready var _rig: NavigationRig = $Rig
@onready var _overview: Camera3D = $Overview
@onready var _score: Label = %Score
@onready var _status: Label = %Status


func _ready() -> void:
	get_tree().node_added.connect(_watch)
	_rig.start("--xr" in OS.get_cmdline_user_args())
	_look_through_eyes(false)


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"tag_camera"):
		_look_through_eyes(not _rig.camera.current)
	elif event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _physics_process(_delta: float) -> void:
	if _agent == null or _agent.ticks == 0:
		return
	_rig.global_transform = _agent.walker.global_transform
	_rig.left.position = VrWalker.HANDS[0]
	_rig.right.position = VrWalker.HANDS[1]
	if _agent.walker.look != null:
		_agent.walker.look.visible = not _rig.camera.current
	var measures: Dictionary = _agent.measures()
	_score.text = (
		"%s: nearest %.1f m away, %d collisions"
		% [_agent.reward.capitalize(), measures["nearest_m"], _agent.collisions]
	)
	_status.text = "A trainer plays." if _sync.is_trained() else "WASD walk, Tab: camera, Esc: quit"


func _watch(node: Node) -> void:
	if _agent == null and node is CrowdAgent:
		_agent = node


func _look_through_eyes(is_first_person: bool) -> void:
	(_rig.camera if is_first_person else _overview).make_current()
	_rig.show_view(is_first_person)
