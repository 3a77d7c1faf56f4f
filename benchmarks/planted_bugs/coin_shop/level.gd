extends Node2D
## Five coins; the door on the right leads back to the menu when all are taken.

var _left: int = 0


func _ready() -> void:
	for coin: Area2D in $Coins.get_children():
		_left += 1
		coin.body_entered.connect(_take.bind(coin).unbind(1))
	$Door.body_entered.connect(_leave.unbind(1))


func _take(coin: Area2D) -> void:
	_left -= 1
	Wallet.earn(1)
	coin.queue_free()
	$Text.text = "%d coins, %d left" % [Wallet.coins, _left]


func _leave() -> void:
	if _left <= 0:
		get_tree().change_scene_to_file.call_deferred("res://menu.tscn")
