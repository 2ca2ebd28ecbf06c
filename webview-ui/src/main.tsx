/**
 * The entry of the webview. The host's page is
 *
 *     <body data-host="vscode"> (or "browser") <div id="root"></div> </body>
 *
 * and loads main.css and this file, bundled as main.js, as a module; in VS Code with the nonce of its
 * Content-Security-Policy. If the panel is not in English, the body has its texts as JSON in `data-texts`. The state of
 * an earlier page, which VS Code's host stored, is JSON in `data-view`.
 * In a browser the host's WebSocket is `bridge`, beside the page.
 */
import "@vscode/codicons/dist/codicon.css";
import "./styles/browser-theme.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/content.css";
import "./styles/conversation.css";
import "./styles/composer.css";
import "./styles/chat.css";
import "./styles/dock.css";
import "./styles/card.css";
import "./styles/flow.css";
import "./styles/timeline.css";
import "./styles/form.css";
import "./styles/menus.css";
import "./styles/servers.css";
import "./styles/setup.css";
import "./styles/tasks.css";
import "./styles/tools.css";
import "./styles/apps.css";
import { createRoot } from "react-dom/client";
import { applyBrowserTheme } from "./browserTheme.ts";
import { App } from "./components/app/App.tsx";
import { loadTexts } from "./lib/l10n.ts";
import { createBridge } from "./link/bridge.ts";
import { createSession } from "./store/session.ts";
import { ViewStateStore } from "./view/viewState.ts";

loadTexts(document.body);
applyBrowserTheme(window);
const bridge = createBridge();
const view = new ViewStateStore(bridge.storage);
const session = createSession(view);
const root = document.getElementById("root");
if (root === null) throw new Error('the page has no element with the id "root"');
createRoot(root).render(<App session={session} view={view} />);
bridge.connect(session);
