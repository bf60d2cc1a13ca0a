"""openai-python against Chat Completions and Responses, nothing set but the address, the key and the model."""

import json
import os

import openai
from openai import OpenAI
from pydantic import BaseModel

model = os.environ["MODEL"]
client = OpenAI()
question = [{"role": "user", "content": "What is the weather in Oslo?"}]
function = {
    "name": "get_weather",
    "description": "Tells the weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


class Weather(BaseModel):
    city: str
    celsius: int


def chat():
    whole = client.chat.completions.create(model=model, messages=[{"role": "user", "content": "hello"}])
    assert whole.choices[0].message.content, whole
    streamed = "".join(
        chunk.choices[0].delta.content or ""
        for chunk in client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "hello"}], stream=True
        )
        if chunk.choices
    )
    assert streamed, "nothing was streamed"
    tools = [{"type": "function", "function": function}]
    first = client.chat.completions.create(model=model, messages=question, tools=tools)
    message = first.choices[0].message
    assert first.choices[0].finish_reason == "tool_calls", first
    results = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in message.tool_calls]
    second = client.chat.completions.create(model=model, messages=[*question, message, *results], tools=tools)
    assert "rain" in second.choices[0].message.content, second
    json_mode = client.chat.completions.with_raw_response.create(
        model=model, messages=[{"role": "user", "content": "hello, in JSON"}], response_format={"type": "json_object"}
    )
    # A wire that has no such mode says so.
    if "response_format" not in json_mode.headers.get("venturi-warnings", ""):
        json.loads(json_mode.parse().choices[0].message.content)
    parsed = client.chat.completions.parse(model=model, messages=question, response_format=Weather)
    assert isinstance(parsed.choices[0].message.parsed, Weather), parsed


def responses():
    whole = client.responses.create(model=model, input="hello")
    assert whole.output_text, whole
    with client.responses.stream(model=model, input="hello") as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text
    tools = [{"type": "function", **function}]
    first = client.responses.create(model=model, input=question, tools=tools)
    calls = [item for item in first.output if item.type == "function_call"]
    assert calls, first
    results = [{"type": "function_call_output", "call_id": call.call_id, "output": "rain"} for call in calls]
    second = client.responses.create(model=model, previous_response_id=first.id, input=results, tools=tools)
    assert "rain" in second.output_text, second
    inline = client.responses.create(model=model, input=[*question, *first.output, *results], tools=tools)
    assert "rain" in inline.output_text, inline
    parsed = client.responses.parse(model=model, input=question, text_format=Weather)
    assert isinstance(parsed.output_parsed, Weather), parsed
    background = client.responses.create(model=model, input="hello", background=True)
    for _ in client.responses.retrieve(background.id, stream=True):
        pass
    assert client.responses.retrieve(background.id).status == "completed"
    assert client.responses.input_items.list(background.id).data
    client.responses.delete(background.id)
    try:
        client.responses.retrieve(background.id)
        raise AssertionError("a deleted response was found")
    except openai.NotFoundError:
        pass
    assert client.responses.input_tokens.count(model=model, input="hello").input_tokens > 0


def conversations():
    conversation = client.conversations.create(items=[{"type": "message", "role": "user", "content": "My name is Ada."}])
    client.responses.create(model=model, input="hello", conversation=conversation.id)
    items = client.conversations.items.list(conversation.id).data
    assert len(items) == 3, items
    client.conversations.delete(conversation.id)


def others():
    assert any(each.id == model for each in client.models.list())
    assert client.models.retrieve(model).id == model
    vectors = client.embeddings.create(model=os.environ.get("EMBED_MODEL", model), input=["a", "b"])
    assert len(vectors.data) == 2 and len(vectors.data[0].embedding) > 8, "no vectors"
    legacy = client.completions.create(model=model, prompt="hello")
    assert legacy.choices[0].text, legacy
    try:
        client.chat.completions.create(model="no-such-agent", messages=question)
        raise AssertionError("an unknown model answered")
    except openai.NotFoundError as error:
        assert error.code == "model_not_found", error.body


chat()
responses()
conversations()
others()
