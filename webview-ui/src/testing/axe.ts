import axe from "axe-core";

/** Returns axe's findings about an element in a readable form. */
export async function axeFindings(element: Element): Promise<readonly string[]> {
  const { violations } = await axe.run(element, {
    // jsdom renders no colours, and a component is not a page.
    rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
