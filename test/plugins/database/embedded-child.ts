/** A child process of the tests: opens the embedded server of a folder, prints its address, and stops it on SIGTERM. */
import pg from 'pg';
import { createLog } from '../../../kernel/log.ts';
import { openEmbeddedPostgresServer } from '../../../plugins/database/embedded/server.ts';

const log = createLog({ level: 'info', style: 'raw', write: (line) => void process.stderr.write(line) });
const { target, server } = await openEmbeddedPostgresServer({ dataPath: process.argv[2] as string, log });
const client = new pg.Client(target.client);
client.on('error', () => {});
await client.connect();
const { rows } = await client.query(
  `select pg_postmaster_start_time()::text as started, current_setting('data_directory') as folder,
    current_setting('listen_addresses') as listens, upper('ä') as upper`,
);
process.once('SIGTERM', async () => {
  await client.end();
  await server.stop();
  process.exit(0);
});
// The test may send SIGTERM as soon as it has this line.
console.log(JSON.stringify({ port: target.client.port, ...rows[0] }));
