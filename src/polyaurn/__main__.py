"""``python -m polyaurn``: the command line."""

from polyaurn.cli.app import main

if __name__ == "__main__":
    main()
