import { expect } from 'chai';
import { type AnswerSources, type QueryEngine, query } from '../../plugins/query/contract.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { tablesInStatement } from '../support/statement-grants.ts';
import { type TestComposition, writeTestPluginPackages } from '../support/test-plugins.ts';
import { createUserWithPermissions, type TestUserWithToken } from './test-users.ts';

const graphql = (query: string) => `/graphql?query=${encodeURIComponent(query)}`;

const PATHS = [
  '/items/track?limit=2',
  '/items/track/1?fields=*.*',
  '/items/track?fields=name,album_id.artist_id.name&sort=album_id.artist_id.name&limit=2',
  '/items/album?fields=title,artist_id&filter[artist_id][name][_contains]=a&limit=2&meta=*',
  '/items/track?search=rock&limit=2&meta=filter_count',
  '/items/track?aggregate[avg]=milliseconds&groupBy[]=genre_id',
  '/items/track?limit=-1&fields=name',
  '/items/playlist_track?fields=*.*.*&limit=2',
  '/items/customer?filter[support_rep_id][reports_to][city][_nnull]=true&sort=-support_rep_id.last_name&limit=2',
  '/items/track?filter[name][_neq]=$CURRENT_USER.role.name&limit=1',
  '/items/track?filter[name][_neq]=$CURRENT_ROLE&limit=1',
  '/items/track?filter[name][_neq]=$CURRENT_USER&limit=1',
  '/users?fields=*.*&limit=2',
  '/files?fields=*,folder.*',
  graphql('{ track(limit: 2, filter: { genre_id: { name: { _eq: "Rock" } } }) { name album_id { title } } }'),
  graphql('{ album(limit: 2) { title artist_id { name } } genre_aggregated { count { genre_id } } }'),
];

/** The collected sources of one request, with the tables of its statements as PostgreSQL's parser finds them. */
interface Collected {
  readonly tables: readonly string[];
  readonly parsed: readonly string[];
  readonly scopes: string;
}

describe('sources of an answer', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let service: InProcessService;
  let person: TestUserWithToken;
  let probe: TestComposition;
  let engine: QueryEngine;
  before(async () => {
    database = await freshDatabase('sources');
    await runSqlFile(database.url, new URL('../data/chinook.sql', import.meta.url));
    probe = await writeTestPluginPackages([
      {
        name: 'probe',
        manifest: { uses: { query: '^1.0.0' } },
        register(host) {
          engine = host.use({ query }).query;
        },
      },
    ]);
    service = await startService({ database, plugins: probe.composition.plugins });
    person = await createUserWithPermissions(service, [
      { collection: 'track', action: 'read', permissions: { genre_id: { name: { _neq: 'Pop' } } } },
      {
        collection: 'album',
        action: 'read',
        permissions: { artist_id: { name: { _neq: '$CURRENT_USER.last_name' } } },
      },
      { collection: 'genre', action: 'read', fields: ['genre_id'] },
    ]);
  });
  after(async () => {
    engine?.setAnswerSourcesLookup(() => undefined);
    await service?.stop();
    await probe?.remove();
    await database?.drop();
  });

  async function collect(path: string, token: string): Promise<Collected | undefined> {
    const tables = new Set<string>();
    const scopes = new Set<string>();
    const sources: AnswerSources = {
      addStatement(one) {
        for (const table of one.tables) tables.add(table);
        for (const name of ['user', 'role', 'time'] as const) if (one[name]) scopes.add(name);
      },
      addEvents() {},
      markComplete() {},
      keepUntilExpired() {},
      markUncacheable() {},
      markWrite() {},
    };
    // The first request reads permissions and the owner of the token.
    await service.request('GET', path, { token });
    engine.setAnswerSourcesLookup(() => sources);
    let status = 0;
    const texts = await recordStatementsDuring(async () => {
      ({ status } = await service.request('GET', path, { token }));
    });
    engine.setAnswerSourcesLookup(() => undefined);
    if (status !== 200) return undefined;
    const parsed = new Set<string>();
    for (const text of texts)
      for (const { schema, name } of await tablesInStatement(text).catch(() => []))
        if (schema === 'public') parsed.add(`"${schema}"."${name}"`);
    return { tables: [...tables].sort(), parsed: [...parsed].sort(), scopes: [...scopes].join() };
  }

  it('are the tables that PostgreSQL finds in the statements, for admins and for callers with row rules', async () => {
    let compared = 0;
    let named = 0;
    for (const path of PATHS)
      for (const token of [service.admin.token, person.token]) {
        const found = await collect(path, token);
        if (!found) continue;
        compared++;
        named += found.parsed.length;
        expect(found.tables, path).to.include.members([...found.parsed]);
        expect(found.tables.length, path).to.be.greaterThan(0);
      }
    expect(compared).to.be.greaterThan(PATHS.length);
    expect(named).to.be.greaterThan(2 * compared - PATHS.length);
  });

  it('say whether a statement uses the user or the role, in the query or in a rule', async () => {
    const admin = service.admin.token;
    expect((await collect('/items/album?limit=1', admin))?.scopes).to.equal('');
    expect((await collect('/items/album?limit=1', person.token))?.scopes).to.equal('user');
    expect((await collect('/items/track?limit=1&filter[name][_neq]=$CURRENT_ROLE', admin))?.scopes).to.equal('role');
    expect((await collect('/items/invoice?limit=1&filter[invoice_date][_lt]=$NOW(-1d)', admin))?.scopes).to.equal(
      'time',
    );
  });
});
