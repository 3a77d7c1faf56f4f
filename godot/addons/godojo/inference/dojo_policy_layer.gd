@tool
class_name DojoPolicyLayer
extends RefCounted
## One layer of a policy's network, as its file declares it.

## encoder, memory, trunk or head.
var name: String
## relu, tanh, silu, leaky, gru or linear.
var kind: String
## Number of inputs.
var inputs: int
## Number of outputs.
var outputs: int


## How many numbers its matrices and biases have.
func weights() -> int:
	match kind:
		"leaky":
			return 2 * outputs * (inputs + 1)
		"gru":
			return 3 * outputs * (inputs + 1) + 3 * outputs * (outputs + 1)
	return outputs * (inputs + 1)
