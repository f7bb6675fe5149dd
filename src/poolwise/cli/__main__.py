"""Run the command line: ``python -m poolwise.cli``."""

from poolwise.cli import main

if __name__ == "__main__":
    main()
