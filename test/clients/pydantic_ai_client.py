"""pydantic-ai: an agent with a tool and a typed answer, over both APIs, whole and streamed."""

import asyncio
import os

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel


class Weather(BaseModel):
    city: str
    celsius: int


async def main():
    for kind in [OpenAIChatModel, OpenAIResponsesModel]:
        agent = Agent(kind(os.environ["MODEL"]))

        @agent.tool_plain
        def get_weather(city: str) -> str:
            """Tells the weather in a city."""
            return "rain"

        result = await agent.run("What is the weather in Oslo?")
        assert "rain" in result.output, result.output
        again = await agent.run("hello", message_history=result.all_messages())
        assert again.output
        async with agent.run_stream("What is the weather in Oslo?") as streamed:
            assert await streamed.get_output()
        typed = Agent(kind(os.environ["MODEL"]), output_type=Weather)
        assert isinstance((await typed.run("What is the weather in Oslo?")).output, Weather)


asyncio.run(main())
