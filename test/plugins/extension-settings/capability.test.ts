import { expect } from 'chai';
import { type Capability, findJsonSchemaProblems, type GrantHolder } from '#kernel';
import type { ConfinedCodeInvocation } from '../../../plugins/broker/contract.ts';
import { BrokerRefusal, InvocationSecrets, renderAuthorities } from '../../../plugins/broker/library.ts';
import {
  createSettingsCapability,
  type OwnSettings,
  remoteSettingsMethods,
} from '../../../plugins/extension-settings/capability.ts';
import type { SettingsDeclaration } from '../../../plugins/extension-settings/contract.ts';
import { parseSettingsDeclaration } from '../../../plugins/extension-settings/declaration.ts';
import { createSettingsOwnerRegistry } from '../../../plugins/extension-settings/owners.ts';
import { createReadSettingValue } from '../../../plugins/extension-settings/reader.ts';
import { createSettingValueCodec } from '../../../plugins/extension-settings/value-codec.ts';
import { captureError } from '../../support/test-plugins.ts';

const CHAT = 'service-extension-chat';
const { declaration } = parseSettingsDeclaration({
  room: { type: 'string' },
  limit: { type: 'number' },
  token: { type: 'string', secret: {} },
  password: { type: 'string', secret: { source: 'config' } },
  unset: { type: 'string', secret: { source: 'config' } },
  title: { type: 'string', scope: 'collection' },
});

const log = { warn: () => {} } as never;
/** A secret store that only adds `seal:`; test/http/extension-settings.test.ts tests the real one. */
const secrets = {
  available: () => true,
  seal: (_kind: string, text: string) => `seal:${text}`,
  open: (_kind: string, envelope: string) => envelope.slice(5),
  isSealed: (value: unknown) => String(value).startsWith('seal:'),
};

describe('the capability settings', () => {
  let rows: Record<string, string>;
  let isDown: boolean;
  let capability: Capability<SettingsDeclaration, OwnSettings>;
  let invocation: ConfinedCodeInvocation;
  const owners = createSettingsOwnerRegistry(log);
  const bound = (grant = declaration, name = CHAT) => capability.bind(grant, { name } as GrantHolder);
  const get = async (key: string, own = bound()) => remoteSettingsMethods.methods.get?.call(own, invocation, key);
  const revealed = async (key: string) => invocation.secrets.reveal(await get(key));

  beforeEach(() => {
    rows = { room: '"lobby"', limit: '5', token: 'seal:a secret', title: '"x"', undeclared: '"x"' };
    isDown = false;
    owners.load([{ id: '1', name: CHAT, declaration }]);
    invocation = { id: '1', caller: null, signal: new AbortController().signal, secrets: new InvocationSecrets() };
    const read = createReadSettingValue({
      store: {
        async find({ extension, key }) {
          if (isDown) throw new Error('no database');
          return extension === CHAT ? rows[key] : undefined;
        },
      },
      values: createSettingValueCodec(secrets, log),
      variables: { SERVICE_EXT_CHAT_PASSWORD: ' raw ', SERVICE_EXT_CHAT_UNSET: undefined },
    });
    capability = createSettingsCapability(owners, read);
  });

  it('host.settings.get answers values, and secrets as references', async () => {
    expect([await get('room'), await get('limit')]).to.deep.equal(['lobby', 5]);
    for (const key of ['token', 'password']) {
      const reference = (await get(key)) as object;
      expect(reference).to.have.all.keys('kind', 'ref').and.to.deep.include({ kind: 'secret-reference' });
      expect(JSON.stringify(reference)).not.to.match(/secret"?,|raw/);
    }
    expect([await revealed('token'), await revealed('password')]).to.deep.equal(['a secret', ' raw ']);
    expect(await bound().get('token')).to.equal('a secret');
  });

  it('host.settings.get answers null for any other key', async () => {
    for (const key of ['undeclared', 'title', 'unset', 'constructor', '__proto__', '']) {
      expect(await get(key), key).to.equal(null);
    }
    rows = { limit: '"5"', room: 'seal:x', token: '"in the clear"' };
    for (const key of ['limit', 'room', 'token']) expect(await get(key), key).to.equal(null);
    rows = {};
    for (const key of ['limit', 'room', 'token']) expect(await get(key), key).to.equal(null);
  });

  it('host.settings.get answers null if the settings are unavailable', async () => {
    expect(await get('room', bound({}))).to.equal(null);
    expect(await get('room', bound(declaration, 'service-extension-other'))).to.equal(null);
    const own = bound();
    owners.load(['1', '2'].map((id) => ({ id, name: CHAT, declaration })));
    for (const key of ['room', 'token', 'password']) expect(await get(key, own), key).to.equal(null);
  });

  it('host.settings.get rejects values above 64 KiB, but not secrets', async () => {
    rows.room = JSON.stringify('x'.repeat(64 * 1024 - 2));
    expect(await get('room')).to.have.length(64 * 1024 - 2);
    for (const long of ['x'.repeat(64 * 1024 - 1), 'é'.repeat(33_000)]) {
      rows.room = JSON.stringify(long);
      expect(await captureError<BrokerRefusal>(get('room')))
        .to.be.instanceOf(BrokerRefusal)
        .and.to.include({ code: 'invalid_request' });
    }
    rows.token = `seal:${'x'.repeat(100_000)}`;
    expect(await revealed('token')).to.have.length(100_000);
  });

  it('host.settings.get rejects with SERVICE_UNAVAILABLE if the database cannot be reached', async () => {
    isDown = true;
    expect(await captureError(get('room'))).to.include({ message: 'no database' });
    expect(await captureError(get('token'))).to.include({ message: 'no database' });
    expect(await revealed('password')).to.equal(' raw ');
  });

  it('host.settings.get accepts exactly one text', () => {
    const args = remoteSettingsMethods.methods.get?.args as object;
    expect(findJsonSchemaProblems(args, ['room'])).to.deep.equal([]);
    for (const wrong of [[], [5], [null], ['a', 'b'], [{ toString: 'room' }], 'room', { 0: 'room' }]) {
      expect(findJsonSchemaProblems(args, wrong), JSON.stringify(wrong)).not.to.deep.equal([]);
    }
  });

  it('describe() renders the declared keys as sentences', () => {
    const sentences = (grant: SettingsDeclaration) => renderAuthorities(capability.describe(grant));
    const secretly = '(its own secrets; confined code only by reference)';
    expect(sentences({})).to.deep.equal([]);
    expect(sentences(declaration)).to.deep.equal([
      'reads the settings limit, room, title (its own)',
      `reads the settings password, token, unset ${secretly}`,
    ]);
    const { room, token } = declaration as { room: never; token: never };
    expect(sentences({ token })).to.deep.equal([`reads the settings token ${secretly}`]);
    expect(sentences({ room })).to.deep.equal(['reads the settings room (its own)']);
  });

  it('widens() is true for secrets of the configuration, not for more settings of its own', () => {
    const { password, unset, ...own } = declaration as Record<'password' | 'unset', never>;
    expect(capability.widens(undefined, own)).to.equal(false);
    expect(capability.widens({}, own)).to.equal(false);
    expect(capability.widens(undefined, { password })).to.equal(true);
    expect(capability.widens({ ...own, password }, { ...own, password, unset })).to.equal(true);
    expect(capability.widens(declaration, { password })).to.equal(false);
  });
});
