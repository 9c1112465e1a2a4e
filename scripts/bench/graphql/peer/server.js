/**
 * PostGraphile as it is fastest by its own documentation: production mode (NODE_ENV, set by the bench), no
 * GraphiQL, no explaining, no looking for changes, lists instead of connections, no settings per request and so no
 * transactions around reads, prepared statements (its default). The session settings and the size of the pool are the
 * service's. Plain JavaScript: its packages are not among ours, so there are no types to check it by.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const pool = new pg.Pool({
  connectionString: process.env.PEER_DATABASE_URL,
  max: 10,
  application_name: 'postgraphile',
  idleTimeoutMillis: 60_000,
  options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c statement_timeout=60000',
});

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  // It takes away the order by columns without an index of their own, which the documents ask for.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  schema: { defaultBehavior: '-connection +list' },
  grafast: { explain: false },
  // Says so for later versions: of 1.0.2 of its HTTP server the answers cost the same with and without.
  grafserv: { graphiql: false, watch: false, websockets: false, outputDataAsString: true },
  pgServices: [makePgService({ pool, schemas: ['public'] })],
});

const server = createServer();
await instance.createServ(grafserv).addTo(server);
await instance.getSchema();
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port));

// An orderly end, so that a profile is written; and none is left behind by a bench that was killed.
process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());
