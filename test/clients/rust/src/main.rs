//! genai over OpenAI's two APIs and Anthropic's; whole, streamed, with tools and with two calls at once.

use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall, ToolResponse};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

fn client(kind: AdapterKind) -> Result<Client, Failure> {
    let base = match kind {
        AdapterKind::Anthropic => format!("{}/v1/", std::env::var("ANTHROPIC_BASE_URL")?),
        _ => format!("{}/", std::env::var("OPENAI_BASE_URL")?),
    };
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(base.clone()),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(kind, target.model.model_name),
            })
        },
    );
    Ok(Client::builder().with_service_target_resolver(resolver).build()?)
}

/// Text and calls of one answer.
async fn ask(
    client: &Client,
    model: &str,
    asked: ChatRequest,
    streamed: bool,
) -> Result<(String, Vec<ToolCall>), Failure> {
    if !streamed {
        let answer = client.exec_chat(model, asked, None).await?;
        return Ok((answer.first_text().unwrap_or("").to_string(), answer.into_tool_calls()));
    }
    let options = ChatOptions::default().with_capture_tool_calls(true);
    let mut answer = client.exec_chat_stream(model, asked, Some(&options)).await?;
    let (mut text, mut calls) = (String::new(), Vec::new());
    while let Some(event) = answer.stream.next().await {
        match event? {
            ChatStreamEvent::Chunk(chunk) => text.push_str(&chunk.content),
            ChatStreamEvent::End(end) => calls = end.captured_into_tool_calls().unwrap_or_default(),
            _ => {}
        }
    }
    Ok((text, calls))
}

async fn converse(client: &Client, model: &str, streamed: bool, expected: &[&str]) -> Result<(), Failure> {
    let tool = Tool::new("get_weather").with_description("Tells the weather in a city").with_schema(json!({
        "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"]
    }));
    let mut asked = ChatRequest::new(vec![ChatMessage::user("What is the weather in Oslo?")]).with_tools(vec![tool]);
    let mut cities = Vec::new();
    for _ in 0..3 {
        let (text, calls) = ask(client, model, asked.clone(), streamed).await?;
        if calls.is_empty() {
            assert!(text.contains("rain"), "{model}: {text}");
            break;
        }
        asked = asked.append_message(calls.clone());
        for call in calls {
            cities.push(call.fn_arguments["city"].as_str().unwrap_or("").to_string());
            asked = asked.append_message(ToolResponse::new(call.call_id, "rain"));
        }
    }
    cities.sort();
    assert_eq!(cities, expected, "{model}");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let model = std::env::var("MODEL")?;
    let parallel = std::env::var("PARALLEL_MODEL")?;
    for kind in [AdapterKind::OpenAI, AdapterKind::OpenAIResp, AdapterKind::Anthropic] {
        let client = client(kind)?;
        for streamed in [false, true] {
            let hello = ChatRequest::new(vec![ChatMessage::user("hello")]);
            assert!(!ask(&client, &model, hello, streamed).await?.0.is_empty());
            converse(&client, &model, streamed, &["Oslo"]).await?;
            converse(&client, &parallel, streamed, &["Bergen", "Oslo"]).await?;
        }
    }
    println!("ok");
    Ok(())
}
