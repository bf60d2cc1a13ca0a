import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Announcements } from "../components/announce.tsx";
import { Confirm } from "../components/confirm.tsx";
import { Icon, type IconName, Mark } from "../components/icon.tsx";
import { KeySheet } from "../components/key-sheet.tsx";
import { Palette } from "../components/palette.tsx";
import { askToSignOut } from "../components/sign-out.ts";
import { startFeed } from "../state/feed.ts";
import { paletteOpen, startKeys } from "../state/keys.ts";
import { path, to } from "../state/router.ts";
import { entry, hasKey, may, me, refusal } from "../state/session.ts";
import { theme } from "../state/settings.ts";
import { waiting } from "../state/title.ts";
import { startWaiting } from "../state/waiting.ts";
import { printable } from "../text/printable.ts";
import { ChatPage } from "./chat.tsx";
import { KeyPage } from "./key.tsx";
import { Lazy } from "./lazy.tsx";

export function App(): JSX.Element {
  if (entry.value === "asking") return <KeyPage />;
  if (entry.value === "unreachable") return <Unreachable />;
  if (entry.value === "checking") return <div class="splash" aria-busy="true" />;
  return <Shell />;
}

function Unreachable(): JSX.Element {
  return (
    <main class="center">
      <Icon name="warning" size={24} />
      <h1>The service does not answer</h1>
      <p class="muted">{printable(refusal.value)}. Trying again.</p>
    </main>
  );
}

const places: readonly { name: string; word: string; icon: IconName; scope: string; key: string }[] = [
  { name: "chat", word: "Chat", icon: "chat", scope: "start", key: "c" },
  { name: "runs", word: "Runs", icon: "runs", scope: "see", key: "r" },
  { name: "sessions", word: "Sessions", icon: "sessions", scope: "see", key: "t" },
  { name: "approvals", word: "Approvals", icon: "hand", scope: "see", key: "a" },
  { name: "schedules", word: "Schedules", icon: "clock", scope: "see", key: "d" },
  { name: "webhooks", word: "Webhooks", icon: "send", scope: "inspect", key: "w" },
  { name: "spend", word: "Spend", icon: "coins", scope: "see", key: "m" },
  { name: "service", word: "Service", icon: "service", scope: "inspect", key: "s" },
];

/** Entries that fit at the bottom of a phone; the others are in the command palette. */
const onPhones: ReadonlySet<string> = new Set(["chat", "runs", "sessions", "approvals"]);

/** The first page the key may use. */
const landing = (): string => places.find(({ scope }) => may(scope))?.name ?? "chat";

function Shell(): JSX.Element {
  useEffect(() => startKeys(), []);
  useEffect(() => startFeed(), []);
  useEffect(() => startWaiting(), []);
  const [page = landing()] = path.value;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <nav class="rail" aria-label="Pages">
        <a class="brand" href={to(landing())} aria-label="Venturi">
          <Mark />
          <span>Venturi</span>
        </a>
        {places
          .filter(({ scope }) => may(scope))
          .map(({ name, word, icon }) => (
            <a
              key={name}
              href={to(name)}
              class={`${page === name ? "here" : ""}${onPhones.has(name) ? "" : " wide-only"}`}
              aria-current={page === name ? "page" : undefined}
            >
              <Icon name={icon} />
              <span>{word}</span>
              {name === "approvals" && waiting.value > 0 ? (
                <b class="badge">
                  {waiting.value}
                  <span class="hidden-text"> waiting</span>
                </b>
              ) : null}
            </a>
          ))}
        <span class="spacer" />
        <button type="button" class="rail-button" onClick={() => (paletteOpen.value = true)}>
          <Icon name="command" />
          <span>
            <span class="wide-only">Command</span>
            <span class="narrow-only">More</span>
          </span>
          <kbd>⌘K</kbd>
        </button>
        <ThemeButton />
        {hasKey.value ? (
          <button
            type="button"
            class="rail-button wide-only"
            title={`Signed in as ${me.value.id}`}
            onClick={askToSignOut}
          >
            <Icon name="key" />
            <span>{printable(me.value.id || "Sign out")}</span>
          </button>
        ) : null}
      </nav>
      <main id="main" tabIndex={-1}>
        <Page name={page} />
      </main>
      <Palette />
      <Confirm />
      <KeySheet />
      <Announcements />
    </div>
  );
}

const later = {
  compare: "ComparePage",
  sessions: "SessionsPage",
  approvals: "ApprovalsPage",
  service: "ServicePage",
  runs: "RunsPage",
  schedules: "SchedulesPage",
  webhooks: "WebhooksPage",
  spend: "SpendPage",
} as const;

function Page({ name }: { name: string }): JSX.Element {
  const [, second] = path.value;
  if (name === "chat") return <ChatPage />;
  if (name === "runs" && second !== undefined) {
    const load = () =>
      import("./more.tsx").then(({ RunPage }) => () => <RunPage id={second} />);
    return <Lazy key={second} load={load} />;
  }
  if (name in later) {
    const page = later[name as keyof typeof later];
    return <Lazy key={name} load={() => import("./more.tsx").then((pages) => pages[page])} />;
  }
  return (
    <div class="center">
      <h1>There is no such page</h1>
      <p>
        <a href={to("runs")}>All runs</a>
      </p>
    </div>
  );
}

function ThemeButton(): JSX.Element {
  const next = { system: "light", light: "dark", dark: "system" } as const;
  return (
    <button
      type="button"
      class="rail-button wide-only"
      onClick={() => {
        theme.value = next[theme.value];
      }}
    >
      <Icon name={theme.value === "dark" ? "moon" : "sun"} />
      <span>Theme: {theme.value}</span>
    </button>
  );
}
