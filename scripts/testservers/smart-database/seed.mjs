// The users of a new file: always the same ones, at the same distance from the day of its making.
// @ts-check

const dayMs = 24 * 60 * 60 * 1000;

const firstNames =
  "Ada Alan Barbara Claude Dorothy Edsger Frances Grace Hedy Ivan Jean Katherine Leslie Margaret Niklaus Olga Peter Radia Sophie Tim".split(
    " ",
  );
const lastNames =
  "Abel Berg Costa Diaz Evans Fischer Garcia Haddad Ito Jansen Khan Lindqvist Moreau Novak Okafor Petrov Quinn Rossi Silva Tanaka".split(
    " ",
  );

/**
 * Of 20 users in a row 3 have not logged in for more than two years, and the others have within the
 * last 600 days: 30 of 200. A quarter of the inactive ones have orders, for the model to worry about.
 * @param {import("node:sqlite").DatabaseSync} connection in a transaction
 * @param {number} users
 * @param {Date} now
 */
export function seed(connection, users, now) {
  const insert = connection.prepare("INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?)");
  const daysAgo = (/** @type {number} */ days) =>
    new Date(now.getTime() - days * dayMs).toISOString();
  for (let i = 0; i < users; i++) {
    const first = firstNames[i % 20] ?? "";
    const last = lastNames[(i + Math.floor(i / 20)) % 20] ?? "";
    const inactive = [3, 9, 16].includes(i % 20);
    const days = inactive ? 740 + ((i * 37) % 1500) : (i * 53) % 600;
    const created = days + 30 + ((i * 71) % 900);
    const orders = inactive ? Math.max(0, (i % 12) - 8) : (i * 7) % 25;
    const status = i % 29 === 28 ? "suspended" : "active";
    const email = `${first}.${last}${i + 1}@example.com`.toLowerCase();
    insert.run(i + 1, `${first} ${last}`, email, status, orders, daysAgo(created), daysAgo(days));
  }
}
