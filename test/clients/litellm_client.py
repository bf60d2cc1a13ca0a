"""litellm: completion with tools, JSON mode and streaming, and its Responses."""

import json
import os

import litellm

model = "openai/" + os.environ["MODEL"]
base = os.environ["OPENAI_BASE_URL"]
question = [{"role": "user", "content": "What is the weather in Oslo?"}]
tool = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

assert litellm.completion(model=model, api_base=base, messages=question).choices[0].message.content
assert any(chunk.choices[0].delta.content for chunk in litellm.completion(model=model, api_base=base, messages=question, stream=True))
first = litellm.completion(model=model, api_base=base, messages=question, tools=[tool])
message = first.choices[0].message
results = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in message.tool_calls]
second = litellm.completion(model=model, api_base=base, messages=[*question, message, *results], tools=[tool])
assert "rain" in second.choices[0].message.content, second
mode = litellm.completion(model=model, api_base=base, messages=question, response_format={"type": "json_object"})
json.loads(mode.choices[0].message.content)
assert litellm.responses(model=model, api_base=base, input="hello").output
