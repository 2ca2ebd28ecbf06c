// The outer frame of an app: it shows the app in a frame of its own, and passes JSON-RPC between that and the panel. To the
// panel everything goes as {assentApp: text}, so that it gets texts of a bounded length and at a bounded rate, and nothing
// that a structured clone could be made of. See docs/security.md.
(() => {
  const panel = window.parent;
  const maxLength = 4 << 20; // characters of a message
  const maxBurst = 200; // messages
  const perSecond = 50;

  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-forms");
  frame.setAttribute("allow", "");
  frame.title = "App";
  frame.src = location.pathname.replace("/frame/", "/app/");
  const say = (message) => panel.postMessage(message, "*");

  let rest = maxBurst;
  let last = performance.now();
  const stop = (why) => {
    window.removeEventListener("message", pass);
    frame.remove();
    say({ assentAppStopped: why });
  };
  const fromApp = (data) => {
    const now = performance.now();
    rest = Math.min(maxBurst, rest + ((now - last) * perSecond) / 1000);
    last = now;
    if (rest < 1) return stop("messages");
    rest -= 1;
    if (typeof data !== "object" || data === null || data.jsonrpc !== "2.0") return;
    let text;
    try {
      text = JSON.stringify(data);
    } catch {
      return; // it is no JSON
    }
    if (text.length > maxLength) return stop("size");
    say({ assentApp: text });
  };
  const pass = ({ source, data }) => {
    if (source === frame.contentWindow) fromApp(data);
    else if (source === panel && typeof data?.assentApp === "string") {
      frame.contentWindow?.postMessage(JSON.parse(data.assentApp), "*");
    }
  };
  window.addEventListener("message", pass);
  let loads = 0;
  // The app's own navigations come back to its address, or to an empty page that the policy puts in place of another.
  frame.addEventListener("load", () => {
    loads += 1;
    if (loads > 1) stop("navigation");
  });
  // The panel can give the focus to this page, which gives it to the app; not before the browser is done with the first.
  window.addEventListener("focus", () => setTimeout(() => frame.focus()));
  document.body.append(frame);
  say({ assentAppReady: true });
})();
