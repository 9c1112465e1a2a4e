/**
 * `npm run demo`: loads the Chinook sample into the embedded database, adds a role that may read the tracks of one genre
 * only, and shows five requests with their answers. May be repeated; `npm start` then serves what it left.
 */
import { join, resolve } from 'node:path';
import pg from 'pg';
import { boot } from '#kernel/boot';
import { createLog } from '../kernel/log.ts';
import { listCorePlugins } from '../plugins/core-plugins.ts';
import { openEmbeddedPostgresServer } from '../plugins/database/embedded/server.ts';
import { captureStatementsFromServerLog } from './demo/capture-statements.ts';
import { addJazzListenerUser, loadChinook, withTemporaryAdmin } from './demo/prepare.ts';
import { writePretty } from './pretty-log.ts';

if (process.env.DB_CONNECTION_STRING || process.env.DB_HOST) {
  console.error(
    'The demo loads sample tables and only does so into the embedded database: unset DB_CONNECTION_STRING and DB_HOST.',
  );
  process.exit(1);
}

const dataPath = process.env.DATA_PATH || './data';
const { target, server } = await openEmbeddedPostgresServer({
  dataPath,
  log: createLog({ level: 'warn', style: 'pretty', pretty: writePretty }),
});
const client = new pg.Client({ ...target.client, application_name: 'demo' });
await client.connect();
console.log('Loading Chinook …');
await loadChinook(client);

const environment = { ...process.env, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn' };
const kernel = await boot(listCorePlugins(), { environment, prettyLog: writePretty });
try {
  await kernel.migrate();
  await kernel.start();
  const { address } = await kernel.listen();
  const token = await addJazzListenerUser(client);
  await withTemporaryAdmin(client, (admin) => nameTheTracksOfAnAlbum(address, admin));
  await show(address, token);
} finally {
  // The service stops the database with the last of its processes, so this connection ends first.
  await client.end();
  await kernel.stop();
  await server.stop();
}

/** Adds the one-to-many field `album.tracks`, as an admin would: an adopted foreign key has a field on its own side only. */
async function nameTheTracksOfAnAlbum(address: string, admin: string): Promise<void> {
  const send = (method: string, path: string, body?: object) =>
    fetch(address + path, {
      method,
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const relation = { meta: { one_field: 'tracks' } };
  if ((await send('GET', '/fields/album/tracks')).ok) return;
  for (const [method, path, body] of [
    ['POST', '/fields/album', { field: 'tracks', type: 'alias', meta: { special: ['o2m'] } }],
    ['PATCH', '/relations/track/album_id', relation],
  ] as const) {
    const response = await send(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }
}

async function show(address: string, token: string): Promise<void> {
  const port = process.env.PORT || '8055';
  const requests: readonly [about: string, path: string, token: string | null][] = [
    ['Without a token: the Public role may read nothing.', '/items/track?limit=1', null],
    [
      'The listener may read the tracks of one genre, and gets no others.',
      '/items/track?fields=track_id,name,composer&limit=3&meta=*',
      token,
    ],
    ['A track of another genre looks like one that does not exist.', '/items/track/1', token],
    [
      'Nested read: tracks with album and artist, filtered and sorted.',
      '/items/track?fields=name,album_id.title,album_id.artist_id.name&filter[composer][_contains]=Davis&sort=-milliseconds&limit=3',
      token,
    ],
    [
      'The other way round: albums with their first two tracks.',
      '/items/album?fields=title,artist_id.name,tracks.name&deep[tracks][_limit]=2&filter[tracks][composer][_nnull]=true&limit=2',
      token,
    ],
  ];
  console.log(`\nThese requests work as they stand while "npm start" serves the same data folder.`);
  for (const [about, path, as] of requests) {
    console.log(`\n# ${about}`);
    console.log(`curl -g${as ? ` -H 'Authorization: Bearer ${as}'` : ''} 'http://localhost:${port}${path}'`);
    const ask = async () => {
      const response = await fetch(address + path, as ? { headers: { authorization: `Bearer ${as}` } } : {});
      console.log(`${response.status} ${await response.text()}`);
    };
    if (!about.startsWith('Nested')) {
      await ask();
      continue;
    }
    // The first time a read also looks permissions up; the log shows what every later one costs.
    await fetch(address + path, { headers: { authorization: `Bearer ${as}` } });
    const statements = await captureStatementsFromServerLog(client, join(resolve(dataPath), 'postgres.log'), ask);
    const reads = statements.filter((one) => one.includes('"track"'));
    console.log(`The database's log shows ${reads.length} statement for it:\n${reads.join('\n')}`);
    const others = statements.filter((one) => !one.includes('"track"'));
    if (others.length > 0)
      console.log(`and ${others.length} to know the bearer of a static token:\n${others.join('\n')}`);
  }
}
