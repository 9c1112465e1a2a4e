import { type Caller, type EventMeta, fail } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Db } from '../../database/contract.ts';

export type Payload = Readonly<Record<string, unknown>>;

export interface RuleDeps {
  readonly db: Db;
  readonly access: Pick<Access, 'may'>;
}

/** What an event says about a write: to which rows, and what is written beside the payload. */
export interface Change {
  readonly caller: Caller;
  readonly keys: readonly string[];
  /** Payload and the values the platform sets for a nested write, such as the key of the row it is nested in. */
  readonly written: Payload;
}

export const changeOf = (payload: unknown, { caller, keys, given }: EventMeta): Change => ({
  caller,
  keys: (Array.isArray(keys) ? keys : []).map((key) => String(key).toLowerCase()),
  written: { ...(payload as Payload), ...((given as Payload | undefined) ?? {}) },
});

/** Rules say what is wrong with a write, so they come after the question whether the caller may write at all. */
export async function allowed(
  { access }: RuleDeps,
  caller: Caller,
  action: 'create' | 'update' | 'delete',
  collection: string,
): Promise<void> {
  if (!(await access.may(caller, action, collection)))
    throw fail('FORBIDDEN', `no ${action} permission on ${collection}`);
}

export const has = (payload: Payload, field: string): boolean =>
  Object.hasOwn(payload, field) && payload[field] !== undefined;

export const without = (payload: Payload, fields: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)));

/** As the items engine reads flags. */
export const isOn = (value: unknown): boolean => value === true || value === 'true' || value === 1 || value === '1';
