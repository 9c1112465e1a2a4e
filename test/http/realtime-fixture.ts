import { openAuthenticated, type RealtimeTestClient } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

/** A service with realtime and the collection `note`: `title`, `kind`, `owner`, and `parent`, another note. */
export async function startRealtimeService(env: Record<string, string> = {}): Promise<InProcessService> {
  const service = await startService({ env: { WEBSOCKETS_ENABLED: 'true', ...env } });
  const field = (name: string, type = 'string') => ({ field: name, type });
  await requestAsAdmin(service, 'POST', '/collections', {
    collection: 'note',
    schema: {},
    fields: [field('title', 'text'), field('kind'), field('owner', 'uuid'), field('parent', 'integer')],
  });
  await requestAsAdmin(service, 'POST', '/fields/note', {
    field: 'children',
    type: 'alias',
    meta: { special: ['o2m'] },
  });
  await requestAsAdmin(service, 'POST', '/relations', {
    collection: 'note',
    field: 'parent',
    related_collection: 'note',
    meta: { one_field: 'children' },
    schema: { on_delete: 'CASCADE' },
  });
  return service;
}

export type Row = Record<string, unknown> & { readonly id: number };

/** Requests of the first admin on notes. */
export const createNotes = (service: InProcessService) => ({
  create: (data: object): Promise<Row> => requestAsAdmin(service, 'POST', '/items/note', data),
  update: (id: number, data: object): Promise<Row> => requestAsAdmin(service, 'PATCH', `/items/note/${id}`, data),
  remove: (id: number): Promise<void> => requestAsAdmin(service, 'DELETE', `/items/note/${id}`),
});

/** A client with a subscription, without the first message of it. */
export async function subscribeTo(
  service: InProcessService,
  token: string,
  message: Record<string, unknown>,
): Promise<RealtimeTestClient> {
  const client = await openAuthenticated(service.url, token);
  const answer = await client.ask({ type: 'subscribe', uid: 's', ...message });
  if (answer.event !== 'init') throw new Error(`not subscribed: ${JSON.stringify(answer)}`);
  return client;
}

/** The messages of a subscription without their constant members: `[event, data]`. */
export const changesOf = (client: RealtimeTestClient, uid = 's'): readonly (readonly [string, unknown])[] =>
  client.messages
    .filter(
      (one) => one.type === 'subscription' && one.uid === uid && ['create', 'update', 'delete'].includes(one.event),
    )
    .map(({ event, data }) => [event, data] as const);
