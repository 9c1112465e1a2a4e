import { fail } from '#kernel';
import { isUuid } from '../database/library.ts';

/** Whom a listener of `authenticate` or `websocket.authenticate` names. */
export interface NamedCaller {
  readonly user: string | null;
  readonly role: string | null;
  readonly admin: boolean;
  readonly app: boolean;
}

/**
 * Parses what a listener of `event` answers. Whatever is no accountability is an error: taking it for the Public role could give more than its
 * author meant.
 * @throws INTERNAL_SERVER_ERROR
 */
export function parseAccountability(value: unknown, event: string): NamedCaller {
  const invalid = (why: string) => fail('INTERNAL_SERVER_ERROR', `a listener of "${event}" answered ${why}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('no accountability');
  const { user = null, role = null, admin = false, app = false } = value as Readonly<Record<string, unknown>>;
  const parseId = (name: string, id: unknown): string | null => {
    if (id === null) return null;
    if (typeof id === 'string' && isUuid(id)) return id.toLowerCase();
    throw invalid(`a ${name} that is no id`);
  };
  const parseFlag = (name: string, flag: unknown): boolean => {
    if (typeof flag === 'boolean') return flag;
    throw invalid(`"${name}" that is not true or false`);
  };
  return {
    user: parseId('user', user),
    role: parseId('role', role),
    admin: parseFlag('admin', admin),
    app: parseFlag('app', app),
  };
}
