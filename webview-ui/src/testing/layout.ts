import { act } from "@testing-library/react";
import { onTestFinished } from "vitest";

/** A layout for a list of messages, because jsdom has none. */
export interface Layout {
  /** Changes a row's height, as its content would. */
  resize(row: Element, height: number): void;
  /** Changes the panel's height, once or more often before anything is told of it. */
  resizePanel(...heights: readonly number[]): void;
  /** Scrolls as a person does. */
  scroll(list: Element, top: number): void;
  /** Fires the scroll events of the list's own scrolling, as a browser does before painting. */
  settle(list: Element): void;
}

/** In pixels. A row has the estimated height of a notice. */
export const panelHeight = 250;
export const rowHeight = 36;

/** Lays out lists of messages until the test has ended. */
export function layOut(heightOf: (row: HTMLElement) => number = () => rowHeight): Layout {
  const heights = new WeakMap<Element, number>();
  const observers = new Map<ResizeObserverCallback, ResizeObserver>();
  const unmeasured = new Set<Element>();
  const isList = (element: HTMLElement) => element.classList.contains("messages");
  const define = (name: string, get: (this: HTMLElement) => number) =>
    replace(HTMLElement.prototype, name, { get });
  let height = panelHeight;
  define("clientHeight", () => height);
  define("offsetHeight", function () {
    return isList(this) ? height : (heights.get(this) ?? heightOf(this));
  });
  define("scrollHeight", function () {
    return Number.parseFloat(this.querySelector<HTMLElement>(".rows")?.style.height ?? "0");
  });
  const tops = new WeakMap<Element, number>();
  const told = new WeakMap<Element, number>();
  const setTop = (list: Element, top: number) => {
    const most = Math.max(0, list.scrollHeight - list.clientHeight);
    tops.set(list, Math.min(Math.max(0, top), most));
  };
  replace(Element.prototype, "scrollTop", {
    get(this: Element) {
      return tops.get(this) ?? 0;
    },
    set(this: Element, top: number) {
      setTop(this, top);
    },
  });
  replace(Element.prototype, "scrollTo", {
    value(this: Element, { top = 0 }: ScrollToOptions) {
      setTop(this, top);
    },
  });
  const { ResizeObserver: other } = window;
  window.ResizeObserver = class implements ResizeObserver {
    constructor(callback: ResizeObserverCallback) {
      observers.set(callback, this);
    }
    observe(element: Element): void {
      unmeasured.add(element);
    }
    unobserve(): void {}
    disconnect(): void {}
  };
  onTestFinished(() => {
    window.ResizeObserver = other;
  });

  function measure(rows: readonly Element[]): void {
    const entries = rows.map((target) => {
      const { offsetHeight } = target as HTMLElement;
      const size = { blockSize: offsetHeight, inlineSize: 0 };
      return { target, borderBoxSize: [size] } as unknown as ResizeObserverEntry;
    });
    act(() => {
      for (const [callback, observer] of observers) callback(entries, observer);
    });
  }

  function settle(list: Element): void {
    for (let frame = 0; told.get(list) !== list.scrollTop || unmeasured.size > 0; frame++) {
      if (frame === 20) throw new Error("the list does not come to rest");
      told.set(list, list.scrollTop);
      act(() => void list.dispatchEvent(new Event("scroll")));
      const rows = [...unmeasured].filter((element) => element.isConnected && element !== list);
      unmeasured.clear();
      measure(rows);
    }
    act(() => void list.dispatchEvent(new Event("scrollend")));
  }

  return {
    settle,
    resize(row, rowHeight) {
      heights.set(row, rowHeight);
      measure([row]);
    },
    resizePanel(...panelHeights) {
      const lists = [...document.querySelectorAll(".messages")];
      for (height of panelHeights) for (const list of lists) setTop(list, list.scrollTop);
      // A browser tells of scrolling before sizes.
      for (const list of lists) {
        if (told.get(list) === list.scrollTop) continue;
        told.set(list, list.scrollTop);
        act(() => void list.dispatchEvent(new Event("scroll")));
      }
      measure([]);
    },
    scroll(list, top) {
      list.scrollTop = top;
      settle(list);
    },
  };
}

/** Replaces a property of a prototype until the test has ended. */
function replace(prototype: object, name: string, property: PropertyDescriptor): void {
  const before = Object.getOwnPropertyDescriptor(prototype, name);
  Object.defineProperty(prototype, name, { configurable: true, ...property });
  onTestFinished(() => {
    if (before === undefined) Reflect.deleteProperty(prototype, name);
    else Object.defineProperty(prototype, name, before);
  });
}
