import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** LangChain4j's AI services on its OpenAI and Anthropic models; nothing set but the address, the key and the model. */
public class LangChain4j {
  static final List<String> cities = Collections.synchronizedList(new ArrayList<>());

  static class Weather {
    @Tool(name = "get_weather", value = "Tells the weather in a city")
    String weather(String city) {
      cities.add(city);
      return "rain";
    }
  }

  interface Assistant {
    String chat(String text);
  }

  interface Streaming {
    TokenStream chat(String text);
  }

  public static void main(String[] given) throws Exception {
    String model = System.getenv("MODEL");
    String parallel = System.getenv("PARALLEL_MODEL");
    String openai = System.getenv("OPENAI_BASE_URL");
    String anthropic = System.getenv("ANTHROPIC_BASE_URL");
    for (boolean vendor : new boolean[] {false, true}) {
      // Its Anthropic model takes a base URL with /v1; without it works too.
      for (String base : vendor ? List.of(anthropic, anthropic + "/v1/") : List.of(openai)) {
        expect(!whole(vendor, base, model).chat("hello").isEmpty(), "no text");
        ask(whole(vendor, base, model), streaming(vendor, base, model), List.of("Oslo"));
        ask(whole(vendor, base, parallel), streaming(vendor, base, parallel), List.of("Bergen", "Oslo"));
      }
    }
    System.out.println("ok");
    System.exit(0);
  }

  static ChatModel whole(boolean anthropic, String base, String model) {
    return anthropic
        ? AnthropicChatModel.builder().baseUrl(base).apiKey("none").modelName(model).build()
        : OpenAiChatModel.builder().baseUrl(base).apiKey("none").modelName(model).build();
  }

  static StreamingChatModel streaming(boolean anthropic, String base, String model) {
    return anthropic
        ? AnthropicStreamingChatModel.builder().baseUrl(base).apiKey("none").modelName(model).build()
        : OpenAiStreamingChatModel.builder().baseUrl(base).apiKey("none").modelName(model).build();
  }

  static void ask(ChatModel whole, StreamingChatModel streaming, List<String> expected) throws Exception {
    String question = "What is the weather in Oslo?";
    cities.clear();
    String said = AiServices.builder(Assistant.class).chatModel(whole).tools(new Weather()).build().chat(question);
    told(said, expected);
    CompletableFuture<String> answer = new CompletableFuture<>();
    AiServices.builder(Streaming.class)
        .streamingChatModel(streaming)
        .tools(new Weather())
        .build()
        .chat(question)
        .onPartialResponse(text -> {})
        .onCompleteResponse(response -> answer.complete(response.aiMessage().text()))
        .onError(answer::completeExceptionally)
        .start();
    told(answer.get(60, TimeUnit.SECONDS), expected);
  }

  static void told(String said, List<String> expected) {
    List<String> seen = cities.stream().sorted().toList();
    cities.clear();
    expect(seen.equals(expected), "cities: " + seen);
    expect(said.contains("rain"), said);
  }

  static void expect(boolean holds, String said) {
    if (!holds) throw new AssertionError(said);
  }
}
