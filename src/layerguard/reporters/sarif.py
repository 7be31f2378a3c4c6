"""SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

from inspect import getdoc
from urllib.parse import quote

from layerguard import __version__
from layerguard.contracts import KINDS
from layerguard.model import CODES, Report, Violation
from layerguard.reporters.base import describe, details, dump_json, plain

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report) -> str:
    """Return a log with one run; every code is a rule, whether or not it was broken."""
    driver = {"name": "layerguard", "version": __version__, "rules": _rules()}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(violation) for violation in report.violations],
    }
    return dump_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rules() -> list[dict[str, object]]:
    """Return the rules in the order of their codes; the help of a kind of contract is its docstring."""
    documents = {kind.code: getdoc(kind) or "" for kind in KINDS.values()}
    rules: list[dict[str, object]] = []
    for code, meaning in CODES.items():
        document = documents.get(code) or meaning
        rules.append(
            {
                "id": code,
                "name": meaning,
                "shortDescription": {"text": document.partition("\n")[0]},
                "help": {"text": document, "markdown": document},
            }
        )
    return rules


def _result(violation: Violation) -> dict[str, object]:
    place = violation.location
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    text = [plain(violation.message), *(line for lines in details(violation) for line in lines)]
    facts = {
        "contract": violation.contract,
        "importer": violation.importer,
        "scope": violation.scope,
        "imported": violation.imported,
        "via": violation.via,
        "when": violation.when,
    }
    return {
        "ruleId": violation.code,
        "level": violation.severity,
        "message": {"text": "\n".join(text)},
        "locations": [{"physicalLocation": {**_artifact(place.path), "region": region}}],
        "relatedLocations": [
            {
                "id": number,
                "physicalLocation": {**_artifact(step.path), "region": {"startLine": step.line}},
                "message": {"text": describe(step)},
            }
            for number, step in enumerate(violation.chain, 1)
            if step.path
        ],
        "partialFingerprints": {"layerguard/v1": violation.fingerprint},
        # Either every result has this or none, says the standard (3.27.23).
        "suppressions": [{"kind": "external", "justification": _entry(violation)}] * violation.allowed,
        "properties": {key: value for key, value in facts.items() if value},
    }


def _entry(violation: Violation) -> str:
    return plain(f"The allowance file has '{violation.key}'.")


def _artifact(path: str) -> dict[str, object]:
    # Half surrogate pairs stand for bytes that are no UTF-8; a URI has some name for them too.
    uri = quote(path, safe="/", errors="surrogatepass")
    return {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}}
