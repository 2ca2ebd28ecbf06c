import type { AttachedFile } from "@assent/protocol";
import type { PickedFile } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { messageOf } from "../../link/client.ts";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";
import type { Attached } from "../../view/viewState.ts";
import { checkSize, FileRefusal, fromBase64, readFile } from "../content/readFile.ts";
import { isRead } from "./AttachedList.tsx";

export interface AttachedState {
  readonly attached: readonly Attached[];
  /** Why the last attachments failed, a sentence each. */
  readonly refusals: readonly string[];
  /** Whether something is loading. */
  readonly reading: boolean;
  /** Attaches files that were dropped, pasted, or chosen in the browser. */
  readonly addFiles: (files: Iterable<File>) => void;
  /** Attaches files that were dragged from VS Code. The host reads them. */
  readonly addURIs: (uris: readonly string[]) => void;
  /** Lets the person choose files in the host's own dialog. */
  readonly pickFiles: () => void;
  /** Reads a resource in the open task, and attaches its contents. */
  readonly addResource: (serverName: string, uri: string, title: string) => void;
  readonly remove: (key: number) => void;
  /** Removes these after they were sent. */
  readonly sent: (attached: readonly Attached[]) => void;
}

type FileAttached = Extract<Attached, { kind: "file" }>;

/** The most attachments that the sidecar accepts with one message. */
const maxAttached = 20;

/** The attachments of a draft. They survive the composer and a reload. */
export function useAttached(draftKey: string, actions: Actions): AttachedState {
  const { view, attached, refusals, change, drop, each, add, checkRoom } = useList(
    draftKey,
    actions,
  );

  const addPicked = ({ name, size, data }: PickedFile) => {
    checkSize(name, size);
    add(readFile(name, fromBase64(data ?? "")), size);
  };

  const pickFiles = async () => {
    let picked: readonly PickedFile[] = [];
    await each([undefined], async () => {
      picked = await actions.pickFiles();
    });
    if (picked.length > 0) await each(picked, async (file) => addPicked(file));
  };

  return {
    attached,
    refusals,
    reading: attached.some(isRead),
    addFiles: (files) =>
      void each([...files], async (file) => {
        checkRoom(file.name);
        checkSize(file.name, file.size);
        const bytes = new Uint8Array(await file.arrayBuffer());
        add(readFile(file.name, bytes), file.size);
      }),
    addURIs: (uris) =>
      void each(uris, async (uri) => {
        checkRoom(uri);
        addPicked(await actions.readFile(uri));
      }),
    pickFiles: () => void pickFiles(),
    addResource: (serverName, uri, title) =>
      void each([uri], async () => {
        const key = view.nextKey();
        change((before) => [
          ...before,
          { kind: "resource", key, serverName, title, messageId: undefined },
        ]);
        try {
          const messageId = await actions.readResource(serverName, uri);
          change((before) => before.map((one) => (one.key === key ? { ...one, messageId } : one)));
        } catch (error) {
          drop([key]);
          throw error;
        }
      }),
    remove: (key) => drop([key]),
    sent: (gone) => drop(gone.map(({ key }) => key)),
  };
}

/** The attachments of a draft, stored by the host. */
function useList(draftKey: string, actions: Actions) {
  const view = useView();
  // An app of the conversation may attach its context.
  const attached = useSyncExternalStore(
    useCallback((changed) => view.onAttached(changed), [view]),
    () => view.attached(draftKey),
  );
  const [refusals, setRefusals] = useState<readonly string[]>([]);

  // A file may finish loading after the composer has gone, so the view's state is used.
  const change = useCallback(
    (edit: (attached: readonly Attached[]) => readonly Attached[]) => {
      view.setAttached(draftKey, edit(view.attached(draftKey)));
    },
    [view, draftKey],
  );
  const refuse = useCallback(
    (refusal: string) => setRefusals((before) => [...before, refusal]),
    [],
  );

  useEffect(() => {
    const bringBack = async (file: FileAttached, id: string) => {
      const { key, name } = file;
      let back: Attached = { kind: "lost", key, name };
      try {
        const content = await actions.keptFile(id);
        if (content !== undefined) back = { ...file, file: content };
      } catch (error) {
        refuse(l10n.t("{0} could not be read again: {1}", name, messageOf(error)));
      }
      change((before) => before.map((one) => (one.key === key ? back : one)));
    };
    for (const one of view.attached(draftKey)) {
      if (one.kind !== "file" || one.file !== undefined || one.keptAs === undefined) continue;
      void bringBack(one, one.keptAs);
    }
  }, [view, draftKey, actions, change, refuse]);

  const checkRoom = (name: string) => {
    if (view.attached(draftKey).length < maxAttached) return;
    throw new FileRefusal(l10n.t("{0} was not attached: {1} is the limit.", name, maxAttached));
  };

  const add = (file: AttachedFile, size: number) => {
    const { name } = file;
    checkRoom(name);
    const key = view.nextKey();
    change((before) => [...before, { kind: "file", key, name, size, file, keptAs: undefined }]);
    void keep(key, file);
  };

  const keep = async (key: number, file: AttachedFile) => {
    try {
      const keptAs = await actions.keepFile(file);
      const isThere = view.attached(draftKey).some((one) => one.key === key);
      if (!isThere) actions.forgetFiles([keptAs]);
      else change((before) => before.map((one) => (one.key === key ? { ...one, keptAs } : one)));
    } catch (error) {
      const { name } = file;
      refuse(
        l10n.t(
          "{0} is attached, but is lost if this window closes or reloads: {1}",
          name,
          messageOf(error),
        ),
      );
    }
  };

  /** Removes attachments that the person took out, or that are gone. */
  const drop = (keys: readonly number[]) => {
    setRefusals([]);
    const dropped = view.attached(draftKey).filter(({ key }) => keys.includes(key));
    change((before) => before.filter(({ key }) => !keys.includes(key)));
    const ids = dropped.flatMap((one) =>
      one.kind === "file" && one.keptAs !== undefined ? [one.keptAs] : [],
    );
    if (ids.length > 0) actions.forgetFiles(ids);
  };

  /** Runs one after the other. A failure does not stop the others. */
  const each = async <T>(items: Iterable<T>, work: (item: T) => Promise<void>) => {
    setRefusals([]);
    for (const item of items) {
      try {
        await work(item);
      } catch (error) {
        refuse(messageOf(error));
      }
    }
  };

  return { view, attached, refusals, change, drop, each, add, checkRoom };
}
