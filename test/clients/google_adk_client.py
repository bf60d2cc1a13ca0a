"""Google's ADK over LiteLLM, which uploads a PDF to /files; whole, streamed, with tools and with two calls at once."""

import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types

cities = []
pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF"


def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    cities.append(city)
    return "rain"


async def ask(name, parts, tools=(), mode=StreamingMode.NONE):
    agent = LlmAgent(name="agent", model=LiteLlm(model=name), tools=list(tools))
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=parts)
    text = ""
    events = runner.run_async(
        user_id="u", session_id=session.id, new_message=message, run_config=RunConfig(streaming_mode=mode)
    )
    async for event in events:
        for part in (event.content.parts if event.content else None) or []:
            text += part.text or ""
    return text


async def main():
    for wire in ("openai", "anthropic"):
        model = f"{wire}/{os.environ['MODEL']}"
        assert await ask(model, [types.Part(text="hello")])
        for mode in (StreamingMode.NONE, StreamingMode.SSE):
            for suffix, expected in (("", ["Oslo"]), ("-parallel", ["Bergen", "Oslo"])):
                question = [types.Part(text="What is the weather in Oslo?")]
                answer = await ask(model + suffix, question, [get_weather], mode)
                assert "rain" in answer, (model, answer)
                assert sorted(cities) == expected, (model, mode, cities)
                cities.clear()
        document = types.Part.from_bytes(data=pdf, mime_type="application/pdf")
        assert await ask(model, [document, types.Part(text="What does it say?")])


asyncio.run(main())
