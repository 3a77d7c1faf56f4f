"""`python -m godojo` is the same as `godojo`."""

from godojo.cli import main

if __name__ == "__main__":
    main()
