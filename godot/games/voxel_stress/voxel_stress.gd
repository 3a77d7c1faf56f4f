extends Node3D
## A pilot over voxel terrain: shows the budgets and what broke them. WASD, Shift, Space; Esc quits.

const _LINES := 8

## Words of [code]take_picture.gd[/code].
var arguments: PackedStringArray = []

@onready var _sync: DojoSync = $DojoSync
@onready var _terrain: VoxelTerrain = $VoxelTerrain
@onready var _pilot: VoxelPilot = $Rig/VoxelPilot
@onready var _budgets: Label = %Budgets
@onready var _findings: Label = %Findings


func _ready() -> void:
	_pilot.autopilot = _pilot.autopilot or "--autopilot" in arguments
	_terrain.waits_for_jobs = DisplayServer.get_name() == "headless" or _sync.is_launched()


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _process(_delta: float) -> void:
	_budgets.text = _pilot.budget_text()
	var lines := PackedStringArray()
	for text in _pilot.findings.found:
		lines.append("%s (%d)" % [text, _pilot.findings.found[text]["events"]])
	_findings.text = "\n".join(lines.slice(-_LINES))
