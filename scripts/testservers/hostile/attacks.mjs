// What a hostile app tries, by theme. An attack is a name and a function that runs in the page; it returns true, or a
// promise of true, if it could do what no app may. An attack on the network is found out by the canary instead: a server
// that must get no request.
// @ts-check
// biome-ignore-all lint/suspicious/noDocumentCookie: that is the attack

/**
 * @typedef {object} Tools what an attack can use in the page
 * @property {string} canary the address of the canary over HTTP, with a slash at its end
 * @property {string} socket the same over WebSocket
 * @property {(html: string) => void} draw adds HTML to the page
 * @property {(css: string) => void} style adds a style sheet
 * @property {(method: string, params?: unknown) => Promise<any>} ask sends a request to the panel
 * @property {(message: object) => void} say sends a message to the panel
 *
 * @typedef {readonly [name: string, run: (tools: Tools) => unknown]} Attack
 */

/** Requests of the network. Each has its name in the address. */
/** @type {readonly Attack[]} */
const requests = [
  ["fetch", (t) => fetch(`${t.canary}fetch`)],
  ["fetch without CORS", (t) => fetch(`${t.canary}no-cors`, { mode: "no-cors" })],
  ["fetch that stays", (t) => fetch(`${t.canary}keepalive`, { keepalive: true, method: "POST" })],
  [
    "XMLHttpRequest",
    (t) => {
      const request = new XMLHttpRequest();
      request.open("GET", `${t.canary}xhr`);
      request.send();
    },
  ],
  ["beacon", (t) => navigator.sendBeacon(`${t.canary}beacon`, "x") && undefined],
  ["WebSocket", (t) => new WebSocket(`${t.socket}socket`) && undefined],
  ["EventSource", (t) => new EventSource(`${t.canary}events`) && undefined],
  ["image", (t) => t.draw(`<img src="${t.canary}img">`)],
  ["image object", (t) => Object.assign(new Image(), { src: `${t.canary}image` }) && undefined],
  ["image set", (t) => t.draw(`<img srcset="${t.canary}srcset 1x">`)],
  ["picture", (t) => t.draw(`<picture><source srcset="${t.canary}picture"><img></picture>`)],
  ["image button", (t) => t.draw(`<input type="image" src="${t.canary}input">`)],
  ["background of a table", (t) => t.draw(`<table background="${t.canary}table"><td>x</table>`)],
  ["video", (t) => t.draw(`<video src="${t.canary}video" autoplay muted></video>`)],
  ["poster", (t) => t.draw(`<video poster="${t.canary}poster"></video>`)],
  ["audio", (t) => t.draw(`<audio src="${t.canary}audio" preload="auto"></audio>`)],
  ["track", (t) => t.draw(`<video><track src="${t.canary}track" default></video>`)],
  ["frame", (t) => t.draw(`<iframe src="${t.canary}iframe"></iframe>`)],
  [
    "frame in a frame",
    (t) => t.draw(`<iframe srcdoc="<iframe src='${t.canary}nested'></iframe>"></iframe>`),
  ],
  ["object", (t) => t.draw(`<object data="${t.canary}object"></object>`)],
  ["embed", (t) => t.draw(`<embed src="${t.canary}embed">`)],
  ["style sheet", (t) => t.draw(`<link rel="stylesheet" href="${t.canary}css">`)],
  ["prefetch", (t) => t.draw(`<link rel="prefetch" href="${t.canary}prefetch">`)],
  ["preload", (t) => t.draw(`<link rel="preload" as="image" href="${t.canary}preload">`)],
  ["module preload", (t) => t.draw(`<link rel="modulepreload" href="${t.canary}module.js">`)],
  ["icon", (t) => t.draw(`<link rel="icon" href="${t.canary}icon">`)],
  ["manifest", (t) => t.draw(`<link rel="manifest" href="${t.canary}manifest">`)],
  ["preconnect", (t) => t.draw(`<link rel="preconnect" href="${t.canary}">`)],
  ["speculation rules", (t) => t.draw(`<link rel="prerender" href="${t.canary}prerender">`)],
  ["import of CSS", (t) => t.style(`@import "${t.canary}import";`)],
  ["background", (t) => t.style(`body { background: url(${t.canary}background) }`)],
  [
    "font",
    (t) =>
      t.style(`@font-face { font-family: x; src: url(${t.canary}font) } body { font-family: x }`),
  ],
  ["cursor", (t) => t.style(`body { cursor: url(${t.canary}cursor), auto }`)],
  ["list mark", (t) => t.style(`li { list-style-image: url(${t.canary}list) }`)],
  ["content", (t) => t.style(`body::after { content: url(${t.canary}content) }`)],
  ["border", (t) => t.style(`body { border: 1px solid; border-image: url(${t.canary}border) 1 }`)],
  ["mask", (t) => t.style(`body { mask: url(${t.canary}mask) }`)],
  ["image set of CSS", (t) => t.style(`html { background: image-set(url(${t.canary}set) 1x) }`)],
  [
    "what is typed, by CSS",
    (t) => {
      t.draw('<input id="pin" value="1234">');
      t.style(`#pin[value^="1"] { background: url(${t.canary}typed) }`);
    },
  ],
  [
    "glyphs, by CSS",
    (t) =>
      t.style(
        `@font-face { font-family: y; src: url(${t.canary}glyph); unicode-range: U+41 } p { font-family: y }`,
      ),
  ],
  [
    "image of SVG",
    (t) => t.draw(`<svg><image href="${t.canary}svg-image" width="9" height="9"/></svg>`),
  ],
  ["use of SVG", (t) => t.draw(`<svg><use href="${t.canary}svg-use#x"/></svg>`)],
  [
    "filter of SVG",
    (t) =>
      t.draw(
        `<svg><filter id="f"><feImage href="${t.canary}fe-image"/></filter><rect filter="url(#f)" width="9" height="9"/></svg>`,
      ),
  ],
  ["style of SVG", (t) => t.draw(`<svg><style>@import "${t.canary}svg-style";</style></svg>`)],
  [
    "image in foreignObject",
    (t) =>
      t.draw(
        `<svg><foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="${t.canary}foreign"/></foreignObject></svg>`,
      ),
  ],
  [
    "script of another place",
    (t) =>
      document.head.append(
        Object.assign(document.createElement("script"), { src: `${t.canary}script.js` }),
      ),
  ],
  ["import of a module", (t) => import(`${t.canary}import.js`)],
  ["worker of another place", (t) => new Worker(`${t.canary}worker.js`) && undefined],
  [
    "fetch in a worker",
    (t) =>
      new Worker(URL.createObjectURL(new Blob([`fetch("${t.canary}in-worker")`]))) && undefined,
  ],
  [
    "script in a worker",
    (t) =>
      new Worker(URL.createObjectURL(new Blob([`importScripts("${t.canary}worker-script.js")`]))) &&
      undefined,
  ],
  [
    "form in a new page",
    (t) => {
      t.draw(`<form id="blank" target="_blank" action="${t.canary}form-blank"></form>`);
      /** @type {any} */ (document.getElementById("blank")).submit();
    },
  ],
  [
    "ping of a link",
    (t) => {
      t.draw(`<a id="pinged" href="#x" ping="${t.canary}ping">x</a>`);
      document.getElementById("pinged")?.click();
    },
  ],
  [
    "base",
    (t) => {
      t.draw(`<base href="${t.canary}base/">`);
      t.draw('<img src="relative">');
    },
  ],
  [
    "report of the policy",
    (t) => {
      t.draw(
        `<meta http-equiv="Content-Security-Policy" content="img-src 'none'; report-uri ${t.canary}report">`,
      );
      t.draw('<img src="data:image/png;base64,x">');
    },
  ],
  [
    "WebRTC",
    async (t) => {
      const { host } = new URL(t.canary);
      const peer = new RTCPeerConnection({
        iceServers: [{ urls: `turn:${host}?transport=tcp`, username: "a", credential: "b" }],
      });
      peer.createDataChannel("x");
      await peer.setLocalDescription(await peer.createOffer());
    },
  ],
  ["WebTransport", (t) => new WebTransport(t.canary.replace("http:", "https:")) && undefined],
];

/** @type {Attack} */
const copying = [
  "copying",
  () => {
    getSelection()?.selectAllChildren(document.body);
    return document.execCommand("copy");
  },
];

/** What the panel and the browser have. */
/** @type {readonly Attack[]} */
const reaching = [
  ["the panel's document", () => parent.document.body !== null],
  ["the top document", () => top?.document.body !== null],
  ["the panel's address", () => parent.location.href !== ""],
  ["the address of the top", () => top?.location.href !== ""],
  ["the element of the frame", () => window.frameElement !== null],
  ["the opener", () => window.opener !== null],
  ["the panel's storage", () => parent.localStorage.length >= 0],
  ["VS Code's interface", () => /** @type {any} */ (parent).acquireVsCodeApi() !== undefined],
  ["a function of the panel", () => /** @type {any} */ (top).eval("1") === 1],
  ["another frame of ours", () => parent.length > 1],
  ["the top's frames", () => top?.frames[0]?.document !== undefined],
  [
    "a property of the panel",
    () => {
      /** @type {any} */ (parent).escaped = 1;
      return true;
    },
  ],
  ["the panel's name", () => parent.name !== undefined && false],
  [
    "the domain",
    () => {
      document.domain = "localhost";
      return true;
    },
  ],
  ["an origin", () => self.origin !== "null"],
  [
    "cookies",
    () => {
      document.cookie = "a=b";
      return document.cookie !== "";
    },
  ],
  [
    "the store of cookies",
    async () => (await /** @type {any} */ (window).cookieStore.getAll()).length >= 0,
  ],
  [
    "local storage",
    () => {
      localStorage.setItem("a", "b");
      return true;
    },
  ],
  [
    "session storage",
    () => {
      sessionStorage.setItem("a", "b");
      return true;
    },
  ],
  [
    "IndexedDB",
    () =>
      new Promise((resolve) => {
        const request = indexedDB.open("a");
        request.onsuccess = () => resolve(true);
        request.onerror = () => resolve(false);
      }),
  ],
  ["caches", async () => (await caches.open("a")) !== undefined],
  ["a private file system", async () => (await navigator.storage.getDirectory()) !== undefined],
  ["persistent storage", async () => navigator.storage.persist()],
  [
    "a service worker",
    async () => (await navigator.serviceWorker.register("/sw.js")) !== undefined,
  ],
  ["a shared worker", () => new SharedWorker(location.href).port === undefined],
  ["locks", async () => (await navigator.locks.query()).held !== undefined],
  [
    "the panel's history",
    () => {
      history.go(-1);
      return false;
    },
  ],
  ["a name of the prototype", () => /** @type {any} */ ({}).escaped !== undefined],
  copying,
];

/** Features that a page could ask for, also where the browser has no device, account or window for them. */
const features = [
  ...[
    "camera",
    "display-capture",
    "fullscreen",
    "geolocation",
    "hid",
    "idle-detection",
    "microphone",
  ],
  ...["midi", "payment", "publickey-credentials-get", "screen-wake-lock", "serial", "usb"],
];

/** Features of the browser that need a permission. */
/** @type {readonly Attack[]} */
const permissions = [
  ["camera", async () => (await navigator.mediaDevices.getUserMedia({ video: true })).active],
  ["microphone", async () => (await navigator.mediaDevices.getUserMedia({ audio: true })).active],
  ["screen", async () => (await navigator.mediaDevices.getDisplayMedia()).active],
  [
    "place",
    () =>
      new Promise((done) =>
        navigator.geolocation.getCurrentPosition(
          () => done(true),
          () => done(false),
        ),
      ),
  ],
  ["reading of the clipboard", async () => (await navigator.clipboard.readText()) !== undefined],
  [
    "writing of the clipboard",
    async () => {
      await navigator.clipboard.writeText("a");
      return true;
    },
  ],
  copying,
  ["notifications", async () => (await Notification.requestPermission()) === "granted"],
  ["MIDI", async () => (await navigator.requestMIDIAccess({ sysex: true })) !== undefined],
  [
    "USB",
    async () =>
      (await /** @type {any} */ (navigator).usb.requestDevice({ filters: [] })) !== undefined,
  ],
  [
    "serial ports",
    async () => (await /** @type {any} */ (navigator).serial.requestPort()) !== undefined,
  ],
  [
    "HID",
    async () =>
      (await /** @type {any} */ (navigator).hid.requestDevice({ filters: [] })) !== undefined,
  ],
  [
    "Bluetooth",
    async () => (await /** @type {any} */ (navigator).bluetooth.requestDevice()) !== undefined,
  ],
  ["wake lock", async () => (await navigator.wakeLock.request()) !== undefined],
  [
    "full screen",
    async () => {
      await document.documentElement.requestFullscreen();
      return true;
    },
  ],
  [
    "pointer lock",
    async () => {
      await document.body.requestPointerLock();
      return true;
    },
  ],
  [
    "keyboard lock",
    async () => {
      await /** @type {any} */ (navigator).keyboard.lock();
      return true;
    },
  ],
  [
    "choosing a file",
    async () => (await /** @type {any} */ (window).showOpenFilePicker()) !== undefined,
  ],
  [
    "saving a file",
    async () => (await /** @type {any} */ (window).showSaveFilePicker()) !== undefined,
  ],
  [
    "credentials",
    async () => (await /** @type {any} */ (navigator.credentials).get({ password: true })) !== null,
  ],
  [
    "a passkey",
    async () =>
      (await navigator.credentials.get({ publicKey: { challenge: new Uint8Array(9) } })) !== null,
  ],
  [
    "idle detection",
    async () => (await /** @type {any} */ (window).IdleDetector.requestPermission()) === "granted",
  ],
  [
    "payment",
    async () =>
      (await new PaymentRequest([{ supportedMethods: "https://a.example/" }], {
        total: { label: "a", amount: { currency: "EUR", value: "1" } },
      }).show()) !== undefined,
  ],
  [
    "sharing",
    async () => {
      await navigator.share({ text: "a" });
      return true;
    },
  ],
  ...features.map(
    (name) =>
      /** @type {any} */ ([
        `the feature ${name}`,
        new Function(`return document.featurePolicy.allowsFeature("${name}")`),
      ]),
  ),
];

/** Windows, dialogs and downloads. The story sees a page, a dialog or a download. */
/** @type {readonly Attack[]} */
const windows = [
  ["a window", (t) => window.open(`${t.canary}window`) !== null],
  ["an empty window", () => window.open("") !== null],
  ["a window in the panel's place", (t) => window.open(`${t.canary}top`, "_top") === top && false],
  [
    "a window in the frame's place",
    (t) => window.open(`${t.canary}parent`, "_parent") === parent && false,
  ],
  ["a window of a program", () => window.open("vscode://settings/x") !== null],
  [
    "an alert",
    () => {
      alert("a");
      return false;
    },
  ],
  ["a question", () => confirm("a")],
  ["a prompt", () => prompt("a") !== null],
  [
    "printing",
    () => {
      print();
      return false;
    },
  ],
  [
    "a download",
    () => {
      const link = Object.assign(document.createElement("a"), {
        href: "data:text/plain,a",
        download: "a",
      });
      link.click();
    },
  ],
  ...["_blank", "_top", "_parent", "other"].map(
    (target) =>
      /** @type {any} */ ([
        `a link to ${target}`,
        new Function(
          "t",
          `
          t.draw('<a id="to${target}" target="${target}" href="' + t.canary + 'link">x</a>');
          document.getElementById("to${target}").click();
        `,
        ),
      ]),
  ),
  ...[
    "javascript:parent.escaped=1",
    "vscode://a/b",
    "command:assent.newTask",
    "mailto:a@example.com",
    "file:///etc/passwd",
    "blob:null/1",
    "data:text/html,x",
    "about:blank",
    "view-source:x",
    "chrome://version",
  ].map(
    (href) =>
      /** @type {any} */ ([
        `the top at ${href}`,
        new Function(`top.location.href = ${JSON.stringify(href)};`),
      ]),
  ),
  [
    "leaving the panel",
    () => {
      window.onbeforeunload = () => "stay";
      return false;
    },
  ],
  [
    "stopping the panel",
    () => {
      top?.stop();
      return true;
    },
  ],
  [
    "closing the panel",
    () => {
      top?.close();
      return false;
    },
  ],
  [
    "the panel's focus",
    () => {
      top?.focus();
      parent.focus();
      return false;
    },
  ],
];

/** Requests and messages to the panel. Whoever gets a result has escaped. */
/** @type {readonly Attack[]} */
const asking = [
  ...[
    "askResponse",
    "task/list",
    "task/create",
    "task/open",
    "chat/send",
    "call/start",
    "server/list",
    "grants/create",
    "policy/list",
    "journal/read",
    "setup/apply",
    "host/reveal",
    "host/openUrl",
    "initialize",
    "shutdown",
    "sampling/createMessage",
    "elicitation/create",
    "roots/list",
    "tools/list",
    "prompts/get",
    "completion/complete",
    "resources/subscribe",
    "logging/setLevel",
    "tasks/list",
    "server/discover",
    "ui/download-file",
    "__proto__",
    "constructor",
    "toString",
    "",
  ].map(
    (method) =>
      /** @type {any} */ ([
        `the method ${JSON.stringify(method)}`,
        new Function(
          "t",
          `return t.ask(${JSON.stringify(method)}, { name: "quiet", taskId: "x" }).then((it) => it.result !== undefined);`,
        ),
      ]),
  ),
  ...[
    "javascript:alert(1)",
    "vscode://a",
    "command:a",
    "file:///etc/passwd",
    "data:text/html,a",
    "http://a@b.example",
    "https://",
    "ftp://a.example",
    "//a.example",
    "https://a.example\\\\@b",
  ].map(
    (url) =>
      /** @type {any} */ ([
        `a link to ${url}`,
        new Function(
          "t",
          `return t.ask("ui/open-link", { url: ${JSON.stringify(url)} }).then((it) => it.result !== undefined && it.result.isError !== true);`,
        ),
      ]),
  ),
  [
    "a tool that is not for apps",
    (t) =>
      t
        .ask("tools/call", { name: "notForApps", arguments: {} })
        .then((it) => it.result !== undefined),
  ],
  [
    "a tool that is not there",
    (t) =>
      t
        .ask("tools/call", { name: "other__tool", arguments: {} })
        .then((it) => it.result !== undefined),
  ],
  [
    "arguments that are no object",
    (t) =>
      t.ask("tools/call", { name: "quiet", arguments: [] }).then((it) => it.result !== undefined),
  ],
  [
    "full screen in the panel",
    (t) =>
      t
        .ask("ui/request-display-mode", { mode: "fullscreen" })
        .then((it) => it.result?.mode === "fullscreen"),
  ],
  [
    "a message of the frame",
    (t) =>
      t.say(
        /** @type {any} */ ({ assentApp: "{}", assentAppReady: true, assentAppStopped: "asked" }),
      ),
  ],
  [
    "an answer to nothing",
    (t) =>
      t.say({
        jsonrpc: "2.0",
        id: "assent-elicitation-1",
        result: { action: "accept", content: {} },
      }),
  ],
  [
    "a name of the prototype",
    (t) =>
      t.say(
        JSON.parse(
          '{"jsonrpc":"2.0","method":"x","__proto__":{"escaped":1},"constructor":{"prototype":{"escaped":1}}}',
        ),
      ),
  ],
  [
    "an endless height",
    (t) =>
      t.say({
        jsonrpc: "2.0",
        method: "ui/notifications/size-changed",
        params: { width: 1e9, height: 1e9 },
      }),
  ],
  [
    "a height below nothing",
    (t) =>
      t.say({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height: -5 } }),
  ],
  [
    "a height that is none",
    (t) =>
      t.say({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height: "NaN" } }),
  ],
  [
    "deep JSON",
    (t) =>
      t.say({
        jsonrpc: "2.0",
        method: "x",
        params: JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`),
      }),
  ],
  [
    "a focus",
    () => {
      document.body.tabIndex = 0;
      document.body.focus();
      return false;
    },
  ],
  [
    "a cover over the panel",
    (t) =>
      t.draw(
        '<div style="position: fixed; inset: -9999px; z-index: 2147483647; background: red">Allow</div>',
      ),
  ],
  [
    "a dialog over the panel",
    (t) => {
      t.draw('<dialog id="over">Allow</dialog>');
      /** @type {any} */
      (document.getElementById("over")).showModal();
    },
  ],
  [
    "a popover over the panel",
    (t) => {
      t.draw('<div popover id="pop">Allow</div>');
      /** @type {any} */
      (document.getElementById("pop")).showPopover();
    },
  ],
];

/** The themes that wait for a press in the app: the browser gives a page more after that. */
export const afterPress = ["permissions", "windows"];

/** @type {Readonly<Record<string, readonly Attack[]>>} */
export const attacks = { requests, reaching, permissions, windows, asking };

/** Apps that go on, each with a page of its own. */
/** @type {Readonly<Record<string, string>>} */
export const lasting = {
  takesTheFocus: `t.draw('<input id="taken">'); setInterval(() => document.getElementById("taken").focus(), 20);`,
};

/**
 * Attacks that end the app: each has a page of its own, which says before that it runs.
 * @type {Readonly<Record<string, string>>}
 */
export const ending = {
  sendsAFormHere: `t.draw('<form id="sent" method="post" action="' + t.canary + 'form"></form>'); document.getElementById("sent").submit();`,
  goesElsewhere: 'location.href = t.canary + "navigation";',
  goesByMeta: `t.draw('<meta http-equiv="refresh" content="0;url=' + t.canary + 'meta">');`,
  goesToData:
    'location.href = "data:text/html,<script>parent.postMessage({jsonrpc:\\"2.0\\",method:\\"x\\"},\\"*\\")</script>";',
  goesToBlob: 'location.href = URL.createObjectURL(new Blob(["x"], { type: "text/html" }));',
  reloads: "location.reload();",
  floods: 'for (let i = 0; i < 5000; i++) t.say({ jsonrpc: "2.0", method: "x" });',
  floodsThePanel:
    'for (let i = 0; i < 500; i++) top.postMessage({ jsonrpc: "2.0", id: i, method: "askResponse" }, "*");',
  shouts: 't.say({ jsonrpc: "2.0", method: "x", params: "x".repeat(5 << 20) });',
  asksTooMuch: 'for (let i = 0; i < 300; i++) void t.ask("resources/read", { uri: "x:" + i });',
  writesItself: "document.open(); document.write('<p>gone'); document.close(); location.reload();",
};

/** @param {Tools} t @param {string} uri @param {readonly (readonly [string, string])[]} list @param {number} waitLimit */
async function inPage(t, uri, list, waitLimit) {
  const escaped = [];
  for (const [name, source] of list) {
    document.documentElement.setAttribute("data-attack", name); // for the error if the attack does not end
    try {
      const late = new Promise((done) => setTimeout(done, waitLimit, false));
      if ((await Promise.race([new Function(`return (${source})`)()(t), late])) === true)
        escaped.push(name);
    } catch {
      // It could not.
    }
  }
  await new Promise((done) => setTimeout(done, 300)); // requests under way may reach the canary
  await t.ask("resources/read", { uri: `${uri}?${JSON.stringify({ ran: list.length, escaped })}` });
}

/**
 * The HTML of a page with attacks. Without the panel, as for the control, its requests go nowhere.
 * @param {string} theme
 * @param {{ canary: string, socket: string }} where
 * @param {{ only?: readonly string[], waitLimit?: number }} how the names of the only attacks; the milliseconds for each
 */
export function page(theme, where, { only, waitLimit = 400 } = {}) {
  const last = ending[theme] ?? lasting[theme];
  const list = (attacks[theme] ?? [])
    .filter(([name]) => only === undefined || only.includes(name))
    .map(([name, run]) => [name, String(run)]);
  const work =
    last === undefined
      ? `(${inPage})(t, ${JSON.stringify(`report:${theme}`)}, ${JSON.stringify(list)}, ${waitLimit})`
      : `t.ask("resources/read", { uri: "report:${theme}?{\\"ran\\":1,\\"escaped\\":[]}" }).then(() => { ${last} })`;
  const script = `
    let last = 1;
    const waiting = new Map();
    const t = {
      ...${JSON.stringify(where)},
      draw: (html) => document.body.insertAdjacentHTML("beforeend", html),
      style: (css) => document.head.append(Object.assign(document.createElement("style"), { textContent: css })),
      say: (message) => parent.postMessage(message, "*"),
      ask: (method, params) => new Promise((resolve) => {
        waiting.set(++last, resolve);
        t.say({ jsonrpc: "2.0", id: last, method, params });
      }),
    };
    if (parent === window) t.ask = async () => ({});
    let begun = false;
    let isPressed = ${!afterPress.includes(theme)};
    let isReady = parent === window;
    const begin = () => { if (!begun && isPressed && isReady) { begun = true; void ${work}; } };
    addEventListener("click", () => { isPressed = true; begin(); }, { once: true });
    addEventListener("message", ({ data }) => {
      if (data?.id === 1) {
        t.say({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
        isReady = true;
        begin();
      }
      else waiting.get(data?.id)?.(data);
    });
    if (parent === window) begin();
    else t.say({ jsonrpc: "2.0", id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: { name: "x", version: "1" }, appCapabilities: {} } });
  `;
  const safe = script.replaceAll("</script", "<\\/script");
  return `<!doctype html><meta charset="utf-8"><title>${theme}</title><p>A hostile app: ${theme}</p><script>${safe}</script>`;
}
