@tool
class_name DojoActionSampler
extends RefCounted
## Makes actions of the output of a policy's head: deterministic or stochastic ones.

## Numbers of an action; a discrete one is one number, its index.
var width: int = 0

# Of each action part: how many choices there are, 0 for numbers; and how many numbers.
var _choices := PackedInt32Array()
var _sizes := PackedInt32Array()
var _numbers: int = 0
var _is_squashed: bool
# The log standard deviation of each continuous action; for a squashed policy its limits.
var _log_std: PackedFloat32Array


## For these parts. [param log_std] has one for each continuous action, or two limits if squashed.
func _init(parts: Array[Dictionary], is_squashed: bool, log_std: PackedFloat32Array) -> void:
	_is_squashed = is_squashed
	_log_std = log_std
	for part in parts:
		var size: int = part["size"]
		var is_choice: bool = part["kind"] == "discrete"
		_choices.append(size if is_choice else 0)
		_sizes.append(0 if is_choice else size)
		_numbers += 0 if is_choice else size
		width += 1 if is_choice else size


## An action from the outputs at [param start]: stochastic with [param chance], else deterministic.
func sample(
	outputs: PackedFloat32Array, start: int, chance: RandomNumberGenerator
) -> PackedFloat32Array:
	var action := PackedFloat32Array()
	var number: int = start
	var logit: int = start + _numbers
	for part in _sizes.size():
		for _number in _sizes[part]:
			action.append(_chosen_number(outputs, number, number - start, chance))
			number += 1
		if _choices[part] > 0:
			var logits: PackedFloat32Array = outputs.slice(logit, logit + _choices[part])
			action.append(_best(logits) if chance == null else _drawn(logits, chance))
			logit += _choices[part]
	return action


## Clips the continuous numbers of [param action] to -1 and 1. NaN becomes 0.
func clip(action: PackedFloat32Array) -> void:
	var place: int = 0
	for part in _sizes.size():
		for _number in _sizes[part]:
			var value: float = action[place]
			action[place] = clampf(value, -1.0, 1.0) if is_finite(value) else 0.0
			place += 1
		if _choices[part] > 0:
			place += 1


func _chosen_number(
	outputs: PackedFloat32Array, at: int, index: int, chance: RandomNumberGenerator
) -> float:
	var value: float = outputs[at]
	if chance != null:
		var log_std: float = (
			clampf(outputs[at + _numbers], _log_std[0], _log_std[1])
			if _is_squashed
			else _log_std[index]
		)
		value += exp(log_std) * chance.randfn()
	return tanh(value) if _is_squashed else value


static func _best(logits: PackedFloat32Array) -> int:
	var best: int = 0
	for index in logits.size():
		if logits[index] > logits[best]:
			best = index
	return best


static func _drawn(logits: PackedFloat32Array, chance: RandomNumberGenerator) -> int:
	var most: float = logits[_best(logits)]
	var weights := PackedFloat32Array()
	for logit in logits:
		weights.append(exp(logit - most))
	return maxi(chance.rand_weighted(weights), 0)
