import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { definePlugin, defineTool, fromToolOptions, toolOptions, VenturiError } from "venturi/plugin";
import { z } from "zod";

export default definePlugin({
  name: "query",
  kind: "tool",
  description: "Asks a SQLite database, reading only",
  options: z.strictObject({
    ...toolOptions,
    database: z.string().describe("Path of the database, relative to the configuration."),
    maxRows: z.number().int().positive().default(100).describe("Maximum rows that the model sees."),
  }),
  create(options, context) {
    const database = new DatabaseSync(resolve(context.folder, options.database), { readOnly: true });
    const tool = defineTool({
      ...fromToolOptions(options),
      name: context.name,
      description: `Runs one SELECT on a SQLite database with the tables: ${tablesOf(database)}.`,
      input: z.strictObject({ sql: z.string().describe("One SELECT statement.") }),
      effect: "pure", // it can't write, so it may start while the model still talks and run again after a crash
      call({ sql }) {
        const rows = select(database, sql);
        return { rows: rows.slice(0, options.maxRows), more: Math.max(0, rows.length - options.maxRows) };
      },
    });
    return {
      ...tool,
      close() {
        if (database.isOpen) database.close();
      },
    };
  },
});

function select(database: DatabaseSync, sql: string): Record<string, unknown>[] {
  try {
    return database.prepare(sql).all();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "unknown";
    throw new VenturiError("query.select", "tool_failed", `the database refused it: ${reason}`, { cause: thrown });
  }
}

function tablesOf(database: DatabaseSync): string {
  const rows = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table'").all();
  return rows.map((row) => row.sql).join("; ");
}
