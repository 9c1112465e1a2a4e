import type { Admitted, Caller, EventsApi, Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { SettingsReader } from '../../extension-settings/contract.ts';
import type { Deps } from '../deps.ts';
import type { Found } from '../model.ts';
import { accountabilityOf } from './caller.ts';
import { type PlainSchema, plainSchema } from './overview.ts';
import type { Scope } from './scope.ts';

/** All of knex. */
export type Builder = ReturnType<Db['builder']>;

/** What all parts of one loaded extension work with. */
export interface Kit {
  readonly name: string;
  readonly deps: Deps;
  readonly scope: Scope;
  readonly events: EventsApi;
  readonly log: Log;
  readonly db: Db;
  readonly env: Readonly<Record<string, unknown>>;
  readonly settings: SettingsReader;
  /** Says in the audit what the extension added. */
  says(sentence: string): void;
  /** Acts without a user's permissions, which the ledger counts. */
  system(reason: string): Caller;
  /** Loads the query builder when first read. */
  readonly database: Builder;
  schema(): Promise<PlainSchema>;
}

const FULL = { full: true, events: {}, log: true, database: { sql: true, ddl: true } } as const;

/** Admits the extension under its name, with everything; `scope` takes it away. */
export function createKit(found: Found, deps: Deps, scope: Scope): Kit {
  const sentences: string[] = [];
  const admitted: Admitted = deps.subjects.admit({
    name: found.name,
    version: found.version ?? 'local',
    runtime: 'full',
    grants: FULL,
    sentences,
  });
  scope.add(() => admitted.remove());
  const db = admitted.get<Db>('database');
  const { declaration } = deps.settings.declare(found.manifest?.settings ?? {});
  return {
    name: found.name,
    deps,
    scope,
    events: admitted.get('events'),
    log: admitted.get('log'),
    db,
    env: Object.freeze(admitted.environment()),
    settings: deps.settings.reader({ id: found.id, name: found.name, declaration }),
    says: (sentence) => void (sentences.includes(sentence) || sentences.push(sentence)),
    system: (reason) => admitted.subject.asSystem(reason),
    get database() {
      return db.builder();
    },
    schema: async () => plainSchema(await deps.schema.overview()),
  };
}

/** The last argument of event handlers (conventions, "Hook"); in a filter `database` is the current transaction. */
export async function eventContext(kit: Kit, caller: Caller) {
  return {
    get database() {
      return kit.database;
    },
    schema: await kit.schema(),
    accountability: accountabilityOf(caller),
  };
}
