import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { type WrittenPackages, writePackages } from './write-packages.ts';

/** Handler body that leaves marks wherever a script can, and answers which marks of earlier calls it found. */
const MARKS = `
  const found = [];
  if (globalThis.mark) found.push('global');
  if (Array.prototype.mark) found.push('prototype');
  if ({}.mark) found.push('object');
  if (JSON.stringify.mark) found.push('built-in');
  if (Symbol.for('mark').description !== 'mark') found.push('symbol');
  if (seen++) found.push('module');
  globalThis.mark = Array.prototype.mark = JSON.stringify.mark = true;
  Object.defineProperty(Object.prototype, 'mark', { value: true, configurable: true });
  return { body: found };
`;
const marking = (id: string) => `let seen = 0;\nexport default { id: '${id}', async handler() {${MARKS}} };\n`;

/** Extension that keeps the context of one caller and uses it in a call of another one. */
const KEEPING = `
  let kept;
  export default {
    id: 'keeping',
    async handler({ query }, context) {
      if (query.keep) {
        kept = { host: context.host, read: context.host.items.readMany, secret: await context.host.settings.get('key') };
        setTimeout(() => context.host.items.readMany('secrets').then((answer) => { kept.late = answer; }), 150);
        return { body: (await context.host.items.readMany('secrets')).ok };
      }
      const answers = await Promise.all([
        kept.host.items.readMany('secrets'),
        kept.read('secrets'),
        context.host.items.readMany('secrets'),
        context.host.request.send({ url: 'http://declared.invalid/', auth: { bearer: kept.secret.value } }),
      ]);
      return { body: { answers: answers.map(({ ok, error }) => (ok ? 'ESCAPED' : error.code)), late: kept.late?.ok === true } };
    },
  };
`;

const WHO = `
  export default {
    id: 'who',
    async handler({ query }, { host, accountability }) {
      await new Promise((resolve) => setTimeout(resolve, Number(query.wait)));
      const rows = await host.items.readMany('notes');
      return { body: { admin: accountability?.admin === true, rows: rows.ok ? rows.value.length : rows.error.code } };
    },
  };
`;

describe('sandbox: state left by one caller', () => {
  let installed: WrittenPackages;
  let service: InProcessService;
  before(async () => {
    installed = await writePackages([
      { name: 'service-extension-marking', files: { 'index.js': marking('marking') } },
      { name: 'service-extension-other', files: { 'index.js': marking('other') } },
      {
        name: 'service-extension-keeping',
        manifest: {
          stateful: true,
          settings: { key: { type: 'string', secret: { source: 'inline' } } },
          capabilities: {
            endpoint: { access: 'public' },
            items: { accountability: 'user' },
            request: { origins: ['http://declared.invalid'] },
          },
        },
        files: { 'index.js': KEEPING },
      },
      {
        name: 'service-extension-who',
        manifest: { capabilities: { endpoint: { access: 'public' }, items: { accountability: 'user' } } },
        files: { 'index.js': WHO },
      },
    ]);
    service = await startService({
      env: { EXTENSIONS_PATH: installed.folder, SECRETS_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
    });
    await service.database.query('create table secrets (id serial primary key, text text)');
    await service.database.query('create table notes (id serial primary key, text text)');
    await service.database.query(`insert into notes (text) values ('a'), ('b')`);
    const stored = await service.request('POST', '/extension-settings', {
      token: service.admin.token,
      body: { subject: 'service-extension-keeping', scope: 'global', scope_key: '', key: 'key', value: 'a secret' },
    });
    expect(stored.status).to.equal(200);
  });
  after(async () => {
    await service?.stop();
    await installed.remove();
  });

  it('state of one caller is invisible to the next one, wherever it was left', async () => {
    for (let at = 0; at < 3; at++) expect((await service.request('GET', '/marking')).body).to.deep.equal([]);
  });

  it('state of one extension is invisible to another', async () => {
    await service.request('GET', '/marking');
    expect((await service.request('GET', '/other')).body).to.deep.equal([]);
  });

  it('a stateful extension cannot use the host of a call that is over', async () => {
    const { request, admin } = service;
    expect((await request('GET', '/keeping?keep=1', { token: admin.token })).body).to.equal(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { status, body } = await request('GET', '/keeping');
    expect(status).to.equal(200);
    expect(body.late).to.equal(false);
    expect(body.answers.slice(2)).to.deep.equal(['denied', 'denied']);
    expect(body.answers).not.to.include('ESCAPED');
  });

  it('concurrent calls never see the state of one another', async () => {
    const { request, admin } = service;
    const calls = Array.from({ length: 40 }, (_, at) => {
      const isAdmin = at % 2 === 0;
      const wait = (at * 7) % 30;
      return request('GET', `/who?wait=${wait}`, isAdmin ? { token: admin.token } : {}).then(({ body }) => ({
        isAdmin,
        body,
      }));
    });
    for (const { isAdmin, body } of await Promise.all(calls)) {
      expect(body).to.deep.equal(isAdmin ? { admin: true, rows: 2 } : { admin: false, rows: 'denied' });
    }
  });
});
