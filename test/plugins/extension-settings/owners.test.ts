import { expect } from 'chai';
import type {
  SettingsDeclaration,
  SettingsOwner,
  SettingsStatus,
} from '../../../plugins/extension-settings/contract.ts';
import { createSettingsOwnerRegistry } from '../../../plugins/extension-settings/owners.ts';
import { toSecretEnvironmentVariableName } from '../../../plugins/extension-settings/settings-owner-names.ts';

const plain: SettingsDeclaration = { room: { type: 'string', scope: 'global', appReadable: false } };
const config = (...keys: string[]): SettingsDeclaration =>
  Object.fromEntries(
    keys.map((key) => [key, { type: 'string', scope: 'global', secret: { source: 'config' }, appReadable: false }]),
  );

let count = 0;
const owner = (name: string, declaration = plain): SettingsOwner => ({ id: `id-${++count}`, name, declaration });

/** Loads these owners of settings: their statuses in the same order, and the log entries. */
function loaded(...all: readonly SettingsOwner[]) {
  const log: object[] = [];
  const owners = createSettingsOwnerRegistry({ warn: (fields: object) => void log.push(fields) } as never);
  const statuses = owners.load(all);
  return { owners, log, statuses: all.map(({ id }) => statuses.get(id) as SettingsStatus) };
}
const code = (status: SettingsStatus | undefined) =>
  status?.status === 'unavailable' ? status.reason.code.replace('SETTINGS_SUBJECT_', '') : status?.status;
const detail = (status: SettingsStatus | undefined) => (status?.status === 'unavailable' ? status.reason.detail : '');
const codesOf = (...all: readonly SettingsOwner[]) => loaded(...all).statuses.map(code);

describe('toSecretEnvironmentVariableName', () => {
  it('a variable consists of scope, name and key', () => {
    expect(toSecretEnvironmentVariableName('service-extension-chat-notify', 'api_token')).to.equal(
      'SERVICE_EXT_CHAT_NOTIFY_API_TOKEN',
    );
    expect(toSecretEnvironmentVariableName('@acme/service-extension-chat-notify', 'api_token')).to.equal(
      'SERVICE_EXT_ACME_CHAT_NOTIFY_API_TOKEN',
    );
    expect(toSecretEnvironmentVariableName('@service/extension-chat', 'a__b_')).to.equal(
      'SERVICE_EXT_SERVICE_CHAT_A_B',
    );
    expect(toSecretEnvironmentVariableName('@a.c~/service-extension-9.~-x-', 'a')).to.equal('SERVICE_EXT_A_C_9_X_A');
    expect(toSecretEnvironmentVariableName('chat', 'a')).to.equal(undefined);
  });
});

describe('owners of settings', () => {
  it('an owner without a canonical name is unavailable', () => {
    for (const name of [
      'service-extension-a',
      'service-extension-9.a~_b-c',
      '@acme/service-extension-chat',
      '@service/extension-chat',
      `service-extension-${'a'.repeat(237)}`,
    ]) {
      expect(codesOf(owner(name)), name).to.deep.equal(['available']);
    }
    for (const name of [
      '',
      'chat',
      'service-extension-',
      'service-extension-Chat',
      'service-extension-_a',
      'service-extension-a b',
      'service-extension-a/b',
      'service-extension-a\n',
      '@/service-extension-a',
      '@Acme/service-extension-a',
      '@acme/extension-a',
      '@acme/chat',
      `service-extension-${'a'.repeat(238)}`,
    ]) {
      expect(codesOf(owner(name)), name).to.deep.equal(['INVALID']);
    }
  });

  it('two owners of one name are unavailable', () => {
    const twins = [
      owner('service-extension-a'),
      owner('service-extension-b'),
      owner('service-extension-a', config('x')),
    ];
    const { statuses, owners, log } = loaded(...twins);
    expect(statuses.map(code)).to.deep.equal(['DUPLICATE', 'available', 'DUPLICATE']);
    expect(detail(statuses[0])).to.contain('service-extension-a');
    expect(owners.findByName('service-extension-a')).to.equal(undefined);
    expect(owners.findByName('service-extension-b')).to.equal(twins[1]);
    expect(log).to.deep.equal([]);
  });

  it('a package without declared settings is not an owner', () => {
    const { owners, statuses } = loaded(owner('service-extension-a'), owner('service-extension-a', {}));
    expect(statuses.map(code)).to.deep.equal(['available', undefined]);
    expect(owners.all()).to.have.length(1);
  });

  it('two packages whose secrets share a variable are unavailable', () => {
    const { statuses, log } = loaded(
      owner('service-extension-chat', config('notify_token')),
      owner('service-extension-chat-notify', config('token', 'other')),
      owner('service-extension-third', config('token')),
      owner('@chat/service-extension-notify', config('token')),
    );
    const collision = 'CONFIG_COLLISION';
    expect(statuses.map(code)).to.deep.equal([collision, collision, 'available', collision]);
    for (const at of [0, 1, 3]) {
      expect(detail(statuses[at])).to.contain('service-extension-chat-notify').and.contain('@chat/');
      expect(detail(statuses[at])).not.to.match(/SERVICE_EXT|third/);
    }
    expect(log).to.have.length(1);
    expect(log[0]).to.deep.include({ variable: 'SERVICE_EXT_CHAT_NOTIFY_TOKEN' });
  });

  it('a package with two secrets in one variable is unavailable', () => {
    const { statuses, log } = loaded(owner('service-extension-a', config('api_key', 'api__key', 'b')));
    expect(code(statuses[0])).to.equal('CONFIG_COLLISION');
    expect(detail(statuses[0])).to.contain('api_key, api__key').and.not.contain('SERVICE_EXT');
    expect(JSON.stringify(log)).to.contain('SERVICE_EXT_A_API_KEY');
  });

  it('equal variable names of other settings are not a collision', () => {
    const inline: SettingsDeclaration = {
      api_key: { type: 'string', scope: 'global', secret: { source: 'inline' }, appReadable: false },
      api__key: { type: 'string', scope: 'global', secret: { source: 'inline' }, appReadable: false },
    };
    expect(codesOf(owner('service-extension-a', inline))).to.deep.equal(['available']);
  });

  it('a package that collides with duplicates is CONFIG_COLLISION, and the duplicates stay DUPLICATE', () => {
    expect(
      codesOf(
        owner('service-extension-chat', config('notify_token')),
        owner('service-extension-chat-notify', config('token')),
        owner('service-extension-chat-notify', config('token')),
      ),
    ).to.deep.equal(['CONFIG_COLLISION', 'DUPLICATE', 'DUPLICATE']);
  });

  it('setOwners replaces all owners', () => {
    const [first, second] = [owner('service-extension-a'), owner('service-extension-a')];
    const { owners } = loaded(first);
    owners.load([second]);
    expect([owners.isAvailable(first.id), owners.isAvailable(second.id)]).to.deep.equal([false, true]);
    owners.load([]);
    expect(owners.findByName('service-extension-a')).to.equal(undefined);
  });

  it('the detail of an unavailable owner has at most 300 characters for any name', () => {
    const long = `@${'a'.repeat(200)}/service-extension`;
    const { statuses } = loaded(
      owner(`line\nbreak\u0000${'x'.repeat(1000)}`),
      owner(`${long}-b`, config('c_d')),
      owner(`${long}-b-c`, config('d')),
    );
    expect(statuses.map(code)).to.deep.equal(['INVALID', 'CONFIG_COLLISION', 'CONFIG_COLLISION']);
    for (const status of statuses) expect(detail(status)).to.match(/^[ -~…]{1,300}$/);
  });
});
