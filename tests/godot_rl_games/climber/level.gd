extends Node3D

@export var coin_spread := 3.0

var goal_height = 0.5

@onready var player = $Player
@onready var goal: Area3D = $Goal
@onready var coins = $Coins.get_children()
@onready var spots: Array[Node] = $Spots.get_children()


func _ready():
	for pad in get_tree().get_nodes_in_group("pads"):
		if is_ancestor_of(pad):
			pad.body_entered.connect(pad.launch)


# A new episode: the goal on another platform, coins somewhere else.
func restart():
	var spot = spots[randi_range(0, spots.size() - 1)]
	goal.position = spot.position + Vector3(0, goal_height, 0)
	for coin in coins:
		coin.place(Vector3(randf_range(-1, 1), 0, randf_range(-1, 1)) * coin_spread)


## The nearest coin that is left, or the goal.
func next_coin():
	var nearest = goal
	var least = INF
	for coin in coins:
		if coin.taken:
			continue
		var distance = coin.global_position.distance_squared_to(player.global_position)
		if distance < least:
			least = distance
			nearest = coin
	return nearest


func _on_goal_body_entered(body):
	if body == player:
		player.reach_goal()


func _on_lava_body_entered(body):
	if body is Player and body == player:
		body.touch_hazard()
