import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** How long the pointer must have been elsewhere before an app gets lower, in milliseconds. */
const awayMs = 500;
const lookMs = 100;

/** The height of an app that has not said one, in pixels. */
const usual = 200;

export interface Room {
  /** The element around the app's frame. */
  readonly room: RefObject<HTMLDivElement | null>;
  /** The height of the app in pixels. */
  readonly height: number;
  /** The app wants another height, or has not said one yet. */
  readonly want: (height?: number) => void;
}

/**
 * The room of an app in the conversation. It grows at once. It gets lower when the pointer has been elsewhere for half a
 * second: otherwise an app could take itself away under a press, and bring what is below it there. The panel sees no press
 * in a frame. During one, the pointer is over the frame, or the frame has just got the focus.
 */
export function useRoom(before: number = usual): Room {
  const room = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(before);
  const wanted = useRef(before);
  const usedAt = useRef(Number.NEGATIVE_INFINITY);
  const hadFocus = useRef(false);
  const look = useCallback(() => {
    const element = room.current;
    const now = performance.now();
    const hasFocus = element?.contains(document.activeElement) === true;
    const gotFocus = hasFocus && !hadFocus.current;
    hadFocus.current = hasFocus;
    if (gotFocus || element?.matches(":hover") === true) usedAt.current = now;
    const isFree = now - usedAt.current >= awayMs;
    setHeight((at) => (isFree ? wanted.current : Math.max(at, wanted.current)));
  }, []);
  useEffect(() => {
    const timer = setInterval(look, lookMs);
    return () => clearInterval(timer);
  }, [look]);
  const want = useCallback(
    (next: number = usual) => {
      wanted.current = next;
      look();
    },
    [look],
  );
  return { room, height, want };
}
