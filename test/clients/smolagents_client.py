"""smolagents: an agent that calls tools, over OpenAI's wire."""

import os

from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def get_weather(city: str) -> str:
    """Tells the weather in a city.

    Args:
        city: Where.
    """
    return "rain"


model = OpenAIServerModel(
    model_id=os.environ["MODEL"], api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"]
)
message = model.generate([{"role": "user", "content": [{"type": "text", "text": "hello"}]}])
assert message.content, message
assert "".join(delta.content or "" for delta in model.generate_stream([{"role": "user", "content": "hello"}]))
# The simulator does not know when to stop; the agent's steps are what is tried here.
agent = ToolCallingAgent(tools=[get_weather], model=model, max_steps=2, verbosity_level=0)
assert agent.run("What is the weather in Oslo?") is not None
