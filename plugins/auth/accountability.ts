import { fail } from '#kernel';

/** Whom a listener of `authenticate` names. */
export interface NamedCaller {
  readonly user: string | null;
  readonly role: string | null;
  readonly admin: boolean;
  readonly app: boolean;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Parses what a listener of `authenticate` answers. Whatever is no accountability ends the request: taking it for the Public role could give
 * more than its author meant.
 * @throws INTERNAL_SERVER_ERROR
 */
export function parseAccountability(value: unknown): NamedCaller {
  const { user = null, role = null, admin = false, app = false } = toRecord(value);
  return {
    user: parseId('user', user),
    role: parseId('role', role),
    admin: parseFlag('admin', admin),
    app: parseFlag('app', app),
  };
}

const invalid = (why: string) => fail('INTERNAL_SERVER_ERROR', `a listener of "authenticate" answered ${why}`);

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid('no accountability');
}

function parseId(name: string, value: unknown): string | null {
  if (value === null) return null;
  if (typeof value === 'string' && UUID.test(value)) return value.toLowerCase();
  throw invalid(`a ${name} that is no id`);
}

function parseFlag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(`"${name}" that is not true or false`);
}
