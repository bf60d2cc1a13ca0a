import { effect, signal } from "@preact/signals";

type Theme = "system" | "light" | "dark";

export const readSetting = (name: string): string | null => {
  try {
    return localStorage.getItem(`venturi.${name}`);
  } catch {
    return null; // Storage may be disabled.
  }
};
export const writeSetting = (name: string, value: string): void => {
  try {
    localStorage.setItem(`venturi.${name}`, value);
  } catch {
    // It then applies to this page only.
  }
};

export const theme = signal<Theme>((readSetting("theme") as Theme | null) ?? "system");
/** Single-key shortcuts can be disabled (WCAG 2.1.4). */
export const singleKeys = signal(readSetting("keys") !== "off");

export function startSettings(): void {
  effect(() => {
    const { value } = theme;
    writeSetting("theme", value);
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  });
  effect(() => writeSetting("keys", singleKeys.value ? "on" : "off"));
}
