class_name Gallery
extends Node3D
## A shooting gallery: whatever stands in it, and every bolt, is made and freed while the game runs.

const BOLT = preload("res://bolt.tscn")

var things := [preload("res://crate.tscn"), preload("res://mine.tscn")]
var hits := 0
var shots := 0
var last_hit = null
var can_shoot := true

@onready var gunner = $Gunner
@onready var shelf = $Shelf
@onready var controller = $Gunner/GalleryController


func _ready():
	controller.init(self)
	begin()


func begin():
	for thing in shelf.get_children():
		thing.queue_free()
	for i in 4:
		var thing = things.pick_random().instantiate()
		thing.position = Vector3(randf_range(-4, 4), 0.5, randf_range(-4, 4))
		shelf.add_child(thing)
	gunner.position = Vector3(0, 0.5, 0)
	hits = 0


func shoot():
	if not can_shoot:
		return
	var bolt = BOLT.instantiate()
	gunner.add_child(bolt)
	bolt.set_as_top_level(true)
	bolt.shooter = self
	bolt.global_position = gunner.global_position + gunner.basis.z * 0.8
	bolt.velocity = gunner.basis.z * bolt.speed
	shots += 1
	$Gunner/Flash.emitting = true
	can_shoot = false
	await get_tree().create_timer(0.15).timeout
	can_shoot = true


func hit(thing):
	hits += 1
	last_hit = thing
	controller.reward += thing.worth
	if hits == 3:
		var late = things[1].instantiate()
		late.position = Vector3(0, 0.5, 3)
		shelf.add_child(late)


func _physics_process(_delta):
	if controller.needs_reset or shelf.get_child_count() == 0:
		controller.done = true
		begin()
		controller.reset()
	gunner.rotation.y += controller.turn * 0.1
	gunner.velocity = gunner.basis.z * controller.ahead * 4.0
	gunner.move_and_slide()
	if controller.fires:
		shoot()
