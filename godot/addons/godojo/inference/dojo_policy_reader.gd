@tool
class_name DojoPolicyReader
extends RefCounted
## Reads the bytes of a [code].dojo[/code] file, which come from outside: everything is checked
## before it is used. docs/dojo-file.md describes the format.

## Most bytes of a file.
const MAX_BYTES := 64 << 20

# Longest path that is repeated in a complaint.
const _MOST_LETTERS := 300
const _MAGIC := "DOJO"
const _VERSION := 3
const _PROLOGUE := 48
const _MAX_HEADER_BYTES := 1 << 20
const _NOT_OURS := "it is no policy file: it does not begin with DOJO"
const _OTHER_VERSION := "it has version %d, and this addon knows up to version %d; %s"
const _CURE := "update the addon, or export it again"

var _bytes: PackedByteArray
var _at: int
var _header: DojoPolicyHeader
# Widths of what the next layer takes, each of which begins at a vector of its own.
var _fed: PackedInt32Array


## The policy in this file, in the project, in an exported pack or anywhere else.
static func load_file(path: String) -> DojoPolicy:
	var file: FileAccess = FileAccess.open(path, FileAccess.READ)
	var quoted: String = DojoUntrustedText.quoted(path, _MOST_LETTERS)
	if file == null:
		var refused := DojoPolicy.new()
		refused.error = (
			"%s cannot be read (%s)" % [quoted, error_string(FileAccess.get_open_error())]
		)
		return refused
	var policy: DojoPolicy
	if file.get_length() > MAX_BYTES:
		policy = DojoPolicy.new()
		policy.error = "it has more than %d MiB" % (MAX_BYTES >> 20)
	else:
		policy = read(file.get_buffer(file.get_length()))
	if not policy.error.is_empty():
		policy.error = "%s: %s" % [quoted, policy.error]
	policy.resource_name = path.get_file().get_basename()
	return policy


## The policy in [param bytes]; its [member DojoPolicy.error] says what is wrong with them.
static func read(bytes: PackedByteArray) -> DojoPolicy:
	var reader := new()
	reader._bytes = bytes
	var policy := DojoPolicy.new()
	policy.error = reader._complaint()
	if policy.error.is_empty():
		reader._fill(policy)
	return policy


func _complaint() -> String:
	if _bytes.slice(0, 4) != _MAGIC.to_ascii_buffer():
		return _NOT_OURS
	if _bytes.size() < _PROLOGUE:
		return "it is cut off in its first bytes"
	var version: int = _bytes.decode_u16(4)
	if version < 1 or version > _VERSION or _bytes.decode_u16(6) != 0:
		return _OTHER_VERSION % [version, _VERSION, _CURE]
	var complaint: String = _complaint_about_length()
	return complaint if complaint else _complaint_about_content()


func _complaint_about_length() -> String:
	var header_bytes: int = _bytes.decode_u32(8)
	var weight_bytes: int = _bytes.decode_u32(12)
	if header_bytes > _MAX_HEADER_BYTES or header_bytes % 4 != 0:
		return "its header claims %d bytes" % header_bytes
	var claimed: int = _PROLOGUE + header_bytes + weight_bytes
	if claimed != _bytes.size():
		var what: String = "cut off" if _bytes.size() < claimed else "longer than it says"
		return "it is %s: %d bytes, and %d were written" % [what, _bytes.size(), claimed]
	return ""


func _complaint_about_content() -> String:
	var header_bytes: int = _bytes.decode_u32(8)
	var weight_bytes: int = _bytes.decode_u32(12)
	if _digest(_bytes.slice(_PROLOGUE)) != _bytes.slice(16, _PROLOGUE):
		return "it is damaged: its checksum does not fit its content; copy it again, or export it again"
	_header = DojoPolicyHeader.read(
		_bytes.slice(_PROLOGUE, _PROLOGUE + header_bytes), _bytes.decode_u16(4)
	)
	if not _header.error.is_empty():
		return _header.error
	if _header.weights() * 4 != weight_bytes:
		return (
			"it has %d bytes of weights, and its layers need %d"
			% [weight_bytes, _header.weights() * 4]
		)
	_at = _PROLOGUE + header_bytes
	return _complaint_about_weights()


func _complaint_about_weights() -> String:
	var numbers: PackedFloat32Array = _bytes.slice(_at).to_float32_array()
	for number in numbers:
		if not is_finite(number):
			return "it holds weights that are not numbers"
	for place in _header.observation_size:
		if numbers[place] <= 0.0:
			return "it holds a scale of observations that is not above 0"
	return ""


func _fill(policy: DojoPolicy) -> void:
	policy.game = _header.game
	policy.role = _header.role
	policy.observation_parts = _header.observation_parts
	policy.action_parts = _header.action_parts
	policy.memory_size = _header.memory_size
	policy.agent_steps = _header.agent_steps
	policy.settings = _header.settings
	policy.net = DojoNet.new()
	var size: int = _header.observation_size
	policy.net.normalise(_take(size), _take(size), _header.normalised_limit)
	_fed = [size]
	if not _header.images.is_empty():
		policy.net.cnn = _cnn()
		_fed = policy.net.cnn.widths()
	for layer in _header.layers:
		_add_layer(policy.net, layer)
	var log_std: PackedFloat32Array = _header.log_std_limits
	if not _header.is_squashed:
		log_std = _take(_header.numbers())
	policy.sampler = DojoActionSampler.new(policy.action_parts, _header.is_squashed, log_std)
	if not _header.heading.is_empty():
		policy.frame = DojoHeadingFrame.new(_header.heading)


func _add_layer(net: DojoNet, layer: DojoPolicyLayer) -> void:
	var wide: int = layer.outputs
	var ins: PackedInt32Array = _fed
	match layer.name:
		"encoder":
			net.encoder.append(_linear([wide], ins))
			_fed = [wide]
		"memory":
			if layer.kind == "leaky":
				net.memory = DojoMemory.new(wide, _linear([wide, wide], ins))
			else:
				var rows: PackedInt32Array = [wide, wide, wide]
				var seen: DojoLinear = _linear(rows, ins)
				net.memory = DojoMemory.new(wide, seen, _linear(rows, [wide]))
		"trunk":
			if _header.memory_size > 0:
				ins = ins + PackedInt32Array([_header.memory_size])
			net.trunk = _linear([wide], ins)
			net.activation = layer.kind
			_fed = [wide]
		"head":
			net.head = _linear([wide], ins)
			net.outputs = wide


func _cnn() -> DojoCnn:
	var cnn := DojoCnn.new(_header.observation_size)
	for image in _header.images:
		var stack: Array[DojoConvolution] = []
		for layer in image.convolutions:
			var shape: Vector3i = image.shape if stack.is_empty() else stack[-1].shape
			var taps := PackedInt32Array()
			taps.resize(layer["kernel"] * layer["kernel"])
			taps.fill(shape.z)
			var matrix: DojoLinear = _linear([layer["channels"]], taps)
			stack.append(
				DojoConvolution.new(
					matrix, shape, layer["channels"], layer["kernel"], layer["stride"]
				)
			)
		cnn.add_image(image.first, image.shape, stack)
	return cnn


func _linear(outputs: PackedInt32Array, inputs: PackedInt32Array) -> DojoLinear:
	var rows: int = 0
	for part in outputs:
		rows += part
	var columns: int = 0
	for part in inputs:
		columns += part
	var weights: PackedFloat32Array = _take(rows * columns)
	return DojoLinear.new(weights, _take(rows), outputs, inputs)


func _take(count: int) -> PackedFloat32Array:
	_at += count * 4
	return _bytes.slice(_at - count * 4, _at).to_float32_array()


static func _digest(content: PackedByteArray) -> PackedByteArray:
	var hashing := HashingContext.new()
	hashing.start(HashingContext.HASH_SHA256)
	if not content.is_empty():
		hashing.update(content)
	return hashing.finish()
