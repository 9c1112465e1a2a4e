import { randomUUID } from 'node:crypto';
import type { EventMeta, EventsApi } from '#kernel';
import { isUuid } from '../../database/library.ts';
import type { FlowOperationRegistry } from '../contract.ts';
import type { OperationSecrets } from './operation-secrets.ts';
import { secretKindOf, splitSecretOptions } from './secret-options.ts';

type Payload = Readonly<Record<string, unknown>>;

interface Deps {
  readonly events: Pick<EventsApi, 'onFilter'>;
  readonly operations: () => FlowOperationRegistry;
  readonly stored: OperationSecrets;
}

const isObject = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Takes secrets out of the options of operations before they are written, by whatever way: the row, its revisions and all answers have
 * the mask, and a mask that a client sends back keeps what is stored.
 */
export function registerSecretFilters({ events, operations, stored }: Deps): void {
  const kindsOf = (types: readonly unknown[]) =>
    types.flatMap((type) => {
      const kind = operations().find(String(type));
      return kind === undefined || kind === 'ambiguous' ? [] : [kind];
    });

  async function filterCreate(payload: Payload): Promise<Payload | undefined> {
    if (!isObject(payload.options)) return undefined;
    const { shown, written } = splitSecretOptions(kindsOf([payload.type]), payload.options);
    if (written.size === 0) return undefined;
    const id = payload.id ?? randomUUID();
    // The write refuses any other key.
    if (typeof id === 'string' && isUuid(id)) await stored.put([id], written, []);
    return { ...payload, id, options: shown };
  }

  async function filterUpdate(payload: Payload, keys: readonly string[]): Promise<Payload | undefined> {
    if (payload.options === undefined || keys.length === 0) return undefined;
    const found = await stored.find(keys);
    const options = isObject(payload.options) ? payload.options : {};
    const kinds = kindsOf(payload.type === undefined ? found.map(({ type }) => type) : [payload.type]);
    const known = secretKindOf([...new Set(found.flatMap(({ paths }) => paths))]);
    const { shown, written, kept } = splitSecretOptions([...kinds, known], options);
    const hasStored = found.some(({ paths }) => paths.length > 0);
    if (hasStored || written.size > 0)
      await stored.put(
        found.map(({ id }) => id),
        written,
        kept,
      );
    return written.size > 0 ? { ...payload, options: shown } : undefined;
  }

  events.onFilter('operations.create', (payload) => filterCreate(payload as Payload));
  events.onFilter('operations.update', (payload, { keys }: EventMeta) =>
    filterUpdate(payload as Payload, keys as readonly string[]),
  );
}
