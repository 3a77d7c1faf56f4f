extends Controller
## Looks at a picture and points to the side on which it sees a light; it observes pixels alone.

const SIDE := 24

var lit := 0
var pointed := 0

@onready var eye: SubViewport = $"../Eye"
@onready var light: ColorRect = $"../Eye/Light"


func _ready() -> void:
	super()
	get_window().size = Vector2i(64, 64)  # nobody looks at it, and drawing it takes longest


func begin() -> void:
	lit = randi_range(0, 1)
	light.position = Vector2(2 + 12 * lit + randi_range(0, 2), randi_range(2, 16))


func play(_delta: float) -> void:
	reward += 0.25 if pointed == lit else 0.0


func get_obs_space() -> Dictionary:
	# As the plugin's cameras do: channels first, while the bytes are rows of pixels.
	return {"camera_2d": {"size": [3, SIDE, SIDE], "space": "box"}}


func get_obs() -> Dictionary:
	var picture := eye.get_texture().get_image()
	picture.convert(Image.FORMAT_RGB8)
	return {"camera_2d": picture.get_data().hex_encode()}


func get_action_space() -> Dictionary:
	return {"side": {"size": 2, "action_type": "discrete"}}


func set_action(action: Dictionary) -> void:
	pointed = int(action["side"])
