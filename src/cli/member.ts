import module from "node:module";
import { useBundle } from "./bundle.ts";

module.enableCompileCache();
useBundle();
const { serve } = await import("./serve-member.ts");
await serve();
