extends SceneTree
## Plays a game as a person does, by key presses. The environment names the game and the frames to
## play: [code]PRESS_KEYS="tag 600"[/code].

const PLAYERS: Dictionary[String, String] = {
	"first_agent": "_to_the_gem", "tag": "_anywhere", "navigation": "_ahead"
}
const SCENE := "res://games/%s/%s.tscn"

var _player: String
var _frames: int


func _initialize() -> void:
	var words: PackedStringArray = OS.get_environment("PRESS_KEYS").split(" ")
	_player = PLAYERS[words[0]]
	_frames = words[1].to_int()
	change_scene_to_file(SCENE % [words[0], words[0]])


func _physics_process(_delta: float) -> bool:
	_frames -= 1
	if current_scene != null:
		call(_player)
	return _frames <= 0


func _to_the_gem() -> void:
	var agents: Array[Node] = current_scene.find_children("*", "DojoAgent", true, false)
	if agents.is_empty():
		return
	var seen: PackedFloat32Array = (agents[0] as DojoAgent).observe()
	var way := Vector2(seen[0], seen[1]).normalized() - 2.0 * Vector2(seen[2], seen[3])
	_press(KEY_RIGHT, way.x > 0.1)
	_press(KEY_LEFT, way.x < -0.1)
	_press(KEY_DOWN, way.y > 0.1)
	_press(KEY_UP, way.y < -0.1)


func _anywhere() -> void:
	_press(KEY_W, _frames % 60 < 40)
	_press(KEY_D, _frames % 90 < 30)
	_press(KEY_SPACE, _frames % 50 < 5)


func _ahead() -> void:
	_press(KEY_W, true)


static func _press(key: Key, is_down: bool) -> void:
	var event := InputEventKey.new()
	event.keycode = key
	event.physical_keycode = key
	event.pressed = is_down
	Input.parse_input_event(event)
