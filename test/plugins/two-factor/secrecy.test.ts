import { expect } from 'chai';
import type { EventMeta, Host } from '#kernel';
import { items } from '../../../plugins/items/contract.ts';
import type { HttpReply } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { type AuthFixture, startAuthFixture } from '../auth/auth-fixture.ts';
import { createUserSender } from '../users/test-users.ts';
import { codeOf, createTwoFactorUser, forgetUsedSteps, makeEnforcingRole, wrongCodeOf } from './two-factor-users.ts';

/** Every row of every table of a database as text. */
async function textOfDatabase({ service: { database } }: AuthFixture): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const texts = await Promise.all(
    tables.map(({ name }) => database.query<{ row: string }>(`select row_to_json(t)::text as row from ${name} t`)),
  );
  return texts.flatMap((rows) => rows.map(({ row }) => row)).join('\n');
}

describe('secrets and codes of second factors', function () {
  this.timeout(60_000);
  let ground: AuthFixture;
  const seen: unknown[] = [];
  before(async () => {
    ground = await startAuthFixture({ env: { LOG_LEVEL: 'trace' } });
    ground.events.onFilter('auth.login', (payload, meta: EventMeta) => void seen.push({ payload, ...meta }));
    ground.events.onAction('auth.login', (meta) => void seen.push(meta));
  });
  after(() => ground?.stop());

  it('are in no log line, no row of any table, no event and no error', async () => {
    const { service } = ground;
    const admin = createUserSender(service, service.admin.token);
    const person = await createTwoFactorUser(service, await makeEnforcingRole(service));
    const { password } = person;
    const failures: HttpReply[] = [];
    const codes: string[] = [];
    const use = (code: string): string => {
      codes.push(code);
      return code;
    };

    const { secret, otpauth_url } = (await person.send('POST', '/users/me/tfa/generate', { password })).body.data;
    failures.push(await person.send('POST', '/users/me/tfa/enable', { secret, otp: use(wrongCodeOf(secret)) }));
    failures.push(
      await person.send('POST', '/users/me/tfa/enable', { secret: `${secret}A`, otp: use(codeOf(secret)) }),
    );
    expect((await person.send('POST', '/users/me/tfa/enable', { secret, otp: codeOf(secret) })).status).to.equal(204);
    failures.push(await person.send('POST', '/users/me/tfa/enable', { secret, otp: codeOf(secret) }));
    await forgetUsedSteps(service.database);
    const list = { password, otp: use(codeOf(secret)) };
    const { recovery_codes } = (await person.send('POST', '/users/me/tfa/recovery-codes', list)).body.data;
    failures.push(
      await person.login({ otp: codeOf(secret, -4) }),
      await person.login({ otp: 'aaaaa-bbbbb-ccccc-ddddd' }),
    );
    expect((await person.login({ otp: use(codeOf(secret, 1)) })).status).to.equal(200);
    expect((await person.login({ otp: recovery_codes[0] })).status).to.equal(200);
    failures.push(await person.login({ otp: recovery_codes[0] }));
    failures.push(await person.send('POST', '/users/me/tfa/disable', { otp: use(wrongCodeOf(secret)) }));
    // A change of the row writes a revision with all its values.
    await admin('PATCH', `/users/${person.id}`, { title: 'changed while the second factor is on' });
    failures.push(await admin('PATCH', `/users/${person.id}`, { tfa_secret: secret }));
    const during = await textOfDatabase(ground);
    expect((await person.send('POST', '/users/me/tfa/disable', { otp: recovery_codes[1] })).status).to.equal(204);

    await until(() => seen.length >= 6);
    const errors = JSON.stringify(failures.map(({ body }) => body));
    expect(failures.map(({ status }) => status).every((status) => status >= 400)).to.equal(true);
    const places = {
      log: JSON.stringify(service.log),
      'rows while it is on': during,
      'rows afterwards': await textOfDatabase(ground),
      events: JSON.stringify(seen),
      errors,
    };
    expect(places.log).to.contain('/users/me/tfa/enable');
    expect(places['rows while it is on']).to.contain('changed while the second factor is on');
    for (const [place, text] of Object.entries(places)) {
      for (const hidden of [secret, otpauth_url, ...recovery_codes])
        expect(text.includes(hidden), `${place} has ${hidden}`).to.equal(false);
      for (const hidden of recovery_codes as string[])
        expect(text.includes(hidden.replaceAll('-', '')), `${place} has ${hidden}`).to.equal(false);
    }
    // Six digits may stand in a timestamp by chance, and do not between quotes.
    for (const code of codes)
      for (const [place, text] of Object.entries(places))
        expect(text.includes(`"${code}"`), `${place} has ${code}`).to.equal(false);
  });

  it('are masked for every reader, and are written by no caller', async () => {
    const { service } = ground;
    const admin = createUserSender(service, service.admin.token);
    const query = '{ users(filter: { tfa_secret: { _nnull: true } }) { tfa_secret } }';
    const person = await createTwoFactorUser(service, await makeEnforcingRole(service));
    const { secret } = (await person.send('POST', '/users/me/tfa/generate', { password: person.password })).body.data;
    await person.send('POST', '/users/me/tfa/enable', { secret, otp: codeOf(secret) });
    const byGraphql = await admin('POST', '/graphql/system', { query });
    expect(byGraphql.body.data.users).to.deep.equal([{ tfa_secret: '**********' }]);
    const own = await person.send('GET', '/users/me?fields=tfa_secret');
    expect(own.body.data).to.deep.equal({ tfa_secret: '**********' });
    const updates: Promise<unknown>[] = [];
    const unload = await ground.load({
      name: 'writer-of-users',
      manifest: { uses: { items: '^1.0.0' }, capabilities: { system: { reasons: ['it tries'] } } },
      // biome-ignore lint/suspicious/noExplicitAny: the host has what the manifest declares
      register(host: Host<any>) {
        const used = host.use({ items });
        for (const value of [null, 'x']) {
          const change = used.items.updateOne(host.asSystem('it tries'), 'platform_users', person.id, {
            tfa_secret: value,
          });
          updates.push(captureError(change).then(({ code }) => code));
        }
      },
    });
    expect(await Promise.all(updates)).to.deep.equal(['INVALID_PAYLOAD', 'INVALID_PAYLOAD']);
    await unload();
    for (const name of ['platform_second_factors', 'platform_recovery_codes', 'platform_second_factor_keys'])
      for (const path of [`/items/${name}`, `/collections/${name}`, `/${name.slice('platform_'.length)}`])
        expect((await admin('GET', path)).status, path).to.be.oneOf([403, 404]);
  });
});
