import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { listExtensions } from '../../http/confined-packages.ts';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../../support/service.ts';

interface Cheat {
  readonly manifest: object;
  /** Source text that runs in `register`. */
  readonly register?: string;
  /** Source text of an asynchronous function that runs when the plugin starts. */
  readonly start?: string;
  /** The reason of the failure in the list of extensions. */
  readonly reason: RegExp;
}

const database = (grant: object) => ({ capabilities: { database: grant } });
const OWN = database({ own: ['cheat_rows'], read: ['platform_roles'] });
const DENIED = /its manifest does not grant it \(database\)/;

/** Third-party plugins that exceed their grants, each as a package of its own beside all core plugins. */
const CHEATS: Readonly<Record<string, Cheat>> = {
  'names a table that its grant does not': {
    manifest: OWN,
    register: `host.db.read('platform_users')`,
    reason: DENIED,
  },
  'writes to a table that it may read': { manifest: OWN, register: `host.db.write('platform_roles')`, reason: DENIED },
  'puts a trigger on a table of others': { manifest: OWN, register: `host.db.watch('platform_roles')`, reason: DENIED },
  'uses a handle to read as the target of a write': {
    manifest: OWN,
    register: `host.db.sql\`delete from \${host.db.read('platform_roles')}\``,
    reason: /CAPABILITY_DENIED|may not/,
  },
  'hides a table in the text of a statement': {
    manifest: OWN,
    start: 'await host.db.query(host.db.sql`select email, password from platform_users`)',
    reason: DENIED,
  },
  'hides a table behind another schema': {
    manifest: OWN,
    start: 'await host.db.query(host.db.sql`select * from pg_catalog.pg_authid`)',
    reason: DENIED,
  },
  'runs two statements as one': {
    manifest: OWN,
    start: 'await host.db.query(host.db.sql`select 1; delete from platform_users`)',
    reason: DENIED,
  },
  'runs text by a function of the database': {
    manifest: OWN,
    start: `await host.db.query(host.db.sql\`select query_to_xml('select * from platform_users', true, true, '')\`)`,
    reason: DENIED,
  },
  'reads a file by a function of the database': {
    manifest: OWN,
    start: `await host.db.query(host.db.sql\`select pg_read_file('/etc/passwd')\`)`,
    reason: DENIED,
  },
  'changes its role in the database': {
    manifest: OWN,
    start: `await host.db.query(host.db.sql\`select set_config('role', 'postgres', false)\`)`,
    reason: DENIED,
  },
  'runs plain text': { manifest: OWN, start: `await host.db.query('select 1')`, reason: DENIED },
  'forges a statement': {
    manifest: OWN,
    start: `await host.db.query({ text: 'select * from platform_users' })`,
    reason: /may not|CAPABILITY_DENIED/,
  },
  'forges a handle': {
    manifest: OWN,
    register: `host.db.sql\`select * from \${{ name: 'platform_users', use: 'read' }}\``,
    reason: /may not|CAPABILITY_DENIED/,
  },
  'drops a table of the service': {
    manifest: OWN,
    start: 'await host.db.ddl(host.db.sql`drop table platform_users`)',
    reason: DENIED,
  },
  'takes the whole query builder': {
    manifest: OWN,
    start: 'await host.db.builder()("platform_users")',
    reason: DENIED,
  },
  'joins a table of others by its query builder': {
    manifest: OWN,
    start: `await host.db.table('cheat_rows').join('platform_users', 'a', 'b').select('password')`,
    reason: DENIED,
  },
  'gives a reason for any statement': {
    manifest: database({ sql: 'because' }),
    register: 'host.db',
    reason: /open to core plugins only/,
  },
  'asks to change any table': {
    manifest: database({ ddl: true }),
    register: 'host.db',
    reason: /open to core plugins only/,
  },
  'uses the connections of the database': {
    manifest: { uses: { connections: '^1.0.0' } },
    register: `host.use({ one: { id: 'connections', version: '1.0.0' } })`,
    reason: /open to core plugins only/,
  },
  'seals trees of queries': {
    manifest: { uses: { sealing: '^1.0.0' } },
    register: `host.use({ one: { id: 'sealing', version: '1.0.0' } })`,
    reason: /open to core plugins only/,
  },
  'uses the broker of packages': {
    manifest: { uses: { broker: '^1.0.0' } },
    register: `host.use({ one: { id: 'broker', version: '1.0.0' } })`,
    reason: /open to core plugins only/,
  },
  'identifies callers by the service': {
    manifest: { uses: { identity: '^1.0.0' } },
    register: `host.use({ one: { id: 'identity', version: '1.0.0' } })`,
    reason: /open to core plugins only/,
  },
  'serves a path of the service': {
    manifest: { contributes: { 'http.routes': { prefixes: ['/users/extra'] } } },
    reason: /\(http\.routes\) already belongs to @tenon\/users/,
  },
  'serves a path that is kept for later': {
    manifest: { contributes: { 'http.routes': { prefixes: ['/versions'] } } },
    reason: /\(http\.routes\) already belongs to @tenon/,
  },
  'declares a table of the service as its own': {
    manifest: { contributes: { 'schema.system': { collections: ['platform_users'] } } },
    reason: /platform_users \(schema\.system\) already belongs to @tenon\/users/,
  },
  'answers a GraphQL field of the service': {
    manifest: { contributes: { 'graphql.fields': { names: ['auth_login'] } } },
    reason: /auth_login \(graphql\.fields\) already belongs to @tenon\/auth/,
  },
  'brings a storage driver by the name of one': {
    manifest: { contributes: { 'storage.drivers': { names: ['local'] } } },
    reason: /local \(storage\.drivers\) already belongs to @tenon\/storage-local/,
  },
  'brings a way to sign in by the name of one': {
    manifest: { contributes: { 'auth.drivers': { names: ['local'] } } },
    reason: /local \(auth\.drivers\) already belongs to @tenon\/auth/,
  },
  'asks for the secret that signs tokens': {
    manifest: { config: { SECRET: { type: 'string' } } },
    reason: /the setting SECRET already belongs to @tenon\/auth/,
  },
  'asks for all settings of the database': {
    manifest: { config: { 'DB_*': { type: 'string' } } },
    reason: /DB_\* overlaps with DB_/,
  },
  'reads as a caller of its own making': {
    manifest: { uses: { items: '^1.0.0' } },
    start: `await host.use({ items: { id: 'items', version: '1.0.0' } }).items.readMany({ user: null, role: null, admin: true, app: true }, 'platform_users', {})`,
    reason: /call items\.readMany with a caller that the kernel did not mint/,
  },
  'asks for permissions as a caller of its own making': {
    manifest: { uses: { access: '^1.0.0' } },
    start: `await host.use({ access: { id: 'access', version: '1.0.0' } }).access.permissions({ admin: true })`,
    reason: /call access\.permissions with a caller that the kernel did not mint/,
  },
  'changes tables as a caller of its own making': {
    manifest: { uses: { schemaWrites: '^1.0.0' } },
    start: `await host.use({ w: { id: 'schemaWrites', version: '1.0.0' } }).w.deleteCollection({ admin: true }, 'things')`,
    reason: /call schemaWrites\.deleteCollection with a caller that the kernel did not mint/,
  },
  'replaces how passwords are verified': {
    manifest: { uses: { passwords: '^1.0.0' } },
    register: `host.use({ p: { id: 'passwords', version: '1.0.0' } }).p.verify = async () => true`,
    reason: /may not set passwords\.verify/,
  },
};

const codeOf = ({ register = '', start = '' }: Cheat): string => `
export default { manifest: {}, register(host) {
  ${register};
  host.onStart(async () => { ${start}; });
} };
`;

const nameOf = (at: number) => `cheat-${String(at).padStart(2, '0')}`;

describe('a third-party plugin beside all core plugins', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let service: InProcessService;
  let rows: Awaited<ReturnType<typeof listExtensions>>;
  before(async () => {
    place = await createPackageFolder();
    for (const [at, cheat] of Object.values(CHEATS).entries()) {
      const manifest = { type: 'plugin', path: 'index.js', ...cheat.manifest };
      await place.write({
        [`${nameOf(at)}/package.json`]: createPackageJson(nameOf(at), manifest),
        [`${nameOf(at)}/index.js`]: codeOf(cheat),
      });
    }
    const honest = fileURLToPath(new URL('../../../extensions/examples/storage-database/', import.meta.url));
    await cp(honest, join(place.path, 'storage-database'), { recursive: true });
    service = await startService({ env: { EXTENSIONS_PATH: place.path } });
    rows = await listExtensions(service);
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  for (const [at, [what, { reason }]] of Object.entries(CHEATS).entries()) {
    it(`a plugin that ${what} is denied by name, counted in the ledger and left out`, () => {
      const row = rows[nameOf(at)];
      expect(row, JSON.stringify(row)).to.deep.include({ status: 'failed', type: 'plugin' });
      expect(row?.reason?.detail).to.match(reason);
      const denied = service.kernel.ledger
        .entries()
        .filter(({ kind, plugin }) => kind === 'denied' && plugin === nameOf(at));
      expect(denied, 'lines of the ledger').not.to.deep.equal([]);
      expect(service.kernel.countOf(nameOf(at))).to.deep.equal({ facets: 0, listeners: 0 });
    });
  }

  it('a plugin that stays inside its grants runs together with the service', async () => {
    expect(rows['storage-database']).to.deep.include({ status: 'loaded', type: 'plugin' });
    const reply = await service.request('GET', '/users', { token: service.admin.token });
    expect(reply.status).to.equal(200);
  });
});
