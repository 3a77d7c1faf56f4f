class_name DojoOverlay
extends CanvasLayer
## Shows what one agent sees, what it does and which policy plays it, on top of the game.
##
## [DojoSync] opens it with a key; a game without one gives it [member views] and adds it to its
## tree.

## Gives what is to be shown, one [DojoView] for each agent; asked in every frame that is drawn.
var views: Callable
## Which of them is shown.
var shown: int = 0

var _sheet := DojoOverlaySheet.new()


func _ready() -> void:
	layer = 100
	_sheet.mouse_filter = Control.MOUSE_FILTER_IGNORE
	add_child(_sheet)


func _process(_delta: float) -> void:
	if not visible:
		return
	var all: Array[DojoView] = views.call()
	if all.is_empty():
		_sheet.view = null
	else:
		shown = posmod(shown, all.size())
		_sheet.view = all[shown]
		_sheet.place = "%d of %d" % [shown + 1, all.size()]
	_sheet.queue_redraw()


## Shows the next agent.
func show_next() -> void:
	shown += 1
