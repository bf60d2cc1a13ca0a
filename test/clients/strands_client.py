"""Strands Agents over Chat Completions, Responses and Messages. It streams by default."""

import os

from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel

cities = []


@tool
def get_weather(city: str) -> str:
    """Tells the weather in a city.

    Args:
        city: Where.
    """
    cities.append(city)
    return "rain"


makes = (
    lambda name: OpenAIModel(model_id=name),
    lambda name: OpenAIResponsesModel(model_id=name),
    lambda name: AnthropicModel(model_id=name, max_tokens=500),
)
for make in makes:
    assert str(Agent(model=make(os.environ["MODEL"]), callback_handler=None)("hello")).strip()
    for name, expected in ((os.environ["MODEL"], ["Oslo"]), (os.environ["PARALLEL_MODEL"], ["Bergen", "Oslo"])):
        agent = Agent(model=make(name), tools=[get_weather], callback_handler=None)
        answer = str(agent("What is the weather in Oslo?"))
        assert "rain" in answer, answer
        assert sorted(cities) == expected, cities
        cities.clear()
