import { expect } from 'chai';
import { serverAudits } from 'graphql-http';
import { type InProcessService, startService } from '../support/service.ts';

/**
 * Audits of graphql-http that fail, by their ids: they recommend status 200 for invalid documents where a client accepts
 * `application/json`. The service answers 400 for every media type, as the conventions require.
 */
const OTHERWISE: Readonly<Record<string, string>> = {
  '572B': 'SHOULD use 200 status code on document parsing failure when accepting application/json',
  FDE2: 'SHOULD use 200 status code on document validation failure when accepting application/json',
  '7B9B': 'SHOULD use a status code of 200 on variable coercion failure when accepting application/json',
};

describe('/graphql: the audit suite of GraphQL over HTTP', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService();
    await service.database.query('create table posts (id serial primary key, title text)');
  });
  after(() => service?.stop());

  for (const path of ['/graphql', '/graphql/system']) {
    for (const who of ['the admin', 'a caller without a token']) {
      it(`${path} as ${who} passes all audits but the listed deviations`, async () => {
        const authorization = who === 'the admin' ? { authorization: `Bearer ${service.admin.token}` } : {};
        const audits = serverAudits({
          url: service.url + path,
          fetchFn: (url: string, init: RequestInit = {}) =>
            fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), ...authorization } }),
        });
        expect(audits.filter(({ name }) => name.startsWith('MUST'))).to.have.length.above(10);
        const failed: Record<string, string> = {};
        for (const audit of audits) {
          const result = await audit.fn();
          if (result.status !== 'ok') failed[result.id] = result.name;
        }
        expect(failed).to.deep.equal(OTHERWISE);
      });
    }
  }
});
