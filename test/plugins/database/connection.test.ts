import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { renderBootFailure } from '../../../scripts/render-boot-failure.ts';
import { databaseServerUrl } from '../../support/database.ts';
import { captureError } from '../../support/test-plugins.ts';
import { startTestKernel } from './test-kernel.ts';

const withUrl = (change: (url: URL) => void): Record<string, string> => {
  const url = new URL(databaseServerUrl());
  change(url);
  return { DB_CONNECTION_STRING: url.href };
};

describe('boot failure of a database that cannot be reached', () => {
  const failing = async (environment: Record<string, string>) => {
    const failed = await captureError<BootFailure>(startTestKernel([], { environment }));
    expect([failed.plugin, failed.phase]).to.deep.equal(['@tenon/database', 'migrate']);
    expect(failed.remedy).to.be.a('string');
    expect(renderBootFailure(failed)).not.to.contain('s3cret');
    return failed;
  };
  const parts = () => {
    const { hostname, port, username } = new URL(databaseServerUrl());
    return {
      DB_CONNECTION_STRING: '',
      DB_HOST: hostname,
      DB_PORT: port || '5432',
      DB_USER: username,
      DB_PASSWORD: 's3cret',
      DB_DATABASE: 'x',
    };
  };

  it('the message names a missing database', async () => {
    const failed = await failing(withUrl((url) => (url.pathname = '/ground_is_not_there')));
    expect(failed.message).to.match(/there is no database .*ground_is_not_there/);
  });

  it('the message names the address of a server that does not answer', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    taken.close();
    await once(taken, 'close');
    const failed = await failing({ ...parts(), DB_HOST: '127.0.0.1', DB_PORT: String(port) });
    expect(failed.message).to.equal(`nothing answers at 127.0.0.1:${port}/x`);
  });

  it('the message names an unknown host', async () => {
    const failed = await failing({ ...parts(), DB_HOST: 'nowhere.invalid' });
    expect(failed.message).to.match(/host of the database nowhere\.invalid:\d+\/x is unknown/);
  });

  it('the message names settings that are missing or malformed', async () => {
    expect((await failing({ ...parts(), DB_DATABASE: '' })).message).to.contain('DB_DATABASE is not');
    expect((await failing({ DB_CONNECTION_STRING: 'tenon:s3cret@there' })).message).to.contain('is not an address');
  });

  it('the message names a schema of DB_SCHEMAS that does not exist', async () => {
    const failed = await failing({ DB_SCHEMAS: 'public,Else"where' });
    expect(failed.message).to.contain('no schema Else"where');
  });

  it('toConnectError has a remedy for a wrong password, a full server and missing privileges', async () => {
    const { toConnectError } = await import('../../../plugins/database/connect-error-remedies.ts');
    const failure = (code: string) => toConnectError(Object.assign(new Error('no'), { code }), 'there:1/x');
    expect(failure('28P01')).to.include({ message: 'the database there:1/x refuses user name or password' });
    for (const code of ['28P01', '28000', '53300', '42501', 'ETIMEDOUT'])
      expect(failure(code).remedy).to.be.a('string');
  });
});
