// The icons of the server, its tools, resources and prompts (SEP-973), with others before them that no client should show.
// @ts-check

/** @param {string} inner */
const svg = (inner) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${inner}</svg>`)}`;

/** A seat in a colour. @param {string} colour */
const seat = (colour) => svg(`<path fill="${colour}" d="M4 1h3l1 7h4v3H5zM4 12h9v2H4z"/>`);

/** The server's, in one colour for every theme. */
export const ofServer = [
  // A host may not fetch it: the server is a process, and has no origin.
  { src: "https://seats.example/icon.png", mimeType: "image/png", sizes: ["any"] },
  {
    src: svg(
      '<circle cx="8" cy="8" r="8" fill="#1467c8"/><path fill="#fff" d="m2 9 12-5-4 9-2-3z"/>',
    ),
    mimeType: "image/svg+xml",
    sizes: ["48x48"],
  },
];

/** One for each theme, after one that would keep a browser busy. */
export const ofTool = [
  {
    src: svg(
      '<g id="a"><path d="M0 0h1v1z"/></g><g id="b"><use href="#a"/><use href="#a"/></g><use href="#b"/>',
    ),
    sizes: ["any"],
  },
  { src: seat("#1b3a5c"), sizes: ["48x48"], theme: "light" },
  { src: seat("#9fd0ff"), sizes: ["48x48"], theme: "dark" },
];

export const ofPlan = [
  { src: svg('<path fill="#2f8f4e" d="M1 1h6v6H1zM9 1h6v6H9zM1 9h6v6H1zM9 9h6v6H9z"/>') },
];

export const ofPrompt = [{ src: svg('<path fill="#c2571a" d="M1 2h14v9H7l-4 4v-4H1z"/>') }];
