/**
 * PostGraphile with a subscription to changed articles as its documentation has it: a trigger notifies, and each subscription reads the
 * row when the message arrives. Settings as in server.js. Plain JavaScript for the same reason.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { jsonParse } from 'postgraphile/@dataplan/json';
import { makePgService } from 'postgraphile/adaptors/pg';
import { constant, context, listen } from 'postgraphile/grafast';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { extendSchema, gql } from 'postgraphile/utils';

const pool = new pg.Pool({
  connectionString: process.env.PEER_DATABASE_URL,
  max: 10,
  application_name: 'postgraphile',
  idleTimeoutMillis: 60_000,
  options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c statement_timeout=60000',
});

const subscriptions = extendSchema((build) => {
  const { article } = build.pgResources;
  return {
    typeDefs: gql`
      extend type Subscription {
        article_mutated: ArticleMutated
      }
      type ArticleMutated {
        key: Int
        event: String
        data: Article
      }
    `,
    objects: {
      Subscription: {
        plans: {
          article_mutated: {
            subscribePlan: () => listen(context().get('pgSubscriber'), constant('peer_article'), jsonParse),
            plan: ($event) => $event,
          },
        },
      },
      ArticleMutated: {
        plans: {
          key: ($event) => $event.get('key'),
          event: ($event) => $event.get('event'),
          data: ($event) => article.get({ id: $event.get('key') }),
        },
      },
    },
  };
});

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  plugins: [subscriptions],
  grafast: { explain: false },
  grafserv: { graphiql: false, watch: false, websockets: true, outputDataAsString: true },
  pgServices: [makePgService({ pool, schemas: ['public'], pubsub: true })],
});

const server = createServer();
await instance.createServ(grafserv).addTo(server);
await instance.getSchema();
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port));

process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());
