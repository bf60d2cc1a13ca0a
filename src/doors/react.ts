// Written by npm run generate.
import { ClientError } from "../client/client-error.ts";
import * as face from "../react/react.ts";
import { makeDoors } from "./door.ts";

export * from "../react/react.ts";

const { door } = makeDoors((op, err, cause) => new ClientError({ op, code: "invalid_input", err }, { cause }), {});
export const VenturiProvider = door("react.VenturiProvider", face.VenturiProvider, "argument 1: object");
export const useApprovals = door("react.useApprovals", face.useApprovals, "argument 1: object|undefined");
export const useRun = door("react.useRun", face.useRun, "id: string|undefined");
export const useSession = door("react.useSession", face.useSession, "session: string, argument 2: object");
export const useVenturi = door("react.useVenturi", face.useVenturi, "");
