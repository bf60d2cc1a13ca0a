// anthropic-sdk-go against Messages, nothing set but the address, the key and the model.
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

	"github.com/anthropics/anthropic-sdk-go"
)

var (
	client   = anthropic.NewClient()
	ctx      = context.Background()
	question = anthropic.NewUserMessage(anthropic.NewTextBlock("What is the weather in Oslo?"))
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

func params(model string) anthropic.MessageNewParams {
	tool := anthropic.ToolParam{
		Name:        "get_weather",
		Description: anthropic.String("Tells the weather in a city"),
		InputSchema: anthropic.ToolInputSchemaParam{
			Properties: map[string]any{"city": map[string]any{"type": "string"}}, Required: []string{"city"},
		},
	}
	return anthropic.MessageNewParams{
		Model:     anthropic.Model(model),
		MaxTokens: 500,
		Messages:  []anthropic.MessageParam{question},
		Tools:     []anthropic.ToolUnionParam{{OfTool: &tool}},
	}
}

// Answers the calls of a streamed or whole message until there are none.
func converse(asked anthropic.MessageNewParams, streamed bool, expected ...string) {
	seen := []string{}
	for round := 0; round < 3; round++ {
		message := anthropic.Message{}
		if streamed {
			stream := client.Messages.NewStreaming(ctx, asked)
			for stream.Next() {
				check(message.Accumulate(stream.Current()))
			}
			check(stream.Err())
		} else {
			whole, err := client.Messages.New(ctx, asked)
			check(err)
			message = *whole
		}
		asked.Messages = append(asked.Messages, message.ToParam())
		results := []anthropic.ContentBlockParamUnion{}
		said := ""
		for _, block := range message.Content {
			switch each := block.AsAny().(type) {
			case anthropic.TextBlock:
				said += each.Text
			case anthropic.ToolUseBlock:
				var given struct{ City string }
				check(json.Unmarshal(each.Input, &given))
				seen = append(seen, given.City)
				results = append(results, anthropic.NewToolResultBlock(each.ID, "rain", false))
			}
		}
		if len(results) == 0 {
			assert(strings.Contains(said, "rain"), message.RawJSON())
			break
		}
		assert(message.StopReason == anthropic.StopReasonToolUse, message.StopReason)
		asked.Messages = append(asked.Messages, anthropic.NewUserMessage(results...))
	}
	sort.Strings(seen)
	assert(strings.Join(seen, ",") == strings.Join(expected, ","), seen)
}

func main() {
	model := os.Getenv("MODEL")
	hello := params(model)
	hello.Tools = nil
	hello.Messages = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hello"))}
	whole, err := client.Messages.New(ctx, hello)
	check(err)
	assert(len(whole.Content) > 0 && whole.Usage.OutputTokens > 0, whole)
	for _, streamed := range []bool{false, true} {
		converse(params(model), streamed, "Oslo")
		converse(params(os.Getenv("PARALLEL_MODEL")), streamed, "Bergen", "Oslo")
	}
	alias, err := client.Models.Get(ctx, "claude-sonnet-4-5", anthropic.ModelGetParams{})
	check(err)
	assert(alias.ID == "claude-sonnet-4-5", alias)
	_, err = client.Messages.New(ctx, params("no-such-agent"))
	var failure *anthropic.Error
	assert(errors.As(err, &failure) && failure.StatusCode == 404, err)
	fmt.Println("ok")
}
