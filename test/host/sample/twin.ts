import original from "./tool.ts";

export default { ...original };
