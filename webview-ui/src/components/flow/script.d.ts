/** A whole script, bundled with all that it imports, as text: the build makes it. */
declare module "*?script" {
  const code: string;
  export default code;
}
