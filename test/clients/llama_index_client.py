"""llama-index: its models of OpenAI's two APIs, streamed, with tools, structured output and its agent."""

import asyncio
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai.responses import OpenAIResponses
from pydantic import BaseModel

# It looks a model's context up by its name, so the agent has the name of one as an alias.
model_name = os.environ["OPENAI_ALIAS"]
png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Weather(BaseModel):
    city: str
    celsius: int


def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    return "rain"


async def use(llm):
    assert llm.complete("hello").text
    assert "".join(chunk.delta or "" for chunk in llm.stream_chat([ChatMessage(role="user", content="hello")]))
    picture = ChatMessage(role="user", blocks=[TextBlock(text="What is it?"), ImageBlock(url=f"data:image/png;base64,{png}")])
    assert llm.chat([picture]).message.content
    structured = llm.as_structured_llm(Weather).complete("The weather in Oslo?")
    assert isinstance(structured.raw, Weather), structured
    agent = FunctionAgent(tools=[FunctionTool.from_defaults(get_weather)], llm=llm)
    answer = await agent.run("What is the weather in Oslo?")
    assert "rain" in str(answer), answer


base = os.environ["OPENAI_BASE_URL"]  # it reads another variable
for model in [
    OpenAI(model=model_name, api_base=base),
    OpenAIResponses(model=model_name, api_base=base),
]:
    asyncio.run(use(model))
