/** Formats figures and times. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 1) return `${ms <= 0 ? 0 : ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function count(value: number): string {
  if (value < 1000) return String(Math.round(value));
  if (value < 10_000) return `${(value / 1000).toFixed(1)}k`;
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** USD, with enough digits for small amounts. */
export function money(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  if (usd < 1) return `$${usd.toPrecision(2)}`;
  return usd < 1000 ? `$${usd.toFixed(2)}` : `$${count(usd)}`;
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  return value < 1_000_000 ? `${(value / 1000).toFixed(1)} kB` : `${(value / 1_000_000).toFixed(1)} MB`;
}

export function ago(at: number, now: number): string {
  const ms = now - at;
  if (ms < 5_000) return "now";
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s ago`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ago`;
  return new Date(at).toLocaleDateString(undefined, { month: "short", day: "numeric" });
}

export const clockTime = (at: number): string => {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const ms = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
};

export const short = (text: string, most = 80): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

export const oneLine = (text: string | undefined): string => (text ?? "").replaceAll(/\s+/g, " ").trim();

/** Text for a list: on one line, without Markdown, and with a space between the texts of two rounds. */
export const plain = (text: string | undefined): string =>
  oneLine(apart((text ?? "").replaceAll(/\*\*|__|`+|^#+ /gm, "")));

const isLower = (letter: string): boolean => letter !== letter.toUpperCase();
const isUpper = (letter: string): boolean => letter !== letter.toLowerCase();

/** Separates the texts of rounds, which a run's output concatenates: "One moment.Order A-17 …". */
function apart(text: string): string {
  let words = "";
  let from = 0;
  for (let at = 1; at < text.length - 1; at += 1) {
    const [before = "", sign = "", after = "", next = ""] = [text[at - 1], text[at], text[at + 1], text[at + 2]];
    if (!".!?:…".includes(sign) || !isLower(before) || !isUpper(after)) continue;
    if (!isLower(next) && next !== " ") continue;
    words += `${text.slice(from, at + 1)} `;
    from = at + 1;
  }
  return words + text.slice(from);
}

/** Shortens a run's id in the middle, since ids differ at their ends. */
export const shortRun = (run: string): string => (run.length <= 14 ? run : `${run.slice(0, 4)}…${run.slice(-6)}`);
