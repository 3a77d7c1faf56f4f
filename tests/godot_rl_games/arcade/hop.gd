extends Controller
## A body runs and jumps over tiles, a slope and a one-way platform, and collects a coin.

const SPEED := 220.0
const WIDTH := 250.0
const REACH := Vector2(150, 20)

var move := 0.0
var jump := 0

@onready var body: CharacterBody2D = $"../Body"
@onready var ray: RayCast2D = $"../Body/Ray"
@onready var coin: Area2D = $"../Coin"


func _ready() -> void:
	super()
	coin.body_entered.connect(_on_coin_body_entered)


func begin() -> void:
	body.position = Vector2(randf_range(-WIDTH, WIDTH), -60)
	body.velocity = Vector2.ZERO
	_place_coin()


func play(delta: float) -> void:
	body.velocity.x = move_toward(body.velocity.x, move * SPEED, 900 * delta)
	body.velocity += body.get_gravity() * 0.9 * delta
	if jump == 1 and body.is_on_floor():
		body.velocity.y = -420.0
	body.move_and_slide()
	reward -= 0.01
	for index in body.get_slide_collision_count():
		var hit := body.get_slide_collision(index)
		if hit.get_collider() is TileMapLayer:
			reward -= 0.01 * absf(hit.get_normal().x)


func get_obs() -> Dictionary:
	var here := body.global_position
	var down := ray.get_collision_point().distance_to(here) / 200.0 if ray.is_colliding() else 1.0
	var query := PhysicsRayQueryParameters2D.create(here, here + REACH, 1, [body.get_rid()])
	var hit := body.get_world_2d().direct_space_state.intersect_ray(query)
	var ahead: float = here.distance_to(hit.position) / REACH.length() if hit else 1.0
	var place := body.position / WIDTH
	var speed := body.velocity / SPEED
	var way := coin.position / WIDTH - place
	return {"obs": [place.x, place.y, speed.x, speed.y, way.x, way.y, down, ahead]}


func get_action_space() -> Dictionary:
	return {
		"move": {"size": 1, "action_type": "continuous"},
		"jump": {"size": 2, "action_type": "discrete"},
	}


func set_action(action: Dictionary) -> void:
	move = action["move"][0]
	jump = int(action["jump"])


func _on_coin_body_entered(other: Node2D) -> void:
	if other == body:
		reward += 1.0
		_place_coin()


func _place_coin() -> void:
	coin.position = Vector2(randf_range(-WIDTH, WIDTH), 60)
