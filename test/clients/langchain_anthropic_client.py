"""langchain-anthropic: ChatAnthropic with streaming, tools, an image, and structured output both ways."""

import os

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel


@tool
def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    return "rain"


class Weather(BaseModel):
    """The weather."""

    city: str
    celsius: int


png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
model = ChatAnthropic(model=os.environ["MODEL"], max_retries=0)
assert model.invoke("hello").text
assert "".join(chunk.text for chunk in model.stream("hello"))
messages = [HumanMessage("What is the weather in Oslo?")]
answer = model.bind_tools([get_weather]).invoke(messages)
assert answer.tool_calls, answer
results = [ToolMessage("rain", tool_call_id=call["id"]) for call in answer.tool_calls]
assert "rain" in model.bind_tools([get_weather]).invoke([*messages, answer, *results]).text
picture = {"type": "image", "base64": png, "mime_type": "image/png"}
assert model.invoke([HumanMessage([{"type": "text", "text": "hello"}, picture])]).text
for method in ["function_calling", "json_schema"]:
    found = model.with_structured_output(Weather, method=method).invoke("What is the weather in Oslo?")
    assert isinstance(found, Weather), (method, found)
assert model.get_num_tokens_from_messages(messages) > 0
