"""Training spread over workers: rollouts are played elsewhere, the learner stays here. Ray carries the messages."""
