import { render } from "preact";
import { App } from "./pages/app.tsx";
import { startClocks } from "./state/clock.ts";
import { startRouter } from "./state/router.ts";
import { enter } from "./state/session.ts";
import { startSettings } from "./state/settings.ts";

startSettings();
startRouter();
startClocks();
void enter();
const place = document.getElementById("app");
if (place !== null) render(<App />, place);
