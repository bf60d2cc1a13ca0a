"""langchain-openai: ChatOpenAI with tools and every way of structured output, over both APIs."""

import os

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


@tool
def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    return "rain"


class Weather(BaseModel):
    """The weather."""

    city: str
    celsius: int


for options in [{}, {"use_responses_api": True}]:
    model = ChatOpenAI(model=os.environ["MODEL"], **options)
    assert model.invoke("hello").text
    assert "".join(chunk.text for chunk in model.stream("hello"))
    messages = [HumanMessage("What is the weather in Oslo?")]
    answer = model.bind_tools([get_weather]).invoke(messages)
    assert answer.tool_calls, answer
    results = [ToolMessage("rain", tool_call_id=call["id"]) for call in answer.tool_calls]
    assert "rain" in model.bind_tools([get_weather]).invoke([*messages, answer, *results]).text
    for method in ["json_schema", "function_calling"]:
        found = model.with_structured_output(Weather, method=method).invoke("What is the weather in Oslo? In JSON.")
        assert isinstance(found, Weather), (method, found)
    assert isinstance(model.with_structured_output(None, method="json_mode").invoke("hello, in JSON"), dict)
