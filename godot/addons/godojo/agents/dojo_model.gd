@icon("res://addons/godojo/icons/dojo_model.svg")
class_name DojoModel
extends Resource
## What should learn a game, declared by its scene: the trainer builds it, and nothing has to be
## edited in Python.
##
## A number left at zero, or a list left empty, is the trainer's choice.

enum Algorithm {
	## Proximal policy optimisation: learns from what it has just played.
	PPO,
	## Soft actor-critic: keeps what it played and learns from that again and again.
	SAC,
}

const _ALGORITHMS: Dictionary[Algorithm, String] = {Algorithm.PPO: "ppo", Algorithm.SAC: "sac"}

## The way of learning.
@export var algorithm: Algorithm = Algorithm.PPO
## Neurons of each hidden layer, from the observation on.
@export var hidden_sizes: PackedInt32Array = PackedInt32Array([64, 64])
## What follows each hidden layer.
@export_enum("tanh", "relu", "silu") var activation: String = "tanh"
## Step size of learning.
@export_range(0.0, 0.01, 0.00001) var learning_rate: float = 0.0
## What a reward is still worth one decision later.
@export_range(0.0, 1.0, 0.0001) var discount: float = 0.0
## Decisions that are learned from at once.
@export_range(0, 1_000_000, 1, "or_greater") var batch_size: int = 0
## Decisions kept to learn from again (SAC).
@export_range(0, 10_000_000, 1, "or_greater") var replay_size: int = 0


## The wishes that the trainer receives; unset ones are left out.
func describe() -> Dictionary:
	var wishes: Dictionary = {
		"algorithm": _ALGORITHMS[algorithm],
		"hidden_sizes": Array(hidden_sizes),
		"activation": activation,
		"learning_rate": learning_rate,
		"discount": discount,
		"batch_size": batch_size,
		"replay_size": replay_size,
	}
	for key: String in wishes.keys():
		if not wishes[key]:
			wishes.erase(key)
	return wishes
