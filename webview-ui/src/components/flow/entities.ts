/**
 * Mermaid turns its entities (`#35;`) into eight other characters each, and measures those. So each is replaced by one
 * character of the private use area, which means nothing in Mermaid's language, and put back after drawing.
 */
const privateUse = 0xe000;

export function maskEntities(code: string): string {
  return code.replace(/#(\d{1,3});/g, (entity, digits: string) => {
    const character = Number(digits);
    return character < 0x80 ? String.fromCharCode(privateUse + character) : entity;
  });
}

export function unmaskEntities(svg: SVGElement): void {
  const texts = document.createTreeWalker(svg, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode } = texts;
    currentNode.nodeValue = (currentNode.nodeValue ?? "").replace(/[\ue000-\ue07f]/g, (masked) =>
      String.fromCharCode(masked.charCodeAt(0) - privateUse),
    );
  }
}
