import { effect, signal } from "@preact/signals";

type Theme = "system" | "light" | "dark";

const read = (name: string): string | null => {
  try {
    return localStorage.getItem(`venturi.${name}`);
  } catch {
    return null; // storage may be switched off
  }
};
const write = (name: string, value: string): void => {
  try {
    localStorage.setItem(`venturi.${name}`, value);
  } catch {
    // then it counts for this page only
  }
};

export const theme = signal<Theme>((read("theme") as Theme | null) ?? "system");
/** Keys without a modifier can be switched off (WCAG 2.1.4). */
export const singleKeys = signal(read("keys") !== "off");

export function startSettings(): void {
  effect(() => {
    const { value } = theme;
    write("theme", value);
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  });
  effect(() => write("keys", singleKeys.value ? "on" : "off"));
}
