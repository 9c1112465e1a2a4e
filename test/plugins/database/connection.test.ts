import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { renderBootFailure } from '../../../scripts/boot-failure.ts';
import { serverUrl } from '../../support/database.ts';
import { failureOf } from '../../support/plugin.ts';
import { startGround } from './ground.ts';

const withUrl = (change: (url: URL) => void): Record<string, string> => {
  const url = new URL(serverUrl());
  change(url);
  return { DB_CONNECTION_STRING: url.href };
};

describe('a connection that cannot be made', () => {
  const failing = async (environment: Record<string, string>) => {
    const failed = await failureOf<BootFailure>(startGround([], { environment }));
    expect([failed.plugin, failed.phase]).to.deep.equal(['@tenon/database', 'migrate']);
    expect(failed.remedy).to.be.a('string');
    expect(renderBootFailure(failed)).not.to.contain('s3cret');
    return failed;
  };
  const parts = () => {
    const { hostname, port, username } = new URL(serverUrl());
    return {
      DB_CONNECTION_STRING: '',
      DB_HOST: hostname,
      DB_PORT: port || '5432',
      DB_USER: username,
      DB_PASSWORD: 's3cret',
      DB_DATABASE: 'x',
    };
  };

  it('names a missing database', async () => {
    const failed = await failing(withUrl((url) => (url.pathname = '/ground_is_not_there')));
    expect(failed.message).to.match(/there is no database .*ground_is_not_there/);
  });

  it('names a server that is not there', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    taken.close();
    await once(taken, 'close');
    const failed = await failing({ ...parts(), DB_HOST: '127.0.0.1', DB_PORT: String(port) });
    expect(failed.message).to.equal(`nothing answers at 127.0.0.1:${port}/x`);
  });

  it('names a host that is not known', async () => {
    const failed = await failing({ ...parts(), DB_HOST: 'nowhere.invalid' });
    expect(failed.message).to.match(/host of the database nowhere\.invalid:\d+\/x is unknown/);
  });

  it('names settings that are missing or cannot be read', async () => {
    expect((await failing({ ...parts(), DB_DATABASE: '' })).message).to.contain('DB_DATABASE is not');
    expect((await failing({ DB_CONNECTION_STRING: 'tenon:s3cret@there' })).message).to.contain('is not an address');
  });

  it('names a schema that is not there', async () => {
    const failed = await failing({ DB_SCHEMAS: 'public,Else"where' });
    expect(failed.message).to.contain('no schema Else"where');
  });

  it('is told by codes for a wrong password, a full server and missing rights', async () => {
    const { toConnectError } = await import('../../../plugins/database/connect-failure.ts');
    const told = (code: string) => toConnectError(Object.assign(new Error('no'), { code }), 'there:1/x');
    expect(told('28P01')).to.include({ message: 'the database there:1/x refuses user name or password' });
    for (const code of ['28P01', '28000', '53300', '42501', 'ETIMEDOUT']) expect(told(code).remedy).to.be.a('string');
  });
});
