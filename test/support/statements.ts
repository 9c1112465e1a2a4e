import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { requestScope } from '#kernel';

const ofWork = new AsyncLocalStorage<true>();

/**
 * The texts of the statements that `work`, and requests that are answered meanwhile, send to PostgreSQL, cursors' included. What a
 * service does in the background of its own accord is left out.
 */
export async function statementsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
  const sent: string[] = [];
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text: string }];
    const isCounted = ofWork.getStore() || requestScope.getStore();
    if (isCounted) sent.push(typeof statement === 'string' ? statement : statement.text);
    return Reflect.apply(original, this, args);
  } as typeof original;
  try {
    await ofWork.run(true, work);
  } finally {
    pg.Client.prototype.query = original;
  }
  return sent;
}
