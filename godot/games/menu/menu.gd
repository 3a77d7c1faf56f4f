extends Node3D
## A VR settings menu and its tester, played with the mouse or by a policy. Esc quits.

var _tester: MenuAgent

@onready var _status: Label = %Status


func _enter_tree() -> void:
	get_tree().node_added.connect(_watch)


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _process(_delta: float) -> void:
	if is_instance_valid(_tester):
		_status.text = (
			"%.0f %% of elements have answered. " % (100.0 * _tester.coverage())
			+ "Left button: trigger, and drags sliders. Right button: grip."
		)


func _watch(node: Node) -> void:
	if node is MenuAgent and not is_instance_valid(_tester):
		_tester = node
