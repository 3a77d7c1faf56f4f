extends Node
## Brings the probe into an exported game: mounts a pack with the addon, where the game has none.
##
## It lies outside of the game and names no class of the addon, which is not known before.

const PROBE := "res://addons/godojo/hunt/dojo_probe.gd"


func _enter_tree() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	var pack: String = OS.get_environment("GODOJO_HUNT_PACK")
	if not ResourceLoader.exists(PROBE) and not ProjectSettings.load_resource_pack(pack):
		printerr("Godojo: the probe cannot be mounted from %s" % pack)
		get_tree().quit(1)
		return
	var probe: Node = (load(PROBE) as GDScript).new()
	probe.name = "Probe"
	add_child(probe)
