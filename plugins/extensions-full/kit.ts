import type { Authority, Caller, EventsApi, Log } from '#kernel';
import type { Admitted } from '../broker/contract.ts';
import type { Db } from '../database/contract.ts';
import type { SettingsReader } from '../extension-settings/contract.ts';
import type { Found } from '../extensions/contract.ts';
import { accountabilityOf } from './caller.ts';
import type { FullDeps } from './deps.ts';
import { type PlainSchema, plainSchema } from './overview.ts';
import { parsedEnvironment } from './parsed-environment.ts';
import type { Scope } from './scope.ts';

/** All of knex. */
export type Builder = ReturnType<Db['builder']>;

/** What all parts of one loaded extension work with. */
export interface Kit {
  readonly name: string;
  readonly deps: FullDeps;
  readonly scope: Scope;
  readonly events: EventsApi;
  readonly log: Log;
  readonly db: Db;
  readonly env: Readonly<Record<string, unknown>>;
  readonly settings: SettingsReader;
  /** Events that it filters. */
  readonly filters: string[];
  /** Enters in the audit what the extension added. */
  adds(authority: Authority): void;
  /** Acts without a user's permissions, which the ledger counts. */
  system(reason: string): Caller;
  /** Loads the query builder when first read. */
  readonly database: Builder;
  schema(): Promise<PlainSchema>;
}

const FULL = {
  full: true,
  events: {},
  log: true,
  database: { sql: 'code with full authority has all of the database', ddl: true },
} as const;

/** Admits the extension under its name, with everything; `scope` takes it away. */
export function createKit(found: Found, deps: FullDeps, scope: Scope, filters: string[] = []): Kit {
  const authorities: Authority[] = [];
  const admitted: Admitted = deps.subjects.admit({
    name: found.name,
    version: found.version ?? 'local',
    runtime: 'full',
    grants: FULL,
    authorities,
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
    env: parsedEnvironment(deps.packages.settings()),
    settings: deps.settings.reader({ id: found.id, name: found.name, declaration }),
    filters,
    adds: (authority) => void authorities.push(authority),
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
