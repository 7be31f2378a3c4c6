"""`python -m layerguard`."""

from layerguard.cli import main

if __name__ == "__main__":
    main()
