import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.NotFoundException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseStreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** openai-java against Chat Completions and Responses; the address and the key come from the environment, as it reads them. */
public class OpenAiJava {
  static final OpenAIClient client = OpenAIOkHttpClient.fromEnv();
  static final String question = "What is the weather in Oslo?";

  public static void main(String[] given) throws Exception {
    String model = System.getenv("MODEL");
    String parallel = System.getenv("PARALLEL_MODEL");
    ChatCompletion hello =
        client.chat().completions().create(ChatCompletionCreateParams.builder().model(model).addUserMessage("hello").build());
    expect(!hello.choices().get(0).message().content().orElse("").isEmpty(), hello.toString());
    for (boolean streamed : new boolean[] {false, true}) {
      chat(model, streamed, List.of("Oslo"));
      chat(parallel, streamed, List.of("Bergen", "Oslo"));
    }
    ResponseCreateParams asked = ResponseCreateParams.builder().model(model).input("hello").build();
    Response whole = client.responses().create(asked);
    expect(!whole.output().isEmpty(), whole.toString());
    boolean[] completed = {false};
    try (StreamResponse<ResponseStreamEvent> stream = client.responses().createStreaming(asked)) {
      stream.stream().forEach(event -> completed[0] |= event.isCompleted());
    }
    expect(completed[0], "the stream has no end");
    expect(client.models().list().data().stream().anyMatch(each -> each.id().equals(model)), "no models");
    try {
      chat("no-such-agent", false, List.of());
      throw new AssertionError("an unknown model answered");
    } catch (NotFoundException error) {
      expect(error.code().orElse("").equals("model_not_found"), error.toString());
    }
    System.out.println("ok");
    System.exit(0);
  }

  /** Answers the calls of a streamed or whole message until there are none. */
  static void chat(String model, boolean streamed, List<String> expected) throws Exception {
    Map<String, Object> schema =
        Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string")), "required", List.of("city"));
    FunctionParameters.Builder parameters = FunctionParameters.builder();
    schema.forEach((key, value) -> parameters.putAdditionalProperty(key, JsonValue.from(value)));
    ChatCompletionCreateParams.Builder asked =
        ChatCompletionCreateParams.builder()
            .model(model)
            .addUserMessage(question)
            .addFunctionTool(
                FunctionDefinition.builder().name("get_weather").description("Tells the weather").parameters(parameters.build()).build());
    List<String> seen = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      ChatCompletionMessage message = (streamed ? read(asked) : client.chat().completions().create(asked.build())).choices().get(0).message();
      asked.addMessage(message);
      List<ChatCompletionMessageToolCall> calls = message.toolCalls().orElse(List.of());
      if (calls.isEmpty()) {
        expect(message.content().orElse("").contains("rain"), message.toString());
        break;
      }
      for (ChatCompletionMessageToolCall call : calls) {
        seen.add(new ObjectMapper().readTree(call.asFunction().function().arguments()).get("city").asText());
        asked.addMessage(ChatCompletionToolMessageParam.builder().toolCallId(call.asFunction().id()).content("rain").build());
      }
    }
    expect(seen.stream().sorted().toList().equals(expected), seen.toString());
  }

  static ChatCompletion read(ChatCompletionCreateParams.Builder asked) {
    ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
    try (StreamResponse<ChatCompletionChunk> stream = client.chat().completions().createStreaming(asked.build())) {
      stream.stream().forEach(whole::accumulate);
    }
    return whole.chatCompletion();
  }

  static void expect(boolean holds, String said) {
    if (!holds) throw new AssertionError(said);
  }
}
