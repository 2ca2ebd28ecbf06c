/**
 * Dates as JSON Schema has them (RFC 3339), and as the browser's controls have them: those know no
 * offset, so a moment is shown and typed in the person's own zone and sent with its offset.
 */

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const dateTimePattern =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** Says whether a text is a day that exists. */
export function parseDate(text: string): boolean {
  const [, year, month, day] = (datePattern.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Says whether a text is a moment: a day that exists, a time, and an offset. */
export function parseDateTime(text: string): boolean {
  const match = dateTimePattern.exec(text);
  if (match === null) return false;
  const [, date = "", hour, minute, second, sign, offsetHours = 0, offsetMinutes = 0] = match;
  if (!parseDate(date)) return false;
  if (second !== "60") return true;
  // A leap second is the last one of a day in UTC.
  const offset = Number(offsetHours) * 60 + Number(offsetMinutes);
  const local = Number(hour) * 60 + Number(minute);
  const day = 24 * 60;
  return (local + (sign === "+" ? -offset : offset) + 2 * day) % day === day - 1;
}

/** A moment as `<input type="datetime-local">` shows it; empty where the text is none. */
export function toLocalInput(text: string): string {
  if (!parseDateTime(text)) return "";
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) return "";
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, -"Z".length)
    .replace(/\.000$/, "");
}

/** What `<input type="datetime-local">` holds, with seconds and the offset of the person's zone. */
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
