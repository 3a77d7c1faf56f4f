@icon("res://addons/godojo/icons/dojo_model.svg")
class_name DojoModel
extends Resource
## The network and the algorithm that learn a game, declared by its scene: nothing has to be edited
## in Python.
##
## Set it as [member DojoSync.model] for all agents, or as [member DojoAgent.model] for those with
## one [member DojoAgent.policy_name]. Names and meanings are those of Stable-Baselines3. A property
## that keeps its default is the trainer's choice. The trainer's command line and configuration file
## win over the scene.

enum Algorithm {
	## Proximal policy optimisation: learns from what it has just played.
	PPO,
	## Soft actor-critic: keeps what it played and learns from that again and again. For continuous
	## actions.
	SAC,
}

## The algorithm; all agents of a scene learn by the same.
@export var algorithm: Algorithm = Algorithm.PPO
## Samples per gradient step; 0: the trainer's choice.
@export_range(0, 65536, 1, "or_greater") var batch_size: int = 0
## Step size of the optimiser; 0: the trainer's choice. Constant unless
## [member final_learning_rate] is set.
@export_range(0.0, 0.01, 0.00001, "or_greater") var learning_rate: float = 0.0
## The learning rate decays linearly to this value; 0: it is constant.
@export_range(0.0, 0.01, 0.00001, "or_greater") var final_learning_rate: float = 0.0
## Discount of a reward that is one decision later; 0: the trainer's choice.
@export_range(0.0, 1.0, 0.0001) var gamma: float = 0.0
## Weight of the entropy, which keeps the policy exploring (SAC: at the start); -1: the trainer's
## choice.
@export_range(-1.0, 1.0, 0.0001) var ent_coef: float = -1.0
## Gradients are clipped to this norm; 0: the trainer's choice.
@export_range(0.0, 10.0, 0.01, "or_greater") var max_grad_norm: float = 0.0

@export_group("Network")
## Widths of the hidden layers, from the observation on; empty: the trainer's choice.
@export var net_arch: PackedInt32Array = PackedInt32Array()
## What follows each hidden layer.
@export_enum("default", "relu", "tanh", "silu") var activation_fn: String = "default"
## Output channels of the convolutions that images go through; empty: the trainer's choice.
@export var cnn_channels: PackedInt32Array = PackedInt32Array()
## Recurrent memory (PPO): leaky cells or a gated recurrent unit.
@export_enum("default", "none", "leaky", "gru") var memory: String = "default"
## Number of memory cells; 0: the trainer's choice.
@export_range(0, 256, 1, "or_greater") var memory_size: int = 0

@export_group("PPO")
## Decisions in each world between two updates, for all agents; 0: the trainer's choice.
@export_range(0, 4096, 1, "or_greater") var n_steps: int = 0
## Passes over each rollout; 0: the trainer's choice.
@export_range(0, 50, 1, "or_greater") var n_epochs: int = 0
## Bias against variance of the advantages; -1: the trainer's choice.
@export_range(-1.0, 1.0, 0.001) var gae_lambda: float = -1.0
## How far one update may change the probability of an action; 0: the trainer's choice.
@export_range(0.0, 1.0, 0.01) var clip_range: float = 0.0
## Weight of the value loss; -1: the trainer's choice.
@export_range(-1.0, 10.0, 0.01) var vf_coef: float = -1.0

@export_group("SAC")
## Transitions kept to learn from again; 0: the trainer's choice.
@export_range(0, 10_000_000, 1, "or_greater") var buffer_size: int = 0
## Transitions to collect before the first update; 0: the trainer's choice.
@export_range(0, 1_000_000, 1, "or_greater") var learning_starts: int = 0
## How far the target critics follow with each gradient step; 0: the trainer's choice.
@export_range(0.0, 1.0, 0.0001) var tau: float = 0.0
## Decisions in each world between two updates, for all agents; 0: the trainer's choice.
@export_range(0, 1024, 1, "or_greater") var train_freq: int = 0
## Gradient steps of an update; 0: the trainer's choice.
@export_range(0, 1024, 1, "or_greater") var gradient_steps: int = 0


## The declaration for the trainer: the algorithm, and all properties that differ from their
## defaults.
func describe() -> Dictionary:
	var declared: Dictionary = {}
	var untouched: Resource = (get_script() as GDScript).new()
	for name: String in declared_properties():
		var value: Variant = get(name)
		if value != untouched.get(name):
			declared[name] = (
				Array(value as PackedInt32Array) if value is PackedInt32Array else value
			)
	var key: Variant = Algorithm.find_key(algorithm)
	declared["algorithm"] = str(algorithm) if key == null else (key as String).to_lower()
	return declared


## The names of all properties that can be declared.
func declared_properties() -> PackedStringArray:
	var names: PackedStringArray = []
	var exported: int = PROPERTY_USAGE_SCRIPT_VARIABLE | PROPERTY_USAGE_STORAGE
	for property in get_property_list():
		if (property["usage"] as int & exported) == exported:
			names.append(property["name"] as String)
	return names
