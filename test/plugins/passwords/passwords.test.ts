import { expect } from 'chai';
import { buildPasswordHashPoolOptions } from '../../../plugins/passwords/hash-pool-options.ts';
import { createPasswordService } from '../../../plugins/passwords/service.ts';
import { openWorkerPool } from '../../support/worker-pool.ts';

describe('passwords', () => {
  const cost = { memory: 1024, time: 2, parallelism: 1 };
  const pool = openWorkerPool(buildPasswordHashPoolOptions(2, cost));
  const passwords = createPasswordService({ pool, processes: 2, cost });
  after(() => pool.stop());

  it('hash() answers an Argon2id hash', async () => {
    const stored = await passwords.hash('correct horse');
    expect(stored).to.match(/^\$argon2id\$v=19\$/);
    expect(await passwords.hash('correct horse')).not.to.equal(stored);
    expect(await passwords.verify(stored, 'correct horse')).to.equal(true);
    expect(await passwords.verify(stored, 'Correct horse')).to.equal(false);
  });

  it('hashBeforeServing() hashes at the same cost, without a worker process', async () => {
    const pool = { run: () => Promise.reject(new Error('the pool has a job')) };
    const stored = await createPasswordService({ pool, processes: 2, cost }).hashBeforeServing('correct horse');
    expect(stored).to.match(/^\$argon2id\$v=19\$m=1024,/);
    expect(await passwords.verify(stored, 'correct horse')).to.equal(true);
  });

  it('verify() answers false for a stored text that is no hash', async () => {
    for (const stored of ['', 'correct horse', '$argon2id$nonsense']) {
      expect(await passwords.verify(stored, 'correct horse')).to.equal(false);
    }
  });

  it('verify() of an unknown user takes as long as any other and answers false', async () => {
    const jobs: object[] = [];
    const pool = {
      async run(job: object) {
        jobs.push(job);
        return { reply: '$argon2id$made' };
      },
    };
    expect(await createPasswordService({ pool, processes: 2, cost }).verify(null, 'correct horse')).to.equal(false);
    expect(jobs).to.deep.equal([{ text: 'correct horse', cost }]);
  });
});
