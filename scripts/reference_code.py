"""Pages of the reference that are read from Python: commands, errors and what `import pgbraid` offers."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

import typer
from reference_text import between, code, prose, table
from typer.models import OptionInfo


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a command; `kind` is its type, `info` what typer was told about it."""

    name: str
    kind: Any
    info: Any
    default: Any


@dataclass(frozen=True, slots=True)
class Command:
    """What a command says of itself; a group has the full names of its `parts`."""

    help: str
    parameters: tuple[Parameter, ...]
    parts: tuple[str, ...]


# ── cli.md ─────────────────────────────────────────────────────────────────────────────────────────────────


def cli() -> str:
    """Every command with its arguments and options."""
    from pgbraid.cli.app import app

    opening = (
        "# Command line\n\nEvery command takes `--json`, which prints one JSON value on standard output; notes and "
        "errors go to standard error. Exit codes are those of the [error classes](errors.md).\n\n"
    )
    return opening + "".join(_command(path, found) for path, found in commands(app, "pgbraid"))


def commands(app: typer.Typer, path: str) -> Iterator[tuple[str, Command]]:
    """The commands of an application and of the groups in it, by the words that call them; a group before its own."""
    groups = {str(group.name): group.typer_instance for group in app.registered_groups}
    names = [str(c.name or c.callback.__name__) for c in app.registered_commands if c.callback]
    first = app.registered_callback.callback if app.registered_callback else None
    parts = tuple(f"{path} {name}" for name in [*names, *groups])
    yield path, Command(str(app.info.help), _parameters(first), parts)
    for name, one in zip(names, app.registered_commands, strict=True):
        yield f"{path} {name}", Command(inspect.getdoc(one.callback) or "", _parameters(one.callback), ())
    for name, inner in groups.items():
        yield from commands(inner, f"{path} {name}") if inner else ()


def _parameters(callback: Callable[..., Any] | None) -> tuple[Parameter, ...]:
    if callback is None:
        return ()
    hints = get_type_hints(callback, include_extras=True)
    found = inspect.signature(callback).parameters
    kinds = {name: get_args(hints[name]) for name in found}
    return tuple(Parameter(name, kinds[name][0], kinds[name][1], p.default) for name, p in found.items())


def _command(path: str, found: Command) -> str:
    options = [p for p in found.parameters if isinstance(p.info, OptionInfo)]
    rows = ((option_names(p), _takes(p), _meaning(p)) for p in options)
    shown = table(("option", "takes", "meaning"), rows)
    if found.parts:
        parts = ", ".join(f"[{part}](#{part.replace(' ', '-')})" for part in found.parts)
        return f"## {path}\n\n{found.help}\n\nCommands: {parts}.\n\n{shown}"
    arguments = [_metavar(p) for p in found.parameters if not isinstance(p.info, OptionInfo)]
    line = " ".join([path, *(["[OPTIONS]"] if options else []), *arguments])
    return f"## {path}\n\n```text\n{line}\n```\n\n{found.help}\n\n{shown}"


def _metavar(argument: Parameter) -> str:
    word = str(argument.info.metavar or argument.name.upper())
    return word if argument.default is inspect.Parameter.empty or word.startswith("[") else f"[{word}]"


def option_names(option: Parameter) -> str:
    """The names of an option as code. typer keeps the first one where a default would stand."""
    first = option.info.default if isinstance(option.info.default, str) else f"--{option.name.replace('_', '-')}"
    return ", ".join(map(code, (first, *(option.info.param_decls or ()))))


def _takes(option: Parameter) -> str:
    kinds = [kind for kind in get_args(option.kind) or (option.kind,) if kind is not type(None)]
    if kinds == [bool]:
        return ""
    several = [kind for kind in kinds if get_origin(kind) is list]
    word = option.info.metavar or "/".join(getattr(kind, "__name__", str(kind)).upper() for kind in kinds)
    word = {"STR": "text", "INT": "number", "FLOAT": "number", "PATH": "path"}.get(word, word)
    bounds = "" if option.info.min is None else f", {between(option.info.min, option.info.max)}"
    return f"{word}{bounds}{', repeatable' if several else ''}"


def _meaning(option: Parameter) -> str:
    shown = option.default not in (None, False, "", 0, inspect.Parameter.empty)
    required = " Required." if option.default is inspect.Parameter.empty else ""
    return f"{option.info.help or ''}{f' Default: {code(option.default)}.' if shown else required}"


# ── errors.md ────────────────────────────────────────────────────────────────────────────────────────────


def errors() -> str:
    """The tree of errors and what each means."""
    from pgbraid import errors as room

    opening, _, tree = (room.__doc__ or "").partition("    PgbraidError")
    found = [c for c in vars(room).values() if isinstance(c, type) and c.__module__ == room.__name__]
    rows = [
        (code(c.__name__), code(_public_base(c).__name__), c.exit_code, inspect.cleandoc(c.__doc__ or ""))
        for c in found
        if issubclass(c, room.PgbraidError) and not c.__name__.startswith("_")
    ]
    return (
        f"# Errors\n\n{prose(opening)}All are in `pgbraid.errors`.\n\n```text\nPgbraidError"
        + inspect.cleandoc("    PgbraidError" + tree).removeprefix("PgbraidError")
        + "\n```\n\n"
        + table(("error", "is a", "exit code", "meaning"), rows)
    )


def _public_base(one: type) -> type:
    return next(base for base in one.__mro__[1:] if not base.__name__.startswith("_"))


# ── python.md ─────────────────────────────────────────────────────────────────────────────────────────────


def python() -> str:
    """What `import pgbraid` offers."""
    import pgbraid

    parts = [f"# Python\n\n{prose(pgbraid.__doc__)}"]
    for name in sorted(pgbraid.__all__, key=lambda n: (n[0].isupper(), n not in ("Braid", "AsyncBraid"), n)):
        parts.append(_exported(name, getattr(pgbraid, name)))
    return "".join(parts)


def _exported(name: str, found: Any) -> str:
    head = f"## {name}\n\n"
    if name == "AsyncBraid":
        return f"{head}{prose(found.__doc__)}The methods of [Braid](#braid), with `await`.\n\n"
    if name == "Settings":
        return f"{head}{prose(found.__doc__)}See [settings](settings.md).\n\n"
    if dataclasses.is_dataclass(found):
        fields = ((code(f.name), code(f.type), _field_default(f)) for f in dataclasses.fields(found))
        return head + prose(found.__doc__) + table(("field", "type", "default"), fields)
    if inspect.isfunction(found):
        return f"{head}```python\n{_signature(name, found)}\n```\n\n{prose(found.__doc__)}"
    parts = [part for part in found.__mro__ if part.__module__.startswith("pgbraid.")]
    own = [(n, m) for c in parts for n, m in vars(c).items() if inspect.isfunction(m) and not n.startswith("_")]
    methods = (f"### {name}.{n}\n\n```python\n{_signature(n, m)}\n```\n\n{prose(m.__doc__)}" for n, m in own)
    return head + prose(found.__doc__) + "".join(methods)


def _signature(name: str, function: Callable[..., Any]) -> str:
    """The signature, on several lines when it is long; annotations stand as they are written."""
    parameters = list(inspect.signature(function).parameters.values())
    shown = [str(p).replace("'", "") if isinstance(p.default, (type(p.empty), type)) else str(p) for p in parameters]
    shown = [re.sub(r": '([^']*)'", r": \1", text) for text in shown if text.partition(":")[0] != "self"]
    first = next((i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
    if first is not None:
        shown.insert(first - (parameters[0].name == "self"), "*")
    back = f" -> {function.__annotations__.get('return', 'None')}"
    line = f"{name}({', '.join(shown)}){back}"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(shown) + f",\n){back}"


def _field_default(field: Any) -> str:
    if field.default is not dataclasses.MISSING:
        return code(repr(field.default))
    return "empty" if field.default_factory is not dataclasses.MISSING else "required"
