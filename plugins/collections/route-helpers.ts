import { type Caller, fail } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { bodyOf } from '../http/library.ts';
import type { SchemaService, SchemaWrites } from '../schema/contract.ts';

export interface CollectionRouteDeps {
  readonly access: Pick<AccessControl, 'isAllowed' | 'readableFields'>;
  readonly schema: SchemaService;
  readonly writes: SchemaWrites;
}

/** A path parameter of the route. */
export const pathParameterOf = (ctx: HttpContext, name: 'collection' | 'field'): string => ctx.params[name] ?? '';

/**
 * @throws FORBIDDEN for callers that are not admins. Call it before the body is read, so that such callers learn nothing about
 *   errors in the body.
 */
export function assertAdmin(caller: Caller): void {
  if (!caller.admin) throw fail('FORBIDDEN', 'the schema is changed by admins only');
}

export function requireListBody(ctx: HttpContext): readonly unknown[] {
  const body = bodyOf(ctx);
  if (!Array.isArray(body)) throw fail('INVALID_PAYLOAD', 'The body must be a list.');
  return body;
}

/** The name in an element of a list body. @throws INVALID_PAYLOAD */
export function requireElementName(element: unknown, key: 'collection' | 'field'): string {
  const name =
    typeof element === 'object' && element !== null && Object.hasOwn(element, key)
      ? (element as Record<string, unknown>)[key]
      : undefined;
  if (typeof name !== 'string') throw fail('INVALID_PAYLOAD', `"${key}" is required in each element.`);
  return name;
}
