import type { Log } from '#kernel';
import type { InterProcessBus } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import { quoteIdentifier } from '../../database/library.ts';
import type { AnnouncedTable, RowChanges } from '../contract.ts';
import type { RelationRow } from './relations-statement.ts';

interface Deps {
  readonly db: Db;
  readonly bus: Pick<InterProcessBus, 'waitForConfirmation'>;
  readonly log: Log;
}

/** See `RowChanges`. The statements are loaded with the first call. */
export function createRowChanges({ db, bus, log }: Deps): RowChanges {
  const load = async () => {
    const [{ renderRelationsStatement }, triggers] = await Promise.all([
      import('./relations-statement.ts'),
      import('./row-change-triggers.ts'),
    ]);
    const functionName = `${quoteIdentifier(db.schemas[0] as string)}.${quoteIdentifier(triggers.ROW_CHANGES_TRIGGER)}`;
    return { triggers, functionName, statement: renderRelationsStatement(functionName) };
  };
  let loaded: ReturnType<typeof load> | undefined;

  async function readRelations(names: readonly string[]): Promise<readonly RelationRow[]> {
    loaded ??= load();
    const { rows } = await db.query<Record<string, string | boolean | null>>((await loaded).statement, [names]);
    return rows.map(({ name, oid, relation, missing, refusal }) => ({
      name: String(name),
      oid: oid === null ? null : Number(oid),
      relation: relation as string | null,
      isMissing: missing === true,
      refusal: refusal as string | null,
    }));
  }

  return {
    async announce(names) {
      const before = await readRelations(names);
      const refused = new Set(before.filter(({ refusal }) => refusal !== null).map(({ name }) => name));
      const missing = new Set(
        before
          .filter(({ name, isMissing }) => isMissing && !refused.has(name))
          .map(({ relation }) => relation as string),
      );
      if (missing.size === 0) return toAnnouncedTables(names, before);
      loaded ??= load();
      const { triggers, functionName } = await loaded;
      await triggers.createRowChangeTriggers(db, functionName, [...missing], log);
      // The new triggers are changes of the schema, which every process has to handle before it relies on them.
      await bus.waitForConfirmation();
      return toAnnouncedTables(names, await readRelations(names));
    },
    async remove() {
      loaded ??= load();
      const { triggers, functionName } = await loaded;
      return triggers.removeRowChangeTriggers(db, functionName);
    },
  };
}

const toAnnouncedTables = (names: readonly string[], rows: readonly RelationRow[]): readonly AnnouncedTable[] =>
  names.map((table) => {
    const own = rows.filter(({ name }) => name === table);
    const refusal =
      own.find((one) => one.refusal !== null)?.refusal ??
      (own.some(({ isMissing }) => isMissing) ? 'no trigger could be put on it' : undefined);
    return { table, relations: [...new Set(own.flatMap(({ oid }) => oid ?? []))], refusal };
  });
