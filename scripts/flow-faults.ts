/**
 * `npm run faults:flows [-- --runs 1000 --kills 100 --ticks 200 --kill-every 5]`: three processes run asynchronous flows while one after
 * the other is killed by SIGKILL, and then a scheduled flow by a clock that this script moves, of which the process that runs a tick is
 * killed. Fails where a run is lost, where an item was made twice, and where a request was repeated that no kill explains.
 */
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { SendAsUser } from '../test/plugins/users/test-users.ts';
import { startCountingServer } from '../test/support/counting-server.ts';
import { freshDatabase } from '../test/support/database.ts';
import { createSender } from '../test/support/send.ts';
import { adminToken } from '../test/support/service.ts';
import { startRestartablePostgres } from './faults/restartable-postgres.ts';
import { checkAsynchronousRuns, type FlowFaultPlace } from './flow-faults/asynchronous-runs.ts';
import { bootFlowProcess } from './flow-faults/flow-process.ts';
import { createKillableProcesses } from './flow-faults/killable-processes.ts';
import { checkScheduledRuns } from './flow-faults/scheduled-runs.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '100' },
    ticks: { type: 'string', default: '200' },
    'kill-every': { type: 'string', default: '5' },
  },
});

const postgres = await startRestartablePostgres();
process.env.TEST_DATABASE_URL = postgres.url;
const server = await startCountingServer();

/** Runs a check on a database of its own, with a service in this process that takes the requests and is not killed. */
async function check(work: (place: FlowFaultPlace) => Promise<boolean>): Promise<boolean> {
  const database = await freshDatabase('flow_faults');
  const { kernel, url, data } = await bootFlowProcess(database.url, 'listener');
  const send = createSender(url);
  const processes = await createKillableProcesses(database.url);
  try {
    // A new token each time: one would expire before the end.
    const admin: SendAsUser = async (method, path, body) =>
      send(method, path, { token: (await adminToken(database)) ?? null, body });
    const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
    const fields = [key, { field: 'number', type: 'integer', schema: {} }];
    await admin('POST', '/collections', { collection: 'effects', schema: {}, fields });
    return await work({ admin, database, server, processes, stopListener: () => kernel.stop() });
  } finally {
    await processes.stop();
    await kernel.stop();
    await rm(data, { recursive: true, force: true });
    await database.drop();
  }
}

const runs = Number(values.runs);
const ticks = Number(values.ticks);
const results = [
  runs === 0 || (await check((place) => checkAsynchronousRuns(place, runs, Number(values.kills)))),
  ticks === 0 || (await check((place) => checkScheduledRuns(place, ticks, Number(values['kill-every'])))),
];
await server.stop();
await postgres.stop();
console.log(results.every(Boolean) ? 'nothing was lost' : 'FAILED');
process.exitCode = results.every(Boolean) ? 0 : 1;
