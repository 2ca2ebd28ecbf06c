import axe from "axe-core";

/** What axe has to say about an element, in a form that reads well in a failed test. */
export async function axeFindings(element: Element): Promise<readonly string[]> {
  const { violations } = await axe.run(element, {
    // jsdom draws nothing, so it knows no colours; and a component is no page.
    rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
