"""openai-agents (Python) in its default: Responses, with a tool, streamed, and a session of the API's own."""

import asyncio
import os

from agents import Agent, OpenAIConversationsSession, Runner, function_tool


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    return "rain"


async def main():
    agent = Agent(name="Forecaster", instructions="Help.", tools=[get_weather], model=os.environ["MODEL"])
    result = await Runner.run(agent, "What is the weather in Oslo?")
    assert "rain" in result.final_output, result.final_output
    again = await Runner.run(agent, [*result.to_input_list(), {"role": "user", "content": "hello"}])
    assert again.final_output
    streamed = Runner.run_streamed(agent, "What is the weather in Oslo?")
    async for _ in streamed.stream_events():
        pass
    assert "rain" in streamed.final_output
    session = OpenAIConversationsSession()
    await Runner.run(agent, "My name is Ada.", session=session)
    assert (await Runner.run(agent, "hello", session=session)).final_output
    assert len(await session.get_items()) >= 4


asyncio.run(main())
