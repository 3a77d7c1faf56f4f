class_name MovementLog
extends RefCounted
## Keeps how a pilot has moved for two seconds, and names the pattern.
##
## | course | |
## |---|---|
## | still | slower than 1 m/s on average |
## | straight | at least 0.9 of the way leads away from where it began |
## | erratic | turns more than 6 rad/s on average |
## | circling | turns, nearly always to the same side, by half a circle or more |
## | zig-zag | any other |
##
## with a band of speed (below 5, 5 to 15, above 15 m/s) and the farthest teleport, if there was one
## (within or beyond 100 m).

const TICKS := 180
const FAR_M := 100.0
const _STILL_MPS := 1.0
const _STRAIGHT := 0.9
const _ERRATIC_RADPS := 6.0
const _ONE_SIDED := 0.7

var _velocities: PackedVector2Array = []
var _teleports_m: PackedFloat32Array = []
var _at: int = 0


func clear() -> void:
	_velocities.clear()
	_teleports_m.clear()
	_at = 0


## Notes one tick.
func note(velocity: Vector2, teleport_m: float) -> void:
	if _velocities.size() < TICKS:
		_velocities.append(velocity)
		_teleports_m.append(teleport_m)
		return
	_velocities[_at] = velocity
	_teleports_m[_at] = teleport_m
	_at = (_at + 1) % TICKS


func pattern() -> String:
	var speed_mps: float = 0.0
	var net := Vector2.ZERO
	var turned: float = 0.0
	var turned_one_way: float = 0.0
	var before := Vector2.ZERO
	var farthest_m: float = 0.0
	var count: int = _velocities.size()
	for index in count:
		var velocity: Vector2 = _velocities[(_at + index) % count]
		net += velocity / count
		speed_mps += velocity.length() / count
		farthest_m = maxf(farthest_m, _teleports_m[index])
		if velocity.length() > _STILL_MPS:
			if before != Vector2.ZERO:
				var turn: float = before.angle_to(velocity)
				turned += absf(turn)
				turned_one_way += turn
			before = velocity
	var text: String = _course(speed_mps, net.length(), turned, absf(turned_one_way), count)
	if farthest_m > 0.0:
		text += ", teleport " + ("beyond 100 m" if farthest_m > FAR_M else "within 100 m")
	return text


static func _course(
	speed_mps: float, net_mps: float, turned: float, turned_one_way: float, count: int
) -> String:
	if speed_mps < _STILL_MPS:
		return "standing still"
	var course: String = "zig-zag"
	if net_mps > _STRAIGHT * speed_mps:
		course = "straight"
	elif turned * VoxelTerrain.TICKS_PER_S > _ERRATIC_RADPS * count:
		course = "erratic"
	elif turned_one_way > PI and turned_one_way > _ONE_SIDED * turned:
		course = "circling"
	if speed_mps > 15.0:
		return course + " above 15 m/s"
	return course + (" below 5 m/s" if speed_mps < 5.0 else " at 5 to 15 m/s")
