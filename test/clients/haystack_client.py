"""haystack: its chat generators and its agent, over Chat Completions and Responses; whole, streamed, with tools."""

import os
from typing import Annotated

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool

cities = []


@tool
def get_weather(city: Annotated[str, "Where"]) -> str:
    """Tells the weather in a city."""
    cities.append(city)
    return "rain"


question = [ChatMessage.from_user("What is the weather in Oslo?")]
for make in (OpenAIChatGenerator, OpenAIResponsesChatGenerator):
    assert make(model=os.environ["MODEL"]).run([ChatMessage.from_user("hello")])["replies"][0].text, make
    for name, expected in ((os.environ["MODEL"], ["Oslo"]), (os.environ["PARALLEL_MODEL"], ["Bergen", "Oslo"])):
        for streamed in (False, True):
            pieces = []
            more = {"streaming_callback": pieces.append} if streamed else {}
            agent = Agent(chat_generator=make(model=name), tools=[get_weather], **more)
            answer = agent.run(messages=question)["messages"][-1].text
            assert "rain" in answer, (make, answer)
            assert sorted(cities) == expected, (make, cities)
            assert bool(pieces) == streamed
            cities.clear()
