import type { FreshDatabase } from '../../../test/support/database.ts';
import { startPostGraphile } from '../graphql/postgraphile.ts';
import { spawnBenchService } from '../service-process.ts';

/** A server with GraphQL subscriptions to changed articles. */
export interface SubscriptionContender {
  readonly name: string;
  readonly url: URL;
  readonly pid: number;
  /** The application name of its database connections. */
  readonly application: string;
  readonly init: object;
  readonly query: string;
  /** SQL around a round, for what the server does not do itself. */
  readonly setUp?: string;
  readonly tearDown?: string;
}

const NOTIFY = `
  create or replace function peer_notify() returns trigger language plpgsql as $$
    begin
      perform pg_notify('peer_article', json_build_object('event', lower(tg_op), 'key', new.id)::text);
      return null;
    end $$;
  create trigger peer_notify after insert or update on article for each row execute function peer_notify();`;

/** PostGraphile starts first, so that its schema holds only the tables of the benchmark. */
export async function startSubscriptionContenders(
  database: FreshDatabase,
): Promise<{ readonly all: readonly SubscriptionContender[]; stop(): Promise<void> }> {
  const peer = await startPostGraphile(database, undefined, 'subscriptions.js');
  const service = await spawnBenchService(database, undefined, {
    WEBSOCKETS_ENABLED: 'true',
    // All subscribers come from one address.
    WEBSOCKETS_CONN_LIMIT: '20000',
    WEBSOCKETS_ADDRESS_CONN_LIMIT: '20000',
    WEBSOCKETS_PUBLIC_CONN_LIMIT: '20000',
  }).catch(async (error) => {
    await peer.stop();
    throw error;
  });
  return {
    all: [
      {
        name: 'the service',
        url: new URL(service.url),
        pid: service.pid,
        application: 'tenon',
        init: { access_token: service.admin.token },
        query: 'subscription { article_mutated { key event data { title status views author_id { name } } } }',
      },
      {
        name: 'PostGraphile',
        ...peer,
        application: 'postgraphile',
        init: {},
        query:
          'subscription { article_mutated { key event data { title status views author: authorByAuthorId { name } } } }',
        setUp: NOTIFY,
        tearDown: 'drop trigger peer_notify on article',
      },
    ],
    async stop() {
      await peer.stop();
      await service.stop();
    },
  };
}
