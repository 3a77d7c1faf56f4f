@tool
class_name DojoPolicyLayer
extends RefCounted
## One step of a policy's network, as its file tells it.

## eyes, memory, mind or head.
var name: String
## relu, leaky, gru or linear.
var kind: String
## Numbers that come in.
var inputs: int
## Numbers that come out.
var outputs: int


## How many numbers its matrices and biases have.
func weights() -> int:
	match kind:
		"leaky":
			return 2 * outputs * (inputs + 1)
		"gru":
			return 3 * outputs * (inputs + 1) + 3 * outputs * (outputs + 1)
	return outputs * (inputs + 1)
