extends EngineTest
## The rules of crowd: who is seen, and what being close or in contact is worth.

var room: CrowdRoom


func test_the_nearest_three_are_seen() -> void:
	_begin(8)
	_stand([0, 1, 2, 3, 4, 4.7, 5.3, -5])
	var seen: PackedFloat32Array = room.agents[0].observe()
	check_equal(seen.size(), 12, "numbers")
	for index in 3:
		check_near(seen[3 + 3 * index], (index + 1) / 20.0, 1e-6, "dx of the %d. other" % index)
		check_near(seen[5 + 3 * index], (index + 1) / 20.0, 1e-6, "distance")
	check_near(room.agents[2].observe()[0], 0.2, 1e-6, "its own place")


func test_missing_others_are_zero() -> void:
	_begin(2)
	_stand([0, 2])
	var seen: PackedFloat32Array = room.agents[0].observe()
	check_equal(seen.slice(6), PackedFloat32Array([0, 0, 0, 0, 0, 0]), "second and third")
	check_near(seen[3], 0.1, 1e-6, "the first is there")


func test_being_close_is_worth_most_from_a_metre_on() -> void:
	_begin(4)
	_stand([0, 0.8, 2, 4])
	check_near(_reward(0), (0.1 + 0.05 + 0.025) / 3.0, 1e-5, "mean of the three")
	check_equal(room.agents[0].collisions, 0, "nobody touches")


func test_contact_costs_and_counts_once() -> void:
	_begin(3)
	for agent in room.agents:
		agent.reward = "adversarial"
	_stand([0, 0.6, 4])
	check_near(_reward(0), -1.0, 1e-6, "one who touches")
	check_near(_reward(2), 0.0, 1e-6, "one who does not")
	for gap_m: float in [0.6, 0.9, 0.6]:
		_stand([0, gap_m, 4])
		room._physics_process(0.0)
	check_equal(room.agents[1].collisions, 1, "collisions")
	check_near(room.agents[0].measures()["collisions_per_minute"] as float, 1080, 1, "in 5 ticks")
	for gap_m: float in [1.1, 0.6]:
		_stand([0, gap_m, 4])
		room._physics_process(0.0)
	check_equal(room.agents[1].collisions, 2, "after they were apart")


func _begin(count: int) -> void:
	room = (load("res://games/crowd/crowd_room.tscn") as PackedScene).instantiate()
	for number in range(count + 1, 9):
		room.get_node("Walker%d" % number).free()
	add_child(room)
	room.set_physics_process(false)
	room.reset_world(RandomNumberGenerator.new())
	for agent in room.agents:
		agent.set_physics_process(false)
		agent.begin_round()


func _stand(at_x: Array) -> void:
	for index in room.walkers.size():
		room.walkers[index].place(Vector3(at_x[index] as float, 0.0, 0.0), 0.0)


func _reward(index: int) -> float:
	room._physics_process(0.0)
	var sum: float = 0.0
	for term in room.agents[index].current.take_reward():
		sum += term
	for agent in room.agents:
		agent.current.take_reward()
	return sum
