import { type EventMeta, fail } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { UserStatements } from '../statements.ts';
import type { CheckPassword } from './password-policy.ts';

export type Payload = Readonly<Record<string, unknown>>;

/** What rules ask the database by. */
export type RuleStore = Pick<RuleDeps, 'db' | 'statements'>;

export interface RuleDeps {
  readonly db: Db;
  readonly statements: UserStatements;
  readonly access: Pick<Access, 'demand'>;
  readonly checkPassword: CheckPassword;
}

/** The rows an update is about; none where a row is created. */
export const keysOf = ({ keys }: EventMeta): readonly string[] => (Array.isArray(keys) ? keys.map(String) : []);

/** Rules, owners and sessions go by the id: a row that took another one would take over what belongs to that. */
export function checkSameId(payload: Payload, keys: readonly string[]): void {
  if (payload.id === undefined) return;
  const id = String(payload.id).toLowerCase();
  if (keys.some((key) => key !== id)) {
    throw fail('INVALID_PAYLOAD', 'The id cannot be changed.', { field: 'id', path: ['id'] });
  }
}

export const has = (payload: Payload, field: string): boolean =>
  Object.hasOwn(payload, field) && payload[field] !== undefined;

export const without = (payload: Payload, fields: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)));

/** As the items engine reads flags. */
export const isOn = (value: unknown): boolean => value === true || value === 'true' || value === 1 || value === '1';
