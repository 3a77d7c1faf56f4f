"""What the `bench` verb measures."""
