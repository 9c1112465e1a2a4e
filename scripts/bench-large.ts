/**
 * `npm run bench:large`: measures a first start on a third-party database with hundreds of tables, and the requests that read its
 * whole schema. Compare processor time; wall-clock time depends on other load on the machine.
 */
import { startDatabaseServer } from '../test/support/database-server.ts';
import { reportLargeDatabaseCosts } from './bench/large-database.ts';

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
try {
  for await (const line of reportLargeDatabaseCosts()) console.log(line);
} finally {
  await server.stop();
}
