extends Controller
## Drives round a wavy course as fast as it can: a wheel to turn, and brake or throttle. Leaving
## the road ends the episode.

const RADIUS := 30.0
const HALF_WIDTH := 3.0
const TOP := 15.0

var angle := 0.0
var place := Vector2.ZERO
var heading := 0.0
var speed := 0.0
var steer := 0.0
var pedal := 0


func begin() -> void:
	angle = randf() * TAU
	place = _road(angle)
	heading = (_road(angle + 0.01) - place).angle()
	speed = 3.0


func play(delta: float) -> void:
	speed = clampf(speed + (5.0 if pedal else -6.0) * delta, 0.0, TOP)
	heading += steer * delta * minf(speed, 8.0) * 0.3
	place += Vector2.from_angle(heading) * speed * delta
	var before := angle
	angle = place.angle()
	reward += clampf(wrapf(angle - before, -PI, PI), -0.1, 0.1) * 2.0
	if absf(place.length() - _radius(angle)) > HALF_WIDTH:
		reward -= 1.0
		finish(false)


func get_obs() -> Dictionary:
	var seen := [(place.length() - _radius(angle)) / HALF_WIDTH, speed / TOP]
	for ahead: float in [0.1, 0.25, 0.5]:
		var turn := wrapf((_road(angle + ahead) - place).angle() - heading, -PI, PI)
		seen.append(turn)
	return {"obs": seen}


func get_action_space() -> Dictionary:
	return {
		"steer": {"size": 1, "action_type": "continuous"},
		"pedal": {"size": 2, "action_type": "discrete"},
	}


func set_action(action: Dictionary) -> void:
	steer = clampf(action["steer"][0], -1.0, 1.0)
	pedal = int(action["pedal"])


func _radius(at: float) -> float:
	return RADIUS + 6.0 * sin(3.0 * at)


func _road(at: float) -> Vector2:
	return Vector2.from_angle(at) * _radius(at)
