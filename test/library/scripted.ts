import type { App, Venturi } from "venturi";
import { openVenturi } from "venturi";
import { type Generation, ScriptedModel } from "../../src/testing/model.ts";

/** A program's agents on a scripted model: their models are `scripted/…`. */
export async function scripted(
  script: readonly Generation[],
  app: App,
): Promise<{ venturi: Venturi; model: ScriptedModel }> {
  const model = new ScriptedModel(script);
  const venturi = await openVenturi({ ...app, providers: [{ name: "scripted", provider: model }] });
  return { venturi, model };
}

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
