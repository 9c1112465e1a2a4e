/**
 * `npm run bench:large`: a first start on a database of a third party with hundreds of tables, and what reads its whole schema.
 * Processor time tells; the clock depends on what else the machine does.
 */
import { startServer } from '../test/support/server.ts';
import { largeDatabaseReport } from './bench/large-database.ts';

const server = await startServer();
process.env.TEST_DATABASE_URL = server.url;
try {
  for await (const line of largeDatabaseReport()) console.log(line);
} finally {
  await server.stop();
}
