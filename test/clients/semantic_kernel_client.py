"""semantic-kernel: chat completion with automatic function calling, streamed and whole, over OpenAI's and Anthropic's wire."""

import asyncio
import os

from anthropic import AsyncAnthropic
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import kernel_function

model = os.environ["MODEL"]


class Weather:
    @kernel_function(description="Tells the weather in a city")
    def get_weather(self, city: str) -> str:
        return "rain"


async def use(service):
    kernel = Kernel()
    kernel.add_plugin(Weather(), plugin_name="weather")
    settings = service.get_prompt_execution_settings_class()(max_tokens=500)
    history = ChatHistory()
    history.add_user_message("hello")
    assert str(await service.get_chat_message_content(history, settings))
    settings.function_choice_behavior = FunctionChoiceBehavior.Auto()
    asked = ChatHistory(system_message="You help.")
    asked.add_user_message("What is the weather in Oslo?")
    answer = await service.get_chat_message_content(asked, settings, kernel=kernel)
    assert "rain" in str(answer), answer
    streamed = ""
    asked.add_user_message("And the weather in Paris?")
    async for chunk in service.get_streaming_chat_message_content(asked, settings, kernel=kernel):
        streamed += str(chunk)
    assert "rain" in streamed, streamed


asyncio.run(use(OpenAIChatCompletion(ai_model_id=model)))
asyncio.run(use(AnthropicChatCompletion(ai_model_id=model, async_client=AsyncAnthropic())))
