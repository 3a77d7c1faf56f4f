extends EngineTest
## The rules of locomotion: motion, comfort and the reward of each tick.

const TICK_S := 1.0 / 90.0

var room: LocomotionRoom
var walker: VrWalker
var agent: LocomotionAgent


func test_snap_turns_are_thirty_degrees_and_repeat_slowly() -> void:
	await _begin()
	walker.want(0.0, 0.0, 0.6, 0.0)
	walker.step(TICK_S)
	check_near(rad_to_deg(walker.yaw_rad), -30.0, 0.001, "after a tick")
	for _tick in 23:
		walker.step(TICK_S)
	check_near(rad_to_deg(walker.yaw_rad), -60.0, 0.001, "after a quarter of a second")
	walker.want(0.0, 0.0, 0.5, 0.0)
	walker.step(TICK_S)
	check_equal(walker.snap_turns, 2, "the stick is not pushed far enough")
	check_equal(walker.comfort_activations, 0, "snap turns are comfortable")


func test_walking_is_relative_to_the_heading() -> void:
	await _begin()
	walker.place(Vector3.ZERO, PI / 2.0)
	walker.want(0.0, -0.5, 0.0, 0.0)
	for _tick in 90:
		walker.step(TICK_S)
	check_near(walker.position.x, -1.5, 0.001, "half of 3 m/s to the left")
	check_near(walker.position.z, 0.0, 0.001, "not ahead")
	check_equal([walker.collisions, walker.comfort_activations], [0, 0], "collisions, comfort")


func test_teleports_end_before_something_solid() -> void:
	await _begin()
	walker.want(0.0, 0.0, 0.0, 0.6)
	walker.step(TICK_S)
	check_near(walker.position.z, -3.0, 0.01, "3 m ahead")
	walker.place(Vector3(0.0, 0.0, -10.0), 0.0)
	walker.want(0.0, 0.0, 0.0, 0.6)
	walker.step(TICK_S)
	check(walker.position.z > -11.7 and walker.position.z < -11.2, "at %s" % walker.position)
	check_equal(walker.collisions, 0, "a teleport does not collide")


func test_a_wall_is_one_collision() -> void:
	await _begin()
	walker.place(Vector3(0.0, 0.0, -11.0), 0.0)
	walker.want(0.0, -0.5, 0.0, 0.0)
	for _tick in 90:
		walker.step(TICK_S)
	check_equal(walker.collisions, 1, "collisions")
	check(walker.position.z > -11.75, "the wall holds: %s" % walker.position)


func test_haste_activates_the_vignette() -> void:
	await _begin()
	for action: Array in [[1.0, 0.0], [0.0, 1.0]]:
		walker.place(Vector3.ZERO, 0.0)
		walker.want(0.0, action[0] as float, action[1] as float, 0.0)
		walker.step(TICK_S)
		check(walker.is_vignette_active(), "%s" % [action])
		walker.want(0.0, 0.8, 0.8, 0.0)
		for _tick in 90:
			walker.step(TICK_S)
		check(not walker.is_vignette_active(), "it opens again")
		check_equal(walker.comfort_activations, 1, "activations")


func test_rewards_are_those_of_the_specification() -> void:
	await _begin()
	room.waypoint.position = Vector3(0.0, 0.0, 4.0)
	check_near(_reward(), 0.01 + 0.1 / 4.0, 1e-5, "a tick far away")
	walker.place(Vector3(0.0, 0.0, -11.6), 0.0)
	room.waypoint.position = Vector3(0.0, 0.0, 0.0)
	check_near(_reward(), 0.01 + 0.1 / 11.6 - 1.0, 1e-5, "the wall is nearer than half a metre")
	walker.place(Vector3.ZERO, 0.0)
	room.waypoint.position = Vector3(0.0, 0.0, 10.0)
	walker.want(0.0, 0.0, 1.0, 0.0)
	check_near(_reward(), 0.01 + 0.1 / 10.0 - 0.1 - 0.5, 1e-5, "a hard turn, with its vignette")
	walker.place(Vector3.ZERO, 0.0)
	room.waypoint.position = Vector3(0.0, 0.0, 0.9)
	check_near(_reward(), 0.01 + 10.0, 1e-5, "the waypoint")
	check(agent.is_over() and agent.current.has_won, "and the round is won")


func test_shaping_counts_what_is_ahead() -> void:
	await _begin()
	agent.progress_reward = 100.0
	for way: float in [-5.0, 5.0]:
		for back: float in [-0.5, 0.5]:
			walker.place(Vector3.ZERO, 0.0)
			room.waypoint.position = Vector3(0.0, 0.0, way)
			agent._distance_m = 5.0
			walker.want(0.0, back, 0.0, 0.0)
			agent._physics_process(TICK_S)
			var progress: float = agent.current.take_reward()[7]
			var wanted: float = 0.0 if way > 0.0 and back > 0.0 else signf(way * back) * 1.5 / 0.9
			check_near(progress, wanted, 0.01, "waypoint at %s, walking %s" % [way, back])


func test_a_round_ends_after_a_minute() -> void:
	await _begin()
	room.waypoint.position = Vector3(0.0, 0.0, 8.0)
	for _tick in LocomotionAgent.LIMIT_TICKS - 1:
		agent._physics_process(TICK_S)
	check(not agent.is_over(), "5,399 ticks")
	agent.current.take_reward()
	check_near(_reward(), 0.01 + 0.1 / 8.0 - 5.0, 1e-5, "time is over")
	check(agent.is_over() and not agent.measures()["reached"], "and so is the round")


func _begin() -> void:
	room = (load("res://games/locomotion/room.tscn") as PackedScene).instantiate()
	add_child(room)
	walker = room.get_node("Walker")
	agent = walker.get_node("Agent")
	agent.set_physics_process(false)
	await ticks(2)
	room.reset_world(agent.chance)
	agent.begin_round()
	for obstacle: Node3D in room.get_node("Obstacles").get_children():
		obstacle.position = Vector3(11.0, 30.0, 11.0)
		obstacle.force_update_transform()
	walker.place(Vector3.ZERO, 0.0)


func _reward() -> float:
	agent._physics_process(TICK_S)
	var sum: float = 0.0
	for term in agent.current.take_reward():
		sum += term
	return sum
