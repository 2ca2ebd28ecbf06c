/** A whole script as text, bundled with its imports by the build. */
declare module "*?script" {
  const code: string;
  export default code;
}
