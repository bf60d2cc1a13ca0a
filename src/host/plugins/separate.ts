/** Plugins with heavy dependencies of their own, by name: packages beside `venturi`, of the same version. */
export const separate: Readonly<Record<string, string>> = {
  nats: "@venturi/nats",
  postgres: "@venturi/postgres",
};

/** Plugins that are part of another plugin's package (`also`), by name. */
export const broughtBy: Readonly<Record<string, string>> = { "recall-postgres": "postgres" };
