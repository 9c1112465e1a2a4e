import { type FreshDatabase, freshDatabase, runSqlFile } from '../../support/database.ts';
import { type HttpReply, type InProcessService, startService } from '../../support/service.ts';

/** A service whose requests are those of its admin. */
export interface SnapshotService {
  readonly service: InProcessService;
  readonly database: FreshDatabase;
  send(method: Parameters<InProcessService['request']>[0], path: string, body?: unknown): Promise<HttpReply>;
  /** The snapshot of the service, with these query parameters. */
  snapshot(query?: string): Promise<Snapshot>;
  /** What `POST /schema/diff` answers: undefined for 204. */
  diff(snapshot: unknown, query?: string): Promise<Diff | undefined>;
  /** Makes the service as a snapshot says. */
  become(snapshot: unknown, query?: string): Promise<HttpReply>;
  stop(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: documents are compared as a whole
export type Snapshot = any;
// biome-ignore lint/suspicious/noExplicitAny: documents are compared as a whole
export type Diff = any;

/** Starts a service, by default on an empty database. */
export async function startSnapshotService(database?: FreshDatabase): Promise<SnapshotService> {
  const service = await startService(database ? { database } : {});
  const send: SnapshotService['send'] = (method, path, body) =>
    service.request(method, path, { token: service.admin.token, ...(body === undefined ? {} : { body }) });
  const succeed = (reply: HttpReply) => {
    if (reply.status >= 300) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    return reply;
  };
  return {
    service,
    database: service.database,
    send,
    snapshot: async (query = '') => succeed(await send('GET', `/schema/snapshot${query}`)).body.data,
    diff: async (snapshot, query = '') => {
      const { status, body } = succeed(await send('POST', `/schema/diff${query}`, snapshot));
      return status === 204 ? undefined : body.data;
    },
    async become(snapshot, query = '') {
      const { body, status } = succeed(await send('POST', `/schema/diff${query}`, snapshot));
      return send('POST', '/schema/apply', status === 204 ? { hash: 'none', diff: {} } : body.data);
    },
    stop: async () => {
      await service.stop();
      await database?.drop();
    },
  };
}

/** Starts a service on a database with the tables of Chinook. */
export async function startChinook(): Promise<SnapshotService> {
  const database = await freshDatabase('chinook');
  await runSqlFile(database.url, new URL('../../data/chinook.sql', import.meta.url));
  return startSnapshotService(database);
}
