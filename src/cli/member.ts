import module from "node:module";
import { useBundle } from "./bundle.ts";

module.enableCompileCache();
useBundle();
await import("./serve-member.ts");
