"""Measures layerguard beside other linters on the same trees: `python -m benchmarks`. See README.md."""
