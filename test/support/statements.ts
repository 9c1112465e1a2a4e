import pg from 'pg';

/** The texts of the statements that this process sends to PostgreSQL while `work` runs, cursors' included. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
  const sent: string[] = [];
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text: string }];
    sent.push(typeof statement === 'string' ? statement : statement.text);
    return Reflect.apply(original, this, args);
  } as typeof original;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return sent;
}
