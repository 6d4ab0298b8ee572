"""The pages ``/`` and ``/docs`` (Swagger UI, bundled by ``fastapi-offline``); they show no data of the memory."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable
from importlib import resources

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import HTMLResponse, Response

ASSETS = {
    "/docs/swagger-ui.css": "text/css",
    "/docs/swagger-ui-bundle.js": "text/javascript",
    "/docs/favicon.png": "image/png",
}
_STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)

_STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:42em;margin:3em auto;padding:0 1em}code{font-size:.9em}"
_HOME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="/docs/favicon.png"><style>{style}</style></head><body>
<h1>{title} <small>{version}</small></h1>
<p>The tiered memory of your conversations, for programs and agents on this machine: contexts within a token budget,
questions, timelines, summaries, live sessions.</p>
<ul>
<li><a href="/docs">Reference of every route</a>, to try out here</li>
<li><a href="/openapi.json">The same as OpenAPI</a>, for code generators</li>
<li><a href="/health">Whether reads work</a></li>
</ul>
<p>Everything else asks for a token: <code>pkg-pipeline serve</code> and <code>pkg-pipeline dev</code> print a line for
curl with it.</p>
</body></html>
"""


def install(app: FastAPI) -> None:
    """Adds the pages, which need no token."""
    home = _HOME.format(title=html.escape(app.title), version=html.escape(app.version), style=_STYLE)
    reference = bytes(
        get_swagger_ui_html(
            openapi_url="/openapi.json",
            title=f"{app.title}: reference",
            swagger_js_url="/docs/swagger-ui-bundle.js",
            swagger_css_url="/docs/swagger-ui.css",
            swagger_favicon_url="/docs/favicon.png",
            swagger_ui_parameters={"validatorUrl": None, "tryItOutEnabled": True},
        ).body
    ).decode()
    scripts = " ".join(_hash(script) for script in _INLINE.findall(reference))
    policies = {
        "/": f"{_STRICT}; img-src 'self'; style-src {_hash(_STYLE)}",
        "/docs": f"{_STRICT}; connect-src 'self'; img-src 'self' data:; script-src 'self' {scripts};"
        " style-src 'self' 'unsafe-inline'",  # Swagger UI writes inline styles
    }

    @app.get("/", include_in_schema=False)
    def root() -> Response:
        return HTMLResponse(home, headers={**_HEADERS, "Content-Security-Policy": policies["/"]})

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return HTMLResponse(reference, headers={**_HEADERS, "Content-Security-Policy": policies["/docs"]})

    for path, media_type in ASSETS.items():
        app.add_api_route(path, _asset(path, media_type), methods=["GET"], include_in_schema=False)


def _asset(path: str, media_type: str) -> Callable[[], Response]:
    file = resources.files("fastapi_offline") / "static" / path.rpartition("/")[2]

    def asset() -> Response:
        headers = {**_HEADERS, "Cache-Control": "max-age=3600"}
        return Response(file.read_bytes(), media_type=media_type, headers=headers)

    return asset


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
