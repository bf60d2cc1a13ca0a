"""anthropic-python: whole and streamed messages, tools, documents and images, parse, tool_runner, count_tokens, models."""

import base64
import os

import anthropic
from anthropic import Anthropic, beta_tool
from pydantic import BaseModel

client = Anthropic()
model = os.environ["MODEL"]
question = [{"role": "user", "content": "What is the weather in Oslo?"}]
tool = {
    "name": "get_weather",
    "description": "Tells the weather in a city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


assert text_of(client.messages.create(model=model, max_tokens=500, messages=question))
with client.messages.stream(model=model, max_tokens=500, messages=question) as stream:
    assert "".join(stream.text_stream)
    assert stream.get_final_message().stop_reason == "end_turn"

first = client.messages.create(model=model, max_tokens=500, messages=question, tools=[tool])
assert first.stop_reason == "tool_use", first
results = [
    {"type": "tool_result", "tool_use_id": block.id, "content": [{"type": "text", "text": "rain"}]}
    for block in first.content
    if block.type == "tool_use"
]
second = client.messages.create(
    model=model,
    max_tokens=500,
    tools=[tool],
    messages=[*question, {"role": "assistant", "content": first.content}, {"role": "user", "content": results}],
)
assert "rain" in text_of(second), second

pdf = base64.standard_b64encode(b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF").decode()
png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
attached = [
    {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": pdf}, "title": "a.pdf"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}},
    {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}},
]
assert text_of(client.messages.create(model=model, max_tokens=500, messages=[{"role": "user", "content": attached}]))


class Weather(BaseModel):
    city: str
    celsius: int


parsed = client.messages.parse(model=model, max_tokens=500, messages=question, output_format=Weather)
assert isinstance(parsed.parsed_output, Weather), parsed


@beta_tool
def get_weather(city: str) -> str:
    """Tells the weather in a city.

    Args:
        city: Where.
    """
    return "rain"


runner = client.beta.messages.tool_runner(model=model, max_tokens=500, messages=question, tools=[get_weather])
assert "rain" in text_of(runner.until_done())

assert client.messages.count_tokens(model=model, messages=question, tools=[tool]).input_tokens > 0
assert model in [each.id for each in client.models.list()]
assert client.models.retrieve(model).id == model
try:
    client.messages.create(model="nobody", max_tokens=5, messages=question)
    raise AssertionError("an unknown model was taken")
except anthropic.NotFoundError:
    pass
