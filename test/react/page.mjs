// The page of the browser tests: a conversation, what waits for a person, and one run by its id; all of it under StrictMode.
import { createElement as h, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { VenturiClient } from "../../dist/src/client/client.js";
import { useApprovals, useRun, useSession, VenturiProvider } from "../../dist/src/react/react.js";

const query = new URLSearchParams(location.search);
const client = new VenturiClient({
  url: query.get("service"),
  transport: query.get("transport") ?? "sse",
  retry: { first: 20, longest: 200 },
});
const agent = query.get("agent") ?? "slow";

function Conversation() {
  const { turns, current, send, isLoading, error } = useSession(query.get("session"), { agent });
  return h(
    "section",
    null,
    h("button", { type: "button", id: "send", onClick: () => send("go") }, "send"),
    h("p", { id: "state" }, isLoading ? "loading" : (error?.code ?? "ready")),
    h(
      "ol",
      { id: "turns" },
      turns.map(({ run, output }) => h("li", { key: run, "data-run": run }, output)),
    ),
    current && h("p", { id: "current", "data-run": current.run, "data-status": current.status }, current.text),
    current && h("button", { type: "button", id: "stop", onClick: () => current.cancel() }, "stop"),
  );
}

function Approvals() {
  const { approvals, approve, deny } = useApprovals();
  const [failure, setFailure] = useState("");
  const answer = (give, approval) => () => give(approval).catch((error) => setFailure(error.code));
  return h(
    "section",
    null,
    h("p", { id: "failure" }, failure),
    h(
      "ul",
      { id: "approvals" },
      approvals.map((approval) =>
        h(
          "li",
          { key: approval.run + approval.call, "data-call": approval.call },
          approval.name,
          h("button", { type: "button", className: "approve", onClick: answer(approve, approval) }, "yes"),
          h("button", { type: "button", className: "deny", onClick: answer(deny, approval) }, "no"),
        ),
      ),
    ),
  );
}

function OneRun({ id }) {
  const run = useRun(id);
  const calls = run.calls.map((call) => h("li", { key: call.call }, `${call.name} ${call.status}`));
  const status = { id: "run", "data-status": run.status, "data-seq": run.seq };
  return h("section", null, h("p", status, run.text), h("ul", { id: "calls" }, calls));
}

const run = query.get("run");
const page = run === null ? [h(Conversation, { key: 1 }), h(Approvals, { key: 2 })] : h(OneRun, { id: run });
createRoot(document.getElementById("root")).render(h(StrictMode, null, h(VenturiProvider, { client }, page)));
