import type { EventMeta } from '#kernel';
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
  readonly access: Pick<Access, 'demand' | 'assertAuthority'>;
  readonly checkPassword: CheckPassword;
}

/** The rows an update is about; none where a row is created. */
export const keysOf = ({ keys }: EventMeta): readonly string[] => (Array.isArray(keys) ? keys.map(String) : []);

export const has = (payload: Payload, field: string): boolean =>
  Object.hasOwn(payload, field) && payload[field] !== undefined;

export const without = (payload: Payload, fields: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)));
