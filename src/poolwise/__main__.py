"""Run the command line: ``python -m poolwise``."""

from poolwise.cli import main

if __name__ == "__main__":
    main()
