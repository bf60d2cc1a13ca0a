"""agno: agents over Chat Completions, Responses and Messages; whole, streamed, with tools and with two calls at once."""

import os

from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.openai import OpenAIChat, OpenAIResponses

cities = []


def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    cities.append(city)
    return "rain"


def seen(expected):
    assert sorted(cities) == expected, cities
    cities.clear()


question = "What is the weather in Oslo?"
for make in (OpenAIChat, OpenAIResponses, Claude):
    assert Agent(model=make(id=os.environ["MODEL"])).run("hello").content, make
    for name, expected in ((os.environ["MODEL"], ["Oslo"]), (os.environ["PARALLEL_MODEL"], ["Bergen", "Oslo"])):
        whole = Agent(model=make(id=name), tools=[get_weather]).run(question)
        assert "rain" in whole.content, (make, whole)
        seen(expected)
        events = Agent(model=make(id=name), tools=[get_weather]).run(question, stream=True)
        text = "".join(event.content for event in events if isinstance(event.content, str))
        assert "rain" in text, (make, text)
        seen(expected)
