"""Puts a context into a chat for an OpenAI-compatible server: as the answer of a tool, or with the instructions.

Nothing that is handed over is changed. A tool's message always follows the call that it answers, because strict
servers refuse one that does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pgbraid.context.fence import told
from pgbraid.context.pieces import Context
from pgbraid.errors import SearchError, SettingsError

Message = dict[str, Any]
Mode = Literal["tool_role", "system_prompt"]

TOOL = "search_documents"


def inject(context: Context, chat: Sequence[Mapping[str, Any]], mode: Mode = "tool_role") -> list[Message]:
    """The chat with the context in it.

    `tool_role` puts a call of a tool and its answer after the last message of the user; `system_prompt` puts the
    context behind the system's instructions. Raises SearchError when there is no message of the user to put it
    after, and SettingsError for another mode.
    """
    copied = [dict(message) for message in chat]
    if mode == "tool_role":
        return _as_tool(context, copied)
    if mode == "system_prompt":
        return _as_instructions(context, copied)
    raise SettingsError(f"injection mode is tool_role or system_prompt, not {mode!r}")


def _as_tool(context: Context, chat: list[Message]) -> list[Message]:
    asked = [i for i, message in enumerate(chat) if message.get("role") == "user"]
    if not asked:
        raise SearchError("There is no message of the user to put the sources after: add one, or use system_prompt")
    known = {call.get("id") for message in chat for call in message.get("tool_calls") or ()}
    name = _call_id(context, known)
    arguments = json.dumps({"question": context.question}, ensure_ascii=False)
    call = {"id": name, "type": "function", "function": {"name": TOOL, "arguments": arguments}}
    pair: list[Message] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": told(context)},
    ]
    at = asked[-1] + 1
    return [*chat[:at], *pair, *chat[at:]]


def _call_id(context: Context, known: set[Any]) -> str:
    seed = f"{context.question}\n{context.text}"
    while True:
        seed = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
        if (name := f"call_{seed[:24]}") not in known:
            return name


def _as_instructions(context: Context, chat: list[Message]) -> list[Message]:
    at = next((i for i, message in enumerate(chat) if message.get("role") in ("system", "developer")), None)
    if at is None:
        return [{"role": "system", "content": told(context)}, *chat]
    content = chat[at].get("content")
    if content is None or isinstance(content, str):
        chat[at]["content"] = f"{content}\n\n{told(context)}" if content else told(context)
    else:  # parts: pictures and cache marks of the caller's stay what they are
        chat[at]["content"] = [*content, {"type": "text", "text": told(context)}]
    return chat
