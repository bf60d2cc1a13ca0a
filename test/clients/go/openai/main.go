// openai-go against Chat Completions and Responses, nothing set but the address, the key and the model.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

var (
	client     = openai.NewClient()
	model      = os.Getenv("MODEL")
	parallel   = os.Getenv("PARALLEL_MODEL")
	ctx        = context.Background()
	parameters = map[string]any{
		"type":       "object",
		"properties": map[string]any{"city": map[string]any{"type": "string"}},
		"required":   []string{"city"},
	}
	question = "What is the weather in Oslo?"
)

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}

func assert(holds bool, said any) {
	if !holds {
		log.Panicf("%+v", said)
	}
}

func city(arguments string) string {
	var given struct{ City string }
	check(json.Unmarshal([]byte(arguments), &given))
	return given.City
}

func cities(found []string, expected ...string) {
	sort.Strings(found)
	assert(strings.Join(found, ",") == strings.Join(expected, ","), found)
}

func params(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name:        "get_weather",
			Description: openai.String("Tells the weather in a city"),
			Parameters:  parameters,
		})},
	}
}

// Answers the calls of a streamed or whole message until there are none.
func chat(asked openai.ChatCompletionNewParams, streamed bool, expected ...string) {
	var seen []string
	for round := 0; round < 3; round++ {
		var message openai.ChatCompletionMessage
		if streamed {
			stream := client.Chat.Completions.NewStreaming(ctx, asked)
			whole := openai.ChatCompletionAccumulator{}
			for stream.Next() {
				assert(whole.AddChunk(stream.Current()), "a chunk does not fit")
			}
			check(stream.Err())
			message = whole.Choices[0].Message
		} else {
			answer, err := client.Chat.Completions.New(ctx, asked)
			check(err)
			message = answer.Choices[0].Message
		}
		asked.Messages = append(asked.Messages, message.ToParam())
		if len(message.ToolCalls) == 0 {
			assert(strings.Contains(message.Content, "rain"), message)
			break
		}
		for _, call := range message.ToolCalls {
			seen = append(seen, city(call.Function.Arguments))
			asked.Messages = append(asked.Messages, openai.ToolMessage("rain", call.ID))
		}
	}
	cities(seen, expected...)
}

func answers(model string, expected ...string) {
	asked := responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(question)},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "get_weather", Parameters: parameters}}},
	}
	var seen []string
	for round := 0; round < 3; round++ {
		var final responses.Response
		stream := client.Responses.NewStreaming(ctx, asked)
		for stream.Next() {
			if event := stream.Current(); event.Type == "response.completed" {
				final = event.Response
			}
		}
		check(stream.Err())
		results := responses.ResponseInputParam{}
		for _, item := range final.Output {
			if item.Type == "function_call" {
				call := item.AsFunctionCall()
				seen = append(seen, city(call.Arguments))
				result := responses.ResponseInputItemParamOfFunctionCallOutput("rain")
				result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
				results = append(results, result)
			}
		}
		if len(results) == 0 {
			assert(strings.Contains(final.OutputText(), "rain"), final.RawJSON())
			break
		}
		asked.PreviousResponseID = openai.String(final.ID)
		asked.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: results}
	}
	cities(seen, expected...)
}

func main() {
	whole, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")},
	})
	check(err)
	assert(whole.Choices[0].Message.Content != "" && whole.Usage.TotalTokens > 0, whole)
	for _, streamed := range []bool{false, true} {
		chat(params(model), streamed, "Oslo")
		chat(params(parallel), streamed, "Bergen", "Oslo")
	}
	answer, err := client.Responses.New(ctx, responses.ResponseNewParams{
		Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hello")},
	})
	check(err)
	assert(answer.OutputText() != "" && answer.Status == "completed", answer)
	answers(model, "Oslo")
	answers(parallel, "Bergen", "Oslo")
	file, err := client.Files.New(ctx, openai.FileNewParams{
		File: openai.File(strings.NewReader("It rains in Oslo."), "weather.txt", "text/plain"), Purpose: openai.FilePurposeUserData,
	})
	check(err)
	check1(client.Files.Get(ctx, file.ID))
	check1(client.Files.Delete(ctx, file.ID))
	models, err := client.Models.List(ctx)
	check(err)
	assert(len(models.Data) > 0, models)
	_, err = client.Chat.Completions.New(ctx, params("no-such-agent"))
	var failure *openai.Error
	assert(errors.As(err, &failure) && failure.StatusCode == 404 && failure.Code == "model_not_found", err)
	fmt.Println("ok")
}

func check1(_ any, err error) { check(err) }
