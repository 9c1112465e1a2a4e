import type { Caller } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { RegistrationStatements } from './statements.ts';

interface Deps {
  readonly db: Pick<Db, 'query' | 'transaction'>;
  readonly statements: Pick<RegistrationStatements, 'EXPIRED' | 'REMOVE_DECIDED'>;
  readonly items: Pick<ItemsEngine, 'deleteMany'>;
  readonly systemCaller: () => Caller;
}

/** Creates the work that deletes users who have not confirmed their address in time, a hundred in one unit of work. */
export function createRemoveExpiredRegistrations({ db, statements, items, systemCaller }: Deps) {
  const removeSome = () =>
    db.transaction(async () => {
      const { rows } = await db.query<{ id: string }>(statements.EXPIRED);
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0) await items.deleteMany(systemCaller(), 'platform_users', ids);
      return ids.length > 0;
    });

  return async (signal: AbortSignal): Promise<void> => {
    await db.query(statements.REMOVE_DECIDED);
    while (!signal.aborted && (await removeSome()));
  };
}
