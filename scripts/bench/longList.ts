import type { Locator, Page } from "playwright-core";

/** What of a list is there. */
export interface Look {
  /** The ids of the first and the last message in sight. */
  readonly first: number;
  readonly last: number;
  /** How many rows are drawn. */
  readonly drawn: number;
  /** The number of loaded messages, which determines the list's height. */
  readonly loaded: number;
  /** There are no earlier ones. */
  readonly complete: boolean;
}

/** The list of messages in a page, looked at from outside. */
export class LongList {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  row(id: number): Locator {
    return this.#page.locator(`.rows > li[aria-posinset="${id}"]`);
  }

  /** Waits until a message is in sight. */
  async waitFor(id: number): Promise<void> {
    await this.#page.waitForFunction((wanted) => {
      const panel = document.querySelector(".messages")?.getBoundingClientRect();
      const row = document.querySelector(`.rows > li[aria-posinset="${wanted}"]`);
      const box = row?.getBoundingClientRect();
      return panel && box && box.bottom > panel.top && box.top < panel.bottom;
    }, id);
  }

  /** Waits until a page of older messages was read, or there are no more. */
  async waitForMore(loaded: number): Promise<void> {
    await this.#page.waitForFunction((before) => {
      const row = document.querySelector<HTMLElement>(".rows > li");
      const now =
        Number(row?.ariaSetSize) - Number(row?.ariaPosInSet) + 1 + Number(row?.dataset["index"]);
      return now > before || document.querySelector(".earlier") === null;
    }, loaded);
  }

  /** Waits until the list is scrolled to its end. */
  async waitForEnd(): Promise<void> {
    await this.#page.waitForFunction(() => {
      const list = document.querySelector(".messages");
      return list !== null && list.scrollHeight - list.scrollTop - list.clientHeight < 2;
    });
  }

  async focus(): Promise<void> {
    await this.#page.getByRole("region", { name: "Conversation", exact: true }).focus();
  }

  async look(): Promise<Look> {
    return await this.#page.evaluate(() => {
      const panel = document.querySelector(".messages")?.getBoundingClientRect();
      const rows = [...document.querySelectorAll<HTMLElement>(".rows > li")];
      const seen = rows.filter((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return panel !== undefined && bottom > panel.top && top < panel.bottom;
      });
      const id = (row: HTMLElement | undefined) => Number(row?.ariaPosInSet);
      const size = Number(rows[0]?.ariaSetSize);
      return {
        first: id(seen[0]),
        last: id(seen.at(-1)),
        drawn: rows.length,
        loaded: size - id(rows[0]) + 1 + Number(rows[0]?.dataset["index"]),
        complete: document.querySelector(".earlier") === null,
      };
    });
  }

  /** Turns the wheel, and returns how many pixels the top row moved down. */
  async wheel(delta: number): Promise<number> {
    const at = () =>
      this.#page.evaluate(() => {
        const panel = document.querySelector(".messages")?.getBoundingClientRect();
        const rows = [...document.querySelectorAll<HTMLElement>(".rows > li")];
        const row = rows.find((one) => one.getBoundingClientRect().top >= (panel?.top ?? 0));
        return { id: Number(row?.ariaPosInSet), top: row?.getBoundingClientRect().top ?? 0 };
      });
    const before = await at();
    const box = await this.#page.locator(".messages").boundingBox();
    if (box === null) throw new Error("there is no list");
    await this.#page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await this.#page.mouse.wheel(0, delta);
    const top = await this.#page.evaluate(restingPlace, before);
    return top - before.top;
  }
}

/** Where a row that is being scrolled away comes to rest. Runs in the page. */
async function restingPlace(before: {
  readonly id: number;
  readonly top: number;
}): Promise<number> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let top = before.top;
  for (let frames = 0, still = 0; still < 10; frames++) {
    if (frames > 600) throw new Error("the list does not scroll, or does not come to rest");
    await frame();
    const row = document.querySelector(`.rows > li[aria-posinset="${before.id}"]`);
    const now = row?.getBoundingClientRect().top ?? Number.NaN;
    still = now === top && top !== before.top ? still + 1 : 0;
    top = now;
  }
  return top;
}
