"""What counts as an answer and what does not."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from lookcheck.metrics.salart_chain import last_answer, parse

STRICT = [
    ("q1", "yes", "yes"),
    ("q1", " yes ", "yes"),
    ("q1", "YES\n", "yes"),
    ("q1", "No", "no"),
    ("q1", "no.", None),
    ("q1", "yes, there is", None),
    ("q1", "yes no", None),
    ("q1", "A", None),
    ("q1", "true", None),
    ("q1", "", None),
    ("q2", "A", "A"),
    ("q2", "\t e \n", "E"),
    ("q2", "b", "B"),
    ("q2", "F", None),
    ("q2", "A.", None),
    ("q2", "(A)", None),
    ("q2", "A or B", None),
    ("q2", "AB", None),
    ("q2", "I choose A.", None),
    ("q2", "<think>A</think>B", None),
    ("q2", "yes", None),
    ("q2", "   ", None),
    ("q2", "\uff21", None),  # a full-width A
    ("q2", "\u0410", None),  # a Cyrillic A
    ("q3", "\u00a0C\u00a0", "C"),  # no-break spaces are white space
    ("q4", "D\x00", None),
    ("q4", '{"answer": "D"}', None),
]

JSON = [
    ("q2", '{"answer": "A"}', "A"),
    ("q2", '{"answer": " a "}', "A"),
    ("q1", '{"answer": "Yes", "chosen_reason": "six fingers"}', "yes"),
    ("q2", '```json\n{"answer": "B"}\n```', "B"),
    ("q2", 'Thinking {not json} … {"answer": "C"} done.', "C"),
    ("q2", '{"answer": "A"} On second thought {"answer": "D"}', "D"),
    ("q2", '{"answer": "A"} then {"note": "no answer here"}', "A"),
    ("q2", '{"answer": "A", "option_analysis": {"A": "yes", "B": {"answer": "B"}}}', "A"),
    ("q2", '{"option_analysis": {"B": {"answer": "B"}}, "answer": "A"}', "A"),
    ("q2", '{"result": {"answer": "C"}}', "C"),
    ("q2", '{"answer": "A", "chosen_reason": "a } and a { and {\\"answer\\": \\"B\\"}"}', "A"),
    ("q2", '{{"answer": "E"}}', "E"),
    ("q2", '{"answer": "A"} {"answer": "A or B"}', None),
    ("q2", '{"answer": "A"} {"answer": null}', None),
    ("q2", '{"answer": ["A"]}', None),
    ("q2", '{"answer": {"letter": "A"}}', None),
    ("q2", '{"answer": 1}', None),
    ("q1", '{"answer": true}', None),
    ("q2", '{"answer": "A"', None),
    ("q2", '{"answer": "A"} {"answer": "B"', "A"),
    ("q2", "{'answer': 'A'}", None),
    ("q2", '{"Answer": "A"}', None),
    ("q2", '["answer", "A"]', None),
    ("q2", "A", None),
    ("q2", "", None),
]


@pytest.mark.parametrize(("question", "text", "answer"), STRICT)
def test_strict(question: str, text: str, answer: str | None) -> None:
    assert parse(text, question) == answer


@pytest.mark.parametrize(("question", "text", "answer"), JSON)
def test_json(question: str, text: str, answer: str | None) -> None:
    assert parse(text, question, "json") == answer


def test_option_f_exists_only_without_the_image() -> None:
    assert parse("f", "q4", no_image=True) == "F"
    assert parse("f", "q4") is None
    assert parse('{"answer": "F"}', "q4", "json", no_image=True) == "F"
    assert parse("G", "q4", no_image=True) is None


def test_unknown_question_and_parser_are_refused() -> None:
    with pytest.raises(ValueError, match="question is 'q5'"):
        parse("A", "q5")
    with pytest.raises(ValueError, match="parser is 'yaml'"):
        parse("A", "q2", "yaml")


@pytest.mark.parametrize("text", ["{" * 200_000, '{"a":' * 20_000, '{"answer":' * 20_000, "[{" * 50_000])
def test_hostile_nesting_gives_nothing(text: str) -> None:
    assert last_answer(text) is None


@pytest.mark.parametrize("piece", ['{"a":', '{"a":[', '{"answer": "A"', '"{'])
def test_the_work_grows_with_the_text_and_not_with_its_square(piece: str) -> None:
    def lines_run(times: int) -> int:
        run = 0

        def count(frame: Any, event: str, _value: Any) -> Any:
            nonlocal run
            run += event == "line" and frame.f_code.co_filename.endswith("parsing.py")
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            assert last_answer(piece * times) is None
        finally:
            sys.settrace(before)
        return run

    few, many = lines_run(200), lines_run(800)
    # Four times the text; the square would be sixteen times the work.
    assert many < 6 * few
