import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  listPackageFailures,
} from './confined-packages.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const HOOK = `export default { id: 'notes', filters: {
        async 'notes.items.create'(payload, meta, { host, activation, accountability, reject }) {
          if (payload.text.startsWith('{')) { const { status, code, message } = JSON.parse(payload.text); reject(status, code, message); }
          if (payload.text === 'lines') throw new Error('first\\nsecond\\u001b[31m' + 'x'.repeat(5000));
          if (payload.text === 'same') return undefined;
          if (payload.text === 'throw') throw new Error('a secret of the guest');
          if (payload.text === 'null') return null;
          if (payload.text === 'inside') {
            const made = await host.items.createOne('log', { text: 'inside' });
            return { ...payload, text: JSON.stringify(made.ok) };
          }
          if (payload.text === 'inside, then throw') { await host.items.createOne('log', { text: 'lost' }); throw new Error(); }
          if (payload.text === 'round') { const made = await host.items.createOne('notes', { text: 'round' }); return { text: String(made.ok) }; }
          return { ...payload, text: JSON.stringify({ text: payload.text, meta, activation, admin: accountability?.admin }) };
        },
        'notes.items.delete': () => new Promise(() => {}),
      }, actions: {
        'notes.items.create'(meta, { host }) {
          host.log.info('action called', meta);
          if (meta.payload.text === 'same') throw new Error();
        },
      } };`;

const hook = (events: object, capabilities: object = {}) => ({ type: 'hook', events, capabilities });

describe('confined hooks', () => {
  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  let guest: string;

  before(async function () {
    this.timeout(120_000);
    packages = await createConfinedPackageFolder();
    await packages.put(
      'service-extension-notes',
      hook(
        { filter: ['notes.items.create', 'notes.items.delete'], action: ['notes.items.create'] },
        { log: true, items: { accountability: 'full-access' } },
      ),
      HOOK,
    );
    await packages.put(
      'service-extension-as-user',
      hook({ filter: ['drafts.items.create'] }, { items: { accountability: 'user' } }),
      `export default { id: 'as-user', filters: { async 'drafts.items.create'(payload, meta, { host }) {
        return { text: JSON.stringify(await host.items.readMany('log', {})) };
      } } };`,
    );
    const wrong: Readonly<Record<string, string>> = {
      proto: 'notes.constructor.create',
      gap: 'notes..create',
      login: 'auth.login',
    };
    for (const [name, event] of Object.entries(wrong)) {
      const code = `export default { id: '${name}', filters: { '${event}': (payload) => payload } };`;
      await packages.put(`service-extension-${name}`, hook({ filter: [event] }), code);
    }
    await packages.put(
      'service-extension-other',
      hook({ filter: ['notes.items.update'] }),
      `export default { id: 'other', filters: { 'notes.items.create': () => ({ text: 'never' }) } };`,
    );
    service = await startService({
      env: { EXTENSIONS_PATH: packages.path, EXTENSIONS_SANDBOX_TIMEOUT: '5s', LOG_LEVEL: 'info' },
    });
    for (const collection of ['notes', 'log', 'drafts']) {
      const fields = [{ field: 'text', type: 'text' }];
      await requestAsAdmin(service, 'POST', '/collections', { collection, schema: {}, fields });
    }
    guest = (await createUserWithPermissions(service, [{ collection: 'notes', action: 'create' }])).token;
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const write = (text: string) =>
    service.request('POST', '/items/notes', { token: service.admin.token, body: { text } });
  const texts = async (collection: string) =>
    (await service.database.query<{ text: string }>(`select text from ${collection} order by id`)).map(
      ({ text }) => text,
    );

  it('a filter changes the stored row and sees the event without the caller', async () => {
    const { text } = (await write('a')).body.data;
    const input = JSON.parse(text);
    expect(input).to.deep.include({
      text: 'a',
      activation: { type: 'event-filter', event: 'notes.items.create' },
      admin: true,
    });
    expect(input.meta).to.deep.include({ event: 'notes.items.create', collection: 'notes' });
    expect(input.meta).not.to.have.any.keys('caller', 'accountability', 'database');
  });

  it('a filter without an answer keeps the payload', async () => {
    expect((await write('same')).body.data.text).to.equal('same');
  });

  it('a failing filter rejects the write with a fixed sentence', async () => {
    const before = await texts('notes');
    for (const text of ['throw', 'null']) {
      const { status, body } = await write(text);
      expect(status, text).to.be.within(400, 500);
      expect(JSON.stringify(body)).not.to.include('secret');
    }
    const { body } = await write('throw');
    expect(body.errors[0].extensions.code).to.equal('INTERNAL_SERVER_ERROR');
    expect(await texts('notes')).to.deep.equal(before);
  });

  it('a filter rejects the write with the status, code and message of reject()', async () => {
    const before = await texts('notes');
    const stated = { status: 409, code: 'NOTE_TAKEN', message: 'Another note says\nthat.' };
    const { status, body } = await write(JSON.stringify(stated));
    expect([status, body]).to.deep.equal([
      409,
      { errors: [{ message: 'Another note says that.', extensions: { code: 'NOTE_TAKEN' } }] },
    ]);
    const forbidden = await write(JSON.stringify({ status: 403, code: 'FORBIDDEN', message: 'Not today.' }));
    expect([forbidden.status, forbidden.body.errors[0].message]).to.deep.equal([403, 'Not today.']);
    expect(await texts('notes')).to.deep.equal(before);
  });

  it('reject() with a status outside of 4xx or a code of the service is answered as 500', async () => {
    const wrong = [
      { status: 500, code: 'BROKEN', message: 'x' },
      { status: 399, code: 'FINE', message: 'x' },
      { status: 400.5, code: 'HALF', message: 'x' },
      { status: 400, code: 'not a code', message: 'x' },
      { status: 400, code: 'EMPTY', message: '' },
      { status: 400, code: 'LONG'.repeat(20), message: 'x' },
      { status: 401, code: 'TOKEN_EXPIRED', message: 'x' },
      { status: 401, code: 'INVALID_CREDENTIALS', message: 'x' },
      { status: 403, code: 'INVALID_TOKEN', message: 'x' },
      { status: 404, code: 'FORBIDDEN', message: 'x' },
      { status: 400, code: 'SERVICE_UNAVAILABLE', message: 'x' },
      { code: 'NONE', message: 'x' },
    ];
    for (const one of wrong) {
      const { status, body } = await service.request('POST', '/items/notes', {
        token: guest,
        body: { text: JSON.stringify(one) },
      });
      expect([status, body.errors], JSON.stringify(one)).to.deep.equal([
        500,
        [{ message: 'An unexpected error occurred.', extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
      ]);
    }
    const failures = await listPackageFailures(service, 'service-extension-notes');
    expect(failures.filter(({ code }) => code === 'INVALID_REJECTION')).not.to.be.empty;
    expect(failures.length).to.be.at.most(5);
  });

  it('GET /extensions and the log show what a hook threw and where, the client does not', async () => {
    const client = await service.request('POST', '/items/notes', { token: guest, body: { text: 'throw' } });
    expect(JSON.stringify(client.body)).not.to.include('secret');
    for (let at = 0; at < 30; at++) await write('throw');
    const failures = await listPackageFailures(service, 'service-extension-notes');
    const [latest] = failures;
    const line = HOOK.split('\n').findIndex((text) => text.includes("new Error('a secret")) + 1;
    expect(latest).to.deep.include({
      type: 'hook',
      contribution: 'notes',
      event: 'notes.items.create',
      code: 'GUEST_ERROR',
      message: 'a secret of the guest',
    });
    expect(latest?.at).to.match(new RegExp(`^index\\.js:${line}:\\d+$`));
    expect(latest?.count).to.be.at.least(31);
    const lines = service.log.filter(({ message }) => message === 'a secret of the guest');
    expect(lines.length).to.be.within(1, 12);
    expect(lines[0]).to.deep.include({ extension: 'service-extension-notes', at: latest?.at, code: 'GUEST_ERROR' });
  });

  it('a failure is one log line of bounded length, for any thrown value', async () => {
    await write('lines');
    const [latest] = await listPackageFailures(service, 'service-extension-notes');
    expect(latest?.message)
      .to.match(/^first second \[31mx+…$/)
      .and.have.length(500);
  });

  it('a filter that exceeds its deadline rejects the write', async () => {
    const [{ id }] = await requestAsAdmin(service, 'GET', '/items/notes?limit=1');
    const since = Date.now();
    expect((await service.request('DELETE', `/items/notes/${id}`, { token: service.admin.token })).status).to.equal(
      500,
    );
    expect(Date.now() - since).to.be.below(30_000);
    expect(await requestAsAdmin(service, 'GET', `/items/notes/${id}`)).to.deep.include({ id });
  });

  it('the writes of a filter belong to the transaction of its event', async () => {
    expect((await write('inside')).body.data.text).to.equal('true');
    expect(await texts('log')).to.deep.equal(['inside']);
    expect((await write('inside, then throw')).status).to.equal(500);
    expect(await texts('log')).to.deep.equal(['inside']);
  });

  it('a hook that causes its own event ends at the depth limit', async function () {
    this.timeout(120_000);
    const before = (await texts('notes')).length;
    const since = Date.now();
    await write('round');
    expect(Date.now() - since).to.be.below(40_000);
    expect((await texts('notes')).length - before).to.be.below(10);
  });

  it('a payload above the size limit is rejected', async () => {
    const { status, body } = await write('x'.repeat(1024 * 1024 - 60));
    expect([status, body.errors[0].extensions.code]).to.deep.equal([500, 'INTERNAL_SERVER_ERROR']);
  });

  it('an action runs after the write, and its failure is only logged', async () => {
    await write('b');
    await write('same');
    const deadline = Date.now() + 30_000;
    const seen = (text: string) => service.log.filter(({ msg }) => msg === text);
    while (Date.now() < deadline && (seen('action called').length < 1 || seen('an action failed').length < 1)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(seen('action called')[0]).to.deep.include({ owner: 'service-extension-notes' });
    expect(seen('an action failed')[0]).to.deep.include({ listener: 'service-extension-notes', level: 40 });
  });

  it("a hook calls the host with the permissions of the event's user", async () => {
    const grants = [
      { collection: 'drafts', action: 'create' },
      { collection: 'drafts', action: 'read' },
    ] as const;
    const { token } = await createUserWithPermissions(service, grants);
    const { body } = await service.request('POST', '/items/drafts', { token, body: { text: 'a' } });
    expect(JSON.parse(body.data.text)).to.deep.include({ ok: false });
    const all = await requestAsAdmin(service, 'POST', '/items/drafts', { text: 'a' });
    expect(JSON.parse(all.text)).to.deep.include({ ok: true });
  });

  it('a hook with an unsafe or undeclared event does not load', async () => {
    const rows = await listExtensions(service);
    const codes = ['proto', 'gap', 'login', 'other'].map((name) => rows[`service-extension-${name}`]?.reason?.code);
    expect(codes).to.deep.equal(['EVENT_INVALID', 'EVENT_INVALID', 'EVENT_INVALID', 'IDENTITY_MISMATCH']);
  });
});
