"""Write the JSON Schemas of model and moments files: ``python -m poolwise.model.model_file``."""

from __future__ import annotations

from pathlib import Path

from poolwise.model.model_file.model_json import FORMAT as MODEL
from poolwise.moments.moments_json import FORMAT as MOMENTS

PACKAGE = Path(__file__).parents[2]
for format, place in ((MODEL, "model/model-1"), (MOMENTS, "moments/moments-1")):
    (PACKAGE / f"{place}.schema.json").write_text(format.schema(), encoding="ascii")
