"""`pgbraid context`: what a model reads, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


def test_the_model_reads_standard_output_and_the_person_the_rest(filled: Run) -> None:
    ended = filled("context", "days of leave carried over", "-c", "hr")
    assert ended.code == 0
    assert "Cite a source by its mark" in ended.out and "Up to five days" in ended.out
    assert "hr/leave.md, characters" in ended.err and "hr/leave.md, characters" not in ended.out
    assert "tokens" in ended.err


def test_json_has_sources_with_places_and_the_messages_of_a_chat(filled: Run) -> None:
    told = filled("context", "合同谁来批准", "--mode", "system_prompt", "--json").json
    document = filled("document", "show", "legal", "contract.md", "--json").json
    assert told["result"]["decision"]["chosen"] == ["legal"] and told["result"]["status"] == "found"
    assert told["sources"]
    for source in told["sources"]:
        assert document["text"][source["start"] : source["end"]] == source["text"]
    assert [message["role"] for message in told["messages"]] == ["system", "user"]
    assert told["messages"][0]["content"] == told["text"]


def test_a_search_that_fails_is_one_object(filled: Run) -> None:
    ended = filled("context", "leave", "-c", "hrr", "--json")
    assert ended.code == 6 and ended.json["status"] == "failed" and "hrr" in ended.json["message"]


def test_a_mode_that_would_do_nothing_is_refused(filled: Run) -> None:
    for arguments in (["--mode", "tool_role"], ["--mode", "toolrole", "--json"]):
        ended = filled("context", "leave", *arguments)
        said = ended.out or ended.err
        assert ended.code == 2 and "--mode is tool_role or system_prompt and needs --json" in said
