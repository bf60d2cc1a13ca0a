/** Plugins with heavy dependencies of their own, by name: packages beside `venturi`, of the same version. */
export const separate: Readonly<Record<string, string>> = {
  nats: "@venturi/nats",
  postgres: "@venturi/postgres",
};
