declare module "punycode/punycode.js" {
  const punycode: {
    /** Decodes the Punycode of a host name. Throws if it is invalid. */
    toUnicode(hostName: string): string;
  };
  export default punycode;
}
