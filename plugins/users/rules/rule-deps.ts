import type { EventMeta } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { UserStatements } from '../statements.ts';
import type { PasswordPolicyAssertion } from './password-policy.ts';

export type Payload = Readonly<Record<string, unknown>>;

/** What the rules for users, roles and permissions need to run statements. */
export type WriteCheckStatementDeps = Pick<UserRoleWriteCheckDeps, 'db' | 'statements'>;

export interface UserRoleWriteCheckDeps {
  readonly db: Db;
  readonly statements: UserStatements;
  readonly access: Pick<AccessControl, 'assertAllowed' | 'assertAuthority'>;
  readonly checkPassword: PasswordPolicyAssertion;
}

/** Keys of the rows that an update changes; empty for a create. */
export const eventKeysOf = ({ keys }: EventMeta): readonly string[] => (Array.isArray(keys) ? keys.map(String) : []);

export const setsField = (payload: Payload, field: string): boolean =>
  Object.hasOwn(payload, field) && payload[field] !== undefined;

export const omitFields = (payload: Payload, fields: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)));
