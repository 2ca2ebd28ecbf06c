import type { PickedFile } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";
import { type Actions, messageOf } from "../../session.ts";
import type { Attached } from "../../viewState.ts";
import { useView } from "../ViewContext.ts";
import { checkSize, FileRefusal, fromBase64, readFile } from "./readFile.ts";

export interface AttachedState {
  readonly attached: readonly Attached[];
  /** Why something was not attached the last time, a sentence each. */
  readonly refusals: readonly string[];
  /** A resource is being read. */
  readonly reading: boolean;
  /** Attaches what was dropped, pasted, or chosen in the browser. */
  readonly addFiles: (files: Iterable<File>) => void;
  /** Has the person choose files in the host's own dialog. */
  readonly pickFiles: () => void;
  /** Reads a resource in the open task, and attaches what comes of it. */
  readonly addResource: (serverName: string, uri: string, title: string) => void;
  readonly remove: (key: number) => void;
  /** Drops these: they are sent. */
  readonly sent: (attached: readonly Attached[]) => void;
}

/** As many as the sidecar takes with one message. */
const maxAttached = 20;

/** What goes along with the message of a draft. It is there again when the composer is, until a reload. */
export function useAttached(draftKey: string, actions: Actions): AttachedState {
  const view = useView();
  const [attached, setAttached] = useState(() => view.attached(draftKey));
  const [refusals, setRefusals] = useState<readonly string[]>([]);
  const lastKey = useRef(0);

  // What is read may come after the composer has gone: the view has the truth.
  const change = (edit: (attached: readonly Attached[]) => readonly Attached[]) => {
    const next = edit(view.attached(draftKey));
    view.setAttached(draftKey, next);
    setAttached(next);
  };
  const add = (entry: Omit<Extract<Attached, { kind: "file" }>, "key" | "kind">) => {
    if (view.attached(draftKey).length >= maxAttached) {
      throw new FileRefusal(
        l10n.t("{0} is one too many: {1} is the most.", entry.file.name, maxAttached),
      );
    }
    const key = nextKey();
    change((before) => [...before, { kind: "file", key, ...entry }]);
  };
  const nextKey = () => {
    const taken = view.attached(draftKey).map(({ key }) => key);
    lastKey.current = Math.max(lastKey.current, ...taken) + 1;
    return lastKey.current;
  };

  /** Does one after the other; what is refused keeps nothing else from being attached. */
  const each = async <T>(items: Iterable<T>, work: (item: T) => Promise<void>) => {
    const refused: string[] = [];
    for (const item of items) {
      try {
        await work(item);
      } catch (error) {
        refused.push(messageOf(error));
      }
    }
    setRefusals(refused);
  };

  const pickFiles = async () => {
    let picked: readonly PickedFile[] = [];
    await each([undefined], async () => {
      picked = await actions.pickFiles();
    });
    if (picked.length === 0) return;
    await each(picked, async ({ name, size, data }) => {
      checkSize(name, size);
      add({ file: readFile(name, fromBase64(data ?? "")), size });
    });
  };

  return {
    attached,
    refusals,
    reading: attached.some((one) => one.kind === "resource" && one.messageId === undefined),
    addFiles: (files) =>
      void each([...files], async (file) => {
        checkSize(file.name, file.size);
        const bytes = new Uint8Array(await file.arrayBuffer());
        add({ file: readFile(file.name, bytes), size: file.size });
      }),
    pickFiles: () => void pickFiles(),
    addResource: (serverName, uri, title) =>
      void each([uri], async () => {
        const key = nextKey();
        change((before) => [
          ...before,
          { kind: "resource", key, serverName, title, messageId: undefined },
        ]);
        try {
          const messageId = await actions.readResource(serverName, uri);
          change((before) => before.map((one) => (one.key === key ? { ...one, messageId } : one)));
        } catch (error) {
          change((before) => before.filter((one) => one.key !== key));
          throw error;
        }
      }),
    remove: (key) => {
      setRefusals([]);
      change((before) => before.filter((one) => one.key !== key));
    },
    sent: (gone) => {
      setRefusals([]);
      change((before) => before.filter((one) => !gone.includes(one)));
    },
  };
}
