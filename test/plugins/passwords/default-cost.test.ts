import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';

describe('passwords: without settings of the hash', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { HASH_MEMORY_COST: '', HASH_TIME_COST: '', HASH_PARALLELISM: '' } });
  });
  after(() => service?.stop());

  it('the first admin signs in by a hash of 64 MiB, three passes and four lanes', async () => {
    const [row] = await service.database.query<{ password: string }>('select password from platform_users');
    expect(row?.password).to.match(/^\$argon2id\$v=19\$m=65536,p=4,t=3\$|^\$argon2id\$v=19\$m=65536,t=3,p=4\$/);
  });
});
