"""autogen: an assistant with a tool, over OpenAI's wire."""

import asyncio
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

known = ModelInfo(vision=True, function_calling=True, json_output=True, structured_output=True, family="unknown")


async def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    return "rain"


async def main():
    client = OpenAIChatCompletionClient(model=os.environ["MODEL"], model_info=known)
    for stream in [False, True]:
        agent = AssistantAgent(
            "helper", model_client=client, tools=[get_weather], reflect_on_tool_use=True, model_client_stream=stream
        )
        result = await agent.run(task="What is the weather in Oslo?")
        assert "rain" in result.messages[-1].content, result
    await client.close()


asyncio.run(main())
