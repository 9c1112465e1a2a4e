import type { AsSystem, EventsApi, Log } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Bus, Lock, Presence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Routing } from '../http/contract.ts';
import type { Items } from '../items/contract.ts';
import type { Media } from '../media/contract.ts';
import type { Outbound } from '../outbound/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { Schema } from '../schema/contract.ts';
import type { Settings } from '../settings/contract.ts';
import type { Storage } from '../storage/contract.ts';
import type { FilesConfig } from './config.ts';
import type { Files } from './contract.ts';

/** Dependencies of the service `files`: rows, bytes, and the ledger of objects without a row. */
export interface Deps {
  readonly access: Access;
  readonly bus: Bus;
  readonly items: Items;
  readonly lock: Lock;
  readonly media: Media;
  readonly presence: Presence;
  readonly query: QueryEngine;
  readonly schema: Schema;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly db: Db;
  readonly events: EventsApi;
  readonly log: Log;
  readonly config: Readonly<FilesConfig>;
}

/** Dependencies of the routes and of the GraphQL fields. */
export interface RouteDeps extends Pick<Deps, 'access' | 'config' | 'events' | 'items' | 'log' | 'schema' | 'storage'> {
  readonly files: Files;
  readonly outbound: Outbound;
  readonly asSystem: AsSystem;
  readonly readBody: Routing['readBody'];
  /**
   * Waits until the objects of deleted rows are removed, 10 seconds at most; the janitor removes the rest later. Call it outside of a
   * unit of work. Never rejects.
   */
  readonly waitForRemoval: () => Promise<void>;
}
