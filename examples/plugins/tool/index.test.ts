import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { callTool, testPluginContext, toolContract, toolNamed } from "venturi/testing";
import plugin from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "query-"));
const database = new DatabaseSync(join(folder, "shop.db"));
database.exec("CREATE TABLE orders (number TEXT, amount REAL); INSERT INTO orders VALUES ('A-17', 240), ('A-18', 12)");
database.close();
after(() => rmSync(folder, { recursive: true }));

const create = () =>
  plugin.create(plugin.options.parse({ database: "shop.db", maxRows: 1 }), testPluginContext({ name: "shop", folder }));

toolContract("query", {
  create,
  samples: [{ tool: "shop", input: { sql: "SELECT count(*) FROM orders" } }],
  misfits: [{ tool: "shop", input: { query: "SELECT 1" } }],
  failures: [{ tool: "shop", input: { sql: "DELETE FROM orders" } }],
});

describe("query", () => {
  it("tells rows up to its limit, and how many more there are", async () => {
    const tool = await create();
    const { output } = await callTool(toolNamed(tool, "shop"), { sql: "SELECT number FROM orders ORDER BY amount" });
    assert.deepEqual(JSON.parse(JSON.stringify(output)), { rows: [{ number: "A-18" }], more: 1 });
    await tool.close?.();
  });

  it("tells the model the tables", async () => {
    const tool = await create();
    assert.match(toolNamed(tool, "shop").description, /orders \(number TEXT, amount REAL\)/);
    await tool.close?.();
  });
});
