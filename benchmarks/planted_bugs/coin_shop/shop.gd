extends Control
## Things to buy, and the rank that the rest of the coins gives.

const PRICES: Dictionary[String, int] = {"Hat": 3, "Boots": 6, "Map": 9}


func _ready() -> void:
	for thing: String in PRICES:
		var button: Button = get_node(thing)
		button.pressed.connect(_buy.bind(thing))
	$Back.pressed.connect(get_tree().change_scene_to_file.bind("res://menu.tscn"))
	$Hat.grab_focus()
	_show("Welcome")


func _buy(thing: String) -> void:
	if Wallet.buy(thing, PRICES[thing]):
		_show("%s: you have %d now" % [thing, Wallet.owned[thing]])
	else:
		_show("%s costs %d" % [thing, PRICES[thing]])


func _show(text: String) -> void:
	$Text.text = "%s. %d coins, %s" % [text, Wallet.coins, Wallet.rank()]
