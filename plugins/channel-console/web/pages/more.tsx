// Pages and components loaded when the first of them is opened: one file rather than many small ones.
export { ForkDialog } from "../components/fork.tsx";
export { Inspector } from "../components/inspector.tsx";
export { Unfolded } from "../components/unfolded.tsx";
export { ApprovalsPage } from "./approvals.tsx";
export { ComparePage } from "./compare.tsx";
export { RequestView } from "./request.tsx";
export { RunPage } from "./run.tsx";
export { RunsPage } from "./runs.tsx";
export { SchedulesPage } from "./schedules.tsx";
export { ServicePage } from "./service.tsx";
export { SessionsPage } from "./sessions.tsx";
export { SpansView } from "./spans.tsx";
export { SpendPage } from "./spend.tsx";
export { WebhooksPage } from "./webhooks.tsx";
export { WireView } from "./wire.tsx";
