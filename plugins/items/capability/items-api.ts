import type { ConfinedCodeInvocation } from '../../broker/contract.ts';
import type { Key } from '../contract.ts';

/**
 * What the capability `items` binds: the verbs within a grant and the bounds of confined code (conventions, "items").
 * Arguments come from that code and are validated here. Calls act for the caller of the invocation, or without
 * permissions, as granted.
 * @throws Refusal for invalid arguments, or a Failure: FORBIDDEN for everything that is not granted, not permitted or
 * missing.
 */
export interface ItemsApi {
  readMany(run: ConfinedCodeInvocation, collection: string, query?: unknown): Promise<Record<string, unknown>[]>;
  /** Null for a row that is missing or may not be read. */
  readOne(
    run: ConfinedCodeInvocation,
    collection: string,
    key: unknown,
    query?: unknown,
  ): Promise<Record<string, unknown> | null>;
  createOne(run: ConfinedCodeInvocation, collection: string, payload: unknown): Promise<Key>;
  createMany(run: ConfinedCodeInvocation, collection: string, payloads: unknown): Promise<Key[]>;
  updateOne(run: ConfinedCodeInvocation, collection: string, key: unknown, payload: unknown): Promise<Key>;
  updateMany(run: ConfinedCodeInvocation, collection: string, keys: unknown, payload: unknown): Promise<Key[]>;
  /** Null where the delete is allowed and there was no such row. */
  deleteOne(run: ConfinedCodeInvocation, collection: string, key: unknown): Promise<Key | null>;
  deleteMany(run: ConfinedCodeInvocation, collection: string, keys: unknown): Promise<Key[]>;
}
