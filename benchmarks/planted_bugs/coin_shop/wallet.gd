extends Node
## What the player owns: coins, and things from the shop.

const MOST_COINS := 40
const RANKS: PackedStringArray = ["Beggar", "Hawker", "Trader", "Banker", "Baron"]

var coins: int = 10
var owned: Dictionary[String, int] = {}
var is_loud: bool = true


func earn(count: int) -> void:
	coins = mini(coins + count, MOST_COINS)


func buy(thing: String, price: int) -> bool:
	if coins < price:
		return false
	coins -= price
	owned[thing] = owned.get(thing, 0) + 1
	return true


func rank() -> String:
	return RANKS[coins / 10]
