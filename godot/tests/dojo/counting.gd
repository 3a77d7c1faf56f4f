extends Node
## Counting worlds; a word after [code]--[/code] is the port on which to look for a trainer by hand.


func _enter_tree() -> void:
	var sync: DojoSync = $DojoSync
	DojoConnector.pause_s = 0.05
	for word in OS.get_cmdline_user_args():
		sync.port = word.to_int()
