"""OpenAPI description: adds what all routes have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI

from pkg_pipeline.api import models
from pkg_pipeline.api.problems import answers
from pkg_pipeline.api.security import scope_needed

BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "`Authorization: Bearer SECRET`; `pkg-pipeline serve` prints the secret of the token it made.",
}
_METHODS = {"get", "put", "post", "delete", "patch"}


def install(app: FastAPI) -> None:
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = make()
            components = schema.setdefault("components", {})
            components["securitySchemes"] = {"bearer": BEARER}
            _complete_schemas(components.setdefault("schemas", {}))
            for path, operations in schema["paths"].items():
                for method in _METHODS & operations.keys():
                    _complete_operation(operations[method], method=method.upper(), path=path)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi


def _complete_operation(operation: dict[str, Any], *, method: str, path: str) -> None:
    responses: dict[str, Any] = operation["responses"]
    statuses = [403, 421, 422]
    if needed := scope_needed(method, path):
        operation["security"] = [{"bearer": []}]
        operation["x-required-scope"] = needed
        statuses.append(401)
    if "requestBody" in operation:
        statuses.append(413)
    common: dict[str, Any] = {str(status): said for status, said in answers(*statuses).items()}
    if "application/problem+json" not in responses.get("422", {}).get("content", {}):
        responses.pop("422", None)  # FastAPI's own schema; a route may word this one itself
    operation["responses"] = dict(sorted({**common, **responses}.items()))


def _complete_schemas(schemas: dict[str, Any]) -> None:
    """Adds the problem schema, and the examples of ``examples.json`` by model name."""
    schemas["Problem"] = models.Problem.model_json_schema()
    for name, example in orjson.loads(Path(__file__).with_name("examples.json").read_bytes()).items():
        if name in schemas:
            schemas[name]["example"] = example
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
