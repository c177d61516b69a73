"""What make-fixture and the test share."""
import importlib.machinery
import importlib.util
import pathlib

_SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "compare-with"
_loader = importlib.machinery.SourceFileLoader("compare_with", str(_SCRIPT))
compare_with = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_with", _loader))
_loader.exec_module(compare_with)

# Of tiny.toml: so small that the fixture fits into the tree.
SMALL = ["data.pairs=300", "model.latent=8", "model.width=8", "model.feedforward=16", "model.heads=2", "model.layers=1"]
