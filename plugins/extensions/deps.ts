import type { AsSystem, EventsApi, Log, Subjects } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Activity } from '../activity/contract.ts';
import type { Bus, Lock } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { Routing } from '../http/contract.ts';
import type { Items } from '../items/contract.ts';
import type { Operations } from '../operations/contract.ts';
import type { Query } from '../query/contract.ts';
import type { Sandbox } from '../sandbox/contract.ts';
import type { Schema, SchemaWrites } from '../schema/contract.ts';
import type { LoadFailure, Mounts } from './model.ts';
import type { ExtensionsConfig } from './settings.ts';

/** What the parts that load extensions work with. */
export interface Deps {
  readonly log: Log;
  readonly events: EventsApi;
  readonly subjects: Subjects;
  readonly asSystem: AsSystem;
  readonly config: ExtensionsConfig;
  readonly db: Db;
  readonly items: Items;
  readonly access: Access;
  readonly schema: Schema;
  readonly schemaWrites: SchemaWrites;
  readonly query: Query;
  readonly activity: Activity;
  readonly routing: Routing;
  readonly sandbox: Sandbox;
  readonly settings: ExtensionSettings;
  readonly operations: Operations;
  readonly bus: Bus;
  readonly lock: Lock;
  readonly mounts: Mounts;
  readonly running: Running;
}

/** What loaded code, and those who decide about it, may ask of the list of extensions. */
export interface Running {
  /** Something that was loaded no longer works, a parked process for example: its row says so from now on. */
  failed(id: string, failure: LoadFailure): void;
  /** It works again: the row is as it was when it was loaded. */
  recovered(id: string): void;
  /** Loads these packages anew by name, here and in the other processes: a decision about them has changed. */
  again(names: readonly string[]): Promise<void>;
}
