import { Conversation } from "../conversation.js";

const find = (id) => document.getElementById(id);
const [said, text, stop, aloud] = ["said", "text", "stop", "aloud"].map(find);

/** A line of the conversation; text alone, whatever a model or a tool says. */
function line(kind, words) {
  const item = document.createElement("li");
  item.className = kind;
  item.textContent = words;
  said.append(item);
  item.scrollIntoView({ block: "end" });
  return item;
}

/** Speaks with the browser's own voice, sentence by sentence, and marks what is heard. */
function speak(item) {
  if (!aloud.checked || !("speechSynthesis" in window)) return;
  const utterance = new SpeechSynthesisUtterance(item.textContent);
  utterance.onstart = () => item.classList.add("speaking");
  utterance.onend = () => item.classList.remove("speaking");
  utterance.onerror = utterance.onend;
  speechSynthesis.speak(utterance);
}

const silence = () => {
  if ("speechSynthesis" in window) speechSynthesis.cancel();
};

/** The tool calls of this turn, by their id. */
const calls = new Map();

const conversation = new Conversation({
  url: new URL("/ws", location.href.replace(/^http/, "ws")).href,
  agent: new URLSearchParams(location.search).get("agent") ?? "host",
  key: new URLSearchParams(location.hash.slice(1)).get("key"),
  listener: {
    sentence: (words) => speak(line("agent", words)),
    called(name, input, call) {
      calls.set(call, line("tool", `⋯ ${name} ${JSON.stringify(input)}`));
    },
    told(call, words) {
      const item = calls.get(call);
      if (item !== undefined) item.textContent += `\n    ${words}`;
    },
    answered(name, result, ms, call) {
      const item = calls.get(call) ?? line("tool", "");
      item.textContent += `\n  ✔ ${name}: ${result} (${Math.round(ms)} ms)`;
      calls.delete(call);
    },
    refused(name, error, call) {
      const item = calls.get(call) ?? line("tool", "");
      item.textContent += `\n  ✗ ${name}: ${error}`;
      calls.delete(call);
    },
    asked: (name, input, answer) => answer(confirm(`May ${name} run with ${JSON.stringify(input)}?`)),
    retracted() {
      silence();
      line("end", "↩ again, with another model");
    },
    over(reason) {
      calls.clear();
      stop.disabled = true;
      if (reason === "done") return;
      silence();
      line("end", `■ ${reason}`);
    },
    gone(reason) {
      silence();
      line("end", reason);
    },
  },
});

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = text.value.trim();
  if (words === "") return;
  text.value = "";
  silence(); // who speaks is listened to
  conversation.say(words);
  line("you", words);
  stop.disabled = false;
});
stop.addEventListener("click", () => {
  silence();
  conversation.interrupt();
});
conversation.opened.then(
  () => line("end", "connected"),
  (error) => line("end", error.message),
);
text.focus();
