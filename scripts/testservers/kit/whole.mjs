// Whole numbers of the command line.
// @ts-check

/**
 * @param {string} name
 * @param {string} text
 * @param {number} max
 */
export function whole(name, text, max) {
  const value = Number(text);
  if (text === "" || !Number.isInteger(value) || value < 0 || value > max) {
    throw new Error(`${name} is a whole number from 0 to ${max}, not ${text}`);
  }
  return value;
}
