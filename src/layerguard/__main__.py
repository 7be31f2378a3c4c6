"""`python -m layerguard`."""

from layerguard.start import main

if __name__ == "__main__":
    main()
