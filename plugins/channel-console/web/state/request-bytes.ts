import { authorization } from "./session.ts";

/** Fetches a response that is not JSON, with the key in a header. */
export async function requestBytes(path: string): Promise<ArrayBuffer> {
  const response = await fetch(path, { headers: authorization() });
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  return await response.arrayBuffer();
}
