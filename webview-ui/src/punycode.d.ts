declare module "punycode/punycode.js" {
  const punycode: {
    /** A host name with its Punycode decoded; throws where that is none. */
    toUnicode(hostName: string): string;
  };
  export default punycode;
}
