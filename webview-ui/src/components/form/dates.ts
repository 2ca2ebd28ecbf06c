/**
 * Dates in JSON Schema's format (RFC 3339) and in that of the browser's controls. Controls have no offset, so a time is
 * shown and typed in the person's zone and sent with its offset.
 */

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const dateTimePattern =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** Reports whether a text is a date that exists. */
export function parseDate(text: string): boolean {
  const [, year, month, day] = (datePattern.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Reports whether a text is a date and time that exists, with an offset. */
export function parseDateTime(text: string): boolean {
  const match = dateTimePattern.exec(text);
  if (match === null) return false;
  const [, date = "", hour, minute, second, sign, offsetHours = 0, offsetMinutes = 0] = match;
  if (!parseDate(date)) return false;
  if (second !== "60") return true;
  // A leap second is the last second of a day in UTC.
  const offset = Number(offsetHours) * 60 + Number(offsetMinutes);
  const local = Number(hour) * 60 + Number(minute);
  const day = 24 * 60;
  return (local + (sign === "+" ? -offset : offset) + 2 * day) % day === day - 1;
}

/** Formats a time for `<input type="datetime-local">`; empty if the text is not a time. */
export function toLocalInput(text: string): string {
  if (!parseDateTime(text)) return "";
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) return "";
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, -"Z".length)
    .replace(/\.000$/, "");
}

/** Reads the value of `<input type="datetime-local">`, adding seconds and the offset of the person's zone. */
export function fromLocalInput(text: string): string {
  const moment = new Date(text);
  if (text === "" || Number.isNaN(moment.getTime())) return "";
  const minutes = -Math.round(moment.getTimezoneOffset());
  const sign = minutes < 0 ? "-" : "+";
  const pad = (n: number) => String(n).padStart(2, "0");
  const offset = Math.abs(minutes);
  const seconds = /T\d{2}:\d{2}$/.test(text) ? ":00" : "";
  return `${text}${seconds}${sign}${pad(Math.trunc(offset / 60))}:${pad(offset % 60)}`;
}
