import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { requestScope } from '#kernel';

/** How the settings of a new session begin. */
const SESSION_SETTINGS = "set timezone to 'UTC'";

const ofWork = new AsyncLocalStorage<true>();

/**
 * Records the texts of the statements that `work`, and requests answered meanwhile, send to PostgreSQL, including cursors.
 * Statements of background tasks are left out, and so are the settings of a connection that opens meanwhile.
 */
export async function recordStatementsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
  const sent: string[] = [];
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text: string }];
    const isCounted = ofWork.getStore() || requestScope.getStore();
    const text = typeof statement === 'string' ? statement : statement.text;
    if (isCounted && !text.startsWith(SESSION_SETTINGS)) sent.push(text);
    return Reflect.apply(original, this, args);
  } as typeof original;
  try {
    await ofWork.run(true, work);
  } finally {
    pg.Client.prototype.query = original;
  }
  return sent;
}
