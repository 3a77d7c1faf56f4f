extends Node3D
## Shows what the walker sees, enlarged, and how often it has found the red ball. Esc quits.

var _found: int = 0
var _rounds: int = 0

@onready var _picture: TextureRect = %Picture
@onready var _score: Label = %Score


func _ready() -> void:
	get_tree().node_added.connect(_watch)


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _watch(node: Node) -> void:
	if node is DojoAgent:
		(node as DojoAgent).round_ended.connect(_count.bind(node))
	elif node is DojoCameraSensor and _picture.texture == null:
		_picture.texture = (node as DojoCameraSensor).get_texture()


func _count(agent: DojoAgent) -> void:
	_rounds += 1
	_found += 1 if agent.current.has_won else 0
	_score.text = "%d of %d found" % [_found, _rounds]
