/** Opens the embedded server of a folder, says where it is, and stops it when told to: one process of several. */
import pg from 'pg';
import { createLog } from '../../../kernel/log.ts';
import { embeddedServer } from '../../../plugins/database/embedded/server.ts';

const log = createLog({ level: 'info', style: 'raw', write: (line) => void process.stderr.write(line) });
const { target, server } = await embeddedServer({ dataPath: process.argv[2] as string, log });
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
// Whoever reads this may send the signal at once.
console.log(JSON.stringify({ port: target.client.port, ...rows[0] }));
