"""How the server answers: documents as JSON, errors as a sentence and the next step."""

import json
import subprocess
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from agentforge.core.errors import PolicyError, StateInvalid, Unusable, UsageError, UserError
from agentforge.surfaces.dashboard.reader import NoSuchTask
from agentforge.system.installation import own_command

_REPORT_S = 120
_KINDS = {"html": "text/html", "md": "text/markdown", "json": "application/json"}
_STATUS: tuple[tuple[type[UserError], int], ...] = (
    (NoSuchTask, 404),
    (PolicyError, 403),
    (StateInvalid, 409),
    (UsageError, 400),
)
"""Whatever else fails, the world did: 424."""
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": HTTPStatus(status).phrase}
    for status in (400, 401, 403, 404, 409, 413, 415, 421, 422, 424)
}


def reply(document: object, status: int = 200) -> Response:
    """A document. Only ASCII, so that no text of a repository can be no text here."""
    return Response(json.dumps(document), status, {"Cache-Control": "no-store"}, "application/json")


def problem(status: int, code: str, sentence: str, next_step: str = "") -> Response:
    """What went wrong, in the form that `--json` has."""
    return reply({"error": {"code": code, "message": sentence, "next": next_step or None}}, status)


def report_of(repo: str, task_id: str, kind: str) -> Response:
    """The audit of a task, made by its command. As a file to be kept: it is no page of this server."""
    words = ("audit", task_id, "--format", kind, "--output", "-")
    try:
        made = subprocess.run(
            own_command(*words),
            cwd=repo,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_REPORT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unusable("The report takes too long.", f"`agentforge audit {task_id}` writes it.") from None
    if made.returncode != 0:
        said = made.stderr.decode("utf-8", "replace").strip().removeprefix("error: ")
        raise Unusable(said[:600] or "The report could not be made.")
    name = f"{task_id}.{kind}"
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    }
    return Response(made.stdout, 200, headers, _KINDS[kind])


def tell_errors(app: FastAPI) -> None:
    """Every error of ours, of the framework, and of what a request holds, in one form."""

    @app.exception_handler(UserError)
    def ours(_: Request, error: UserError) -> Response:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 424)
        return problem(status, error.code, error.sentence, error.next_step)

    @app.exception_handler(RequestValidationError)
    def unreadable(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
        return problem(422, "usage", f"{where}: {first['msg']}.")

    @app.exception_handler(HTTPException)
    def framework(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, "usage", f"{error.detail}.")

    @app.exception_handler(Exception)
    def internal(_: Request, error: Exception) -> Response:
        told = f"internal error: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return problem(500, "internal", told, "Nothing that was recorded is lost.")

    @app.exception_handler(FileNotFoundError)
    def gone(_: Request, error: FileNotFoundError) -> Response:  # noqa: ARG001 - it would name a path
        return problem(
            404, "usage", "A file of this task is gone.", "`agentforge status` restores what was saved."
        )
