"""A cat chases a mouse: two policies that learn against each other."""
