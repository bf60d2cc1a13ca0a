"""instructor: typed answers by tools (its default) and by JSON mode."""

import os

import instructor
from openai import OpenAI
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    celsius: int


for options in [{}, {"mode": instructor.Mode.JSON}]:
    client = instructor.from_openai(OpenAI(), **options)
    found = client.chat.completions.create(
        model=os.environ["MODEL"],
        response_model=Weather,
        max_retries=0,
        messages=[{"role": "user", "content": "What is the weather in Oslo? Say it in JSON: city Oslo, 7 celsius"}],
    )
    assert isinstance(found, Weather), found
