extends Controller
## Crosses five lanes of traffic, one at a time: wait, ahead or back. A car ends the episode, as
## does the far side.

const LANES := 5
const WIDTH := 9

var lane := 0
var cars: Array[float] = []
var speeds: Array[float] = []
var step := 0


func begin() -> void:
	lane = 0
	step = 0
	cars.clear()
	speeds.clear()
	for index in LANES:
		cars.append(randf() * WIDTH)
		speeds.append(randf_range(1.5, 4.0) * (1.0 if index % 2 else -1.0))


func play(delta: float) -> void:
	for index in LANES:
		cars[index] = fposmod(cars[index] + speeds[index] * delta, WIDTH)
	if lane > LANES:
		reward += 2.0
		finish(true)
	elif lane > 0 and absf(cars[lane - 1] - WIDTH / 2.0) < 0.9:
		reward -= 1.0
		finish(false)


func get_obs() -> Dictionary:
	var seen := [float(lane) / LANES]
	for ahead in 2:
		var index := lane - 1 + ahead
		var is_road := index >= 0 and index < LANES
		seen.append((cars[index] - WIDTH / 2.0) / WIDTH if is_road else 1.0)
		seen.append(speeds[index] / 4.0 if is_road else 0.0)
	return {"obs": seen}


func get_action_space() -> Dictionary:
	return {"step": {"size": 3, "action_type": "discrete"}}


func set_action(action: Dictionary) -> void:
	step = int(action["step"])
	if step == 1:
		lane += 1
		reward += 0.1
	elif step == 2 and lane > 0:
		lane -= 1
		reward -= 0.1
